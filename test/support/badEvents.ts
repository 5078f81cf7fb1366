import { randomUUID } from 'node:crypto';
import type { EventStore, NewEvent } from '../../src/store/port.ts';

const sound = JSON.stringify({
  $correlationId: 'r',
  $causationId: 'r',
  at: '2026-01-01T00:00:00.000Z',
  actor: { id: 'x', username: 'x', provenance: 'x' },
  operation: 'test',
  requestId: 'r',
  schemaVersion: 1,
  hash: 'x',
});

/** What can be wrong with an event that says what something is: data, metadata. */
export const faults: Readonly<Record<string, readonly [data: string, metadata: string]>> = {
  null: ['null', sound],
  'no JSON': ['{"name": ', sound],
  'nothing at all': ['', ''],
  'base64 of bytes': [JSON.stringify(Buffer.from([0, 255, 254]).toString('base64')), sound],
  'a number': ['5', sound],
  'a list': ['[[]]', sound],
  'numbers in the place of texts': [
    '{"name":5,"description":7,"gbac":{"read":[],"write":[]},"componentType":1,"componentName":2}',
    sound,
  ],
  'numbers in the place of lists': [
    '{"name":"odd","description":"","gbac":{"read":5,"write":{}},"componentType":null,"componentName":null}',
    sound,
  ],
  'parts that are missing': [JSON.stringify({ $payload: { sha256: 'ab'.repeat(32), parts: 2 } }), sound],
  'a reference to nothing': ['{"$payload":{"sha256":"', sound],
  'metadata null': ['{"name":"other"}', 'null'],
  'metadata that is no JSON': ['{"name":"other"}', 'x'],
  'metadata as that of a stranger, but broken': ['{"name":"other"}', '{"$foreign":{"created":"'],
};

/** An event of the platform with this fault. */
export const badEvent = (type: string, [data, metadata] = faults['null']!): NewEvent => ({
  id: randomUUID(),
  type,
  data,
  metadata,
});

/** Stores events at the end of a stream, as no service would. */
export const spoil = async (store: EventStore, stream: string, ...events: NewEvent[]): Promise<void> => {
  let last = -1;
  for await (const some of store.read(stream)) last = some.at(-1)!.revision;
  await store.append(stream, last, events);
};
