import { splitStream } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { streamUpTo } from '../../store/upTo.ts';
import type { Unit } from './units.ts';

/** Some events. `whole` is true if the events of their streams are complete after them. */
type Part = { readonly events: readonly StoredEvent[]; readonly whole: boolean };

/** All events up to a position. An event of a file is not checked: one that is damaged must not hide the others. */
async function* logUpTo(log: EventStore, until: number): AsyncGenerator<readonly StoredEvent[]> {
  for await (const { events, position } of log.readAll(0, log.readCategory ? [''] : undefined)) {
    yield position <= until ? events : events.filter((event) => event.position <= until);
    if (position >= until) return;
  }
}

/** Splits the events before those of the last stream, which may go on. */
async function* byStream(source: AsyncIterable<readonly StoredEvent[]>): AsyncGenerator<Part> {
  for await (const events of source) {
    const last = events.at(-1)?.stream;
    const goesOn = events.findIndex(({ stream }) => stream === last);
    if (goesOn > 0) yield { events: events.slice(0, goesOn), whole: true };
    yield { events: events.slice(Math.max(0, goesOn)), whole: false };
  }
}

/** The events of a unit up to a position, so that each stream's events are in order. */
export async function* eventsOf(log: EventStore, unit: Unit, until: number): AsyncGenerator<Part> {
  if (unit === 'log') {
    for await (const events of logUpTo(log, until)) yield { events, whole: false };
  } else if ('stream' in unit) {
    for await (const events of streamUpTo(log, unit.stream, until)) yield { events, whole: false };
  } else if (log.readCategory) {
    yield* byStream(log.readCategory(unit.category, until));
  } else {
    for await (const events of logUpTo(log, until)) {
      const own = events.filter(({ stream }) => splitStream(stream).category === unit.category);
      yield { events: own, whole: false };
    }
  }
}
