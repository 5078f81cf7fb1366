import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../../domain/engine/refusal.ts';
import { splitStream, type Told, told as toldOf } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import type { Projections } from './run.ts';

type Needs = {
  readonly store: Pick<EventStore, 'follow'>;
  readonly run: Pick<Projections, 'reached'>;
  /** Position in the log after which events are told. */
  readonly after: number;
  /** Categories of the streams whose events are told. */
  readonly categories: ReadonlySet<string>;
  /** Told some events as soon as the log has them, from whatever node; must not throw. */
  readonly onStored: (events: readonly Told[]) => void;
  /** Told every event once this node's read models show what it changed; must not throw. */
  readonly onEvent: (event: Told) => void;
  /** Told every event of the log, once, whatever it is; must not throw. */
  readonly onAny: (event: StoredEvent) => void;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/**
 * Tells a node of every event of some categories, in order and once, whoever projects; also of those that cannot be
 * read.
 */
export const tellEvents = ({ store, run, after, categories, onStored, onEvent, onAny, log }: Needs) => {
  const stop = new AbortController();
  let told = after;

  const tell = async (): Promise<void> => {
    for await (const { events, position } of store.follow(told, undefined, stop.signal)) {
      const concerning = events
        .filter(({ stream, type }) => categories.has(splitStream(stream).category) && type.startsWith('@platform/'))
        .map(toldOf);
      if (concerning.length > 0) {
        onStored(concerning);
        await run.reached(concerning.at(-1)!.position);
        concerning.forEach(onEvent);
      }
      told = position;
      events.forEach(onAny);
    }
  };

  const done = (async () => {
    while (!stop.signal.aborted) {
      try {
        await tell();
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!(error instanceof Refusal)) log('Telling of events stopped; it will go on', { told, error });
        await pause(200, undefined, { signal: stop.signal }).catch(() => undefined);
      }
    }
  })();

  return {
    /** Up to where events have been told. */
    told: (): number => told,
    /** After the projections have stopped. */
    stop: (): Promise<void> => {
      stop.abort();
      return done;
    },
  };
};
