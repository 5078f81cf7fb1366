import { randomUUID } from 'node:crypto';
import { encode } from '../src/store/event.ts';
import type { EventStore, NewEvent } from '../src/store/port.ts';
import { hexId, mappings } from './kinds.ts';

/** One event that begins a stream. */
export type Append = { readonly stream: string; readonly event: NewEvent };

const about = {
  $correlationId: hexId(1),
  $causationId: hexId(1),
  at: '2026-01-01T00:00:00.000Z',
  actor: { id: hexId(0), username: 'bench', provenance: 'local' },
  operation: 'bench',
  requestId: hexId(1),
  schemaVersion: 1,
};

/** So many appends as the service makes them for new group mappings. */
export const appendsOf = (count: number): Append[] =>
  Array.from({ length: count }, (_, n) => {
    const stream = `groupMapping-${mappings.id(n)}`;
    const { hash: _hash, ...event } = encode(
      { stream, revision: 0, id: randomUUID(), source: '@platform/group-mappings' },
      mappings.created(n),
      about,
      '',
    );
    return { stream, event };
  });

/** Stores all, so many at the same time, each waiting for its own to be durable. */
export const appendAll = async (store: EventStore, appends: readonly Append[], inFlight: number): Promise<void> => {
  let next = 0;
  const one = async (): Promise<void> => {
    for (let at = next++; at < appends.length; at = next++)
      await store.append(appends[at]!.stream, -1, [appends[at]!.event]);
  };
  await Promise.all(Array.from({ length: inFlight }, one));
};
