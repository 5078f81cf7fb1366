import { randomUUID } from 'node:crypto';
import { encode } from '../src/store/event.ts';
import type { NewEvent } from '../src/store/port.ts';
import { hexId, mappings } from './kinds.ts';

/** One event that begins a stream. */
export type Append = { readonly stream: string; readonly event: NewEvent };

const about = { $correlationId: hexId(1), $causationId: hexId(1), at: '2026-01-01T00:00:00.000Z', actor: { id: hexId(0), username: 'bench', provenance: 'local' }, operation: 'bench', requestId: hexId(1), schemaVersion: 1 };

/** So many appends as the service makes them for new group mappings. */
export const appendsOf = (count: number): Append[] => Array.from({ length: count }, (_, n) => {
  const stream = `groupMapping-${mappings.id(n)}`;
  const { hash: _hash, ...event } = encode(stream, 0, randomUUID(), '@platform/group-mappings', mappings.created(n), about, '');
  return { stream, event };
});
