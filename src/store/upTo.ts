import type { EventStore, StoredEvent } from './port.ts';

/** The events of a stream up to a position. */
export async function* streamUpTo(
  log: EventStore,
  stream: string,
  until: number,
  from = 0,
): AsyncGenerator<readonly StoredEvent[]> {
  for await (const events of log.read(stream, from)) {
    const before = events.filter(({ position }) => position <= until);
    if (before.length > 0) yield before;
    if (before.length < events.length) return;
  }
}

/** The log, whose streams end at a position. */
export const upTo = <S extends EventStore>(log: S, position: number): S => ({
  ...log,
  read: (stream, from) => streamUpTo(log, stream, position, from),
});
