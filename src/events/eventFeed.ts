import { supervise } from '../concurrency/supervise.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import type { Projections } from '../projections/engine/run.ts';
import { type EventNotice, splitStream, noticeOf as toldOf } from '../store/event.ts';
import type { EventStore, StoredEvent } from '../store/port.ts';

type Needs = {
  readonly store: Pick<EventStore, 'follow'>;
  readonly run: Pick<Projections, 'reached'>;
  /** Position in the log after which events are told. */
  readonly after: number;
  /** Categories of the streams whose events are told; may grow until the start. */
  readonly categories: ReadonlySet<string>;
  /** Told some events as soon as the log has them, from whatever node; must not throw. */
  readonly onStored: (events: readonly EventNotice[]) => void;
  /** Told every event once this node's read models show what it changed; must not throw. */
  readonly onShown: (event: EventNotice) => void;
  /** Told every event of the log, once, whatever it is; must not throw. */
  readonly onAny: (event: StoredEvent) => void;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

const pauseMs = 200;

/**
 * Tells a node of every event of some categories, in order and once, whoever projects; also of those that cannot be
 * read.
 */
export const eventFeed = ({ store, run, after, categories, onStored, onShown, onAny, log }: Needs) => {
  const stop = new AbortController();
  let told = after;
  let done = Promise.resolve();

  const tell = async (goesOn: () => void): Promise<void> => {
    for await (const { events, position } of store.follow(told, undefined, stop.signal)) {
      const concerning = events
        .filter(({ stream, type }) => categories.has(splitStream(stream).category) && type.startsWith('@platform/'))
        .map(toldOf);
      const last = concerning.at(-1);
      if (last) {
        onStored(concerning);
        await run.reached(last.position);
        concerning.forEach(onShown);
      }
      told = position;
      goesOn();
      events.forEach(onAny);
    }
  };

  return {
    /** Begins to follow the log. */
    start: (): void => {
      done = supervise(tell, {
        signal: stop.signal,
        pauseMs,
        onFailure: (error, isNew) => {
          if (isNew && !(error instanceof RequestError))
            log('Telling of events stopped; it will go on', { told, error });
        },
      });
    },
    /** After the projections have stopped. */
    stop: (): Promise<void> => {
      stop.abort();
      return done;
    },
  };
};
