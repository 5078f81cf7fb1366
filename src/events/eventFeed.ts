import type { Log } from '../concurrency/log.ts';
import { supervise } from '../concurrency/supervise.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import type { Projections } from '../projections/engine/run.ts';
import { type EventNotice, noticeOf, splitStream } from '../store/event.ts';
import type { EventStore, StoredEvent } from '../store/port.ts';

type Needs = {
  readonly store: EventStore;
  readonly run: Pick<Projections, 'reached'>;
  /** The position in the log after which events are passed on. */
  readonly after: number;
  /** Categories of the streams whose events are passed on. The set may grow until the start. */
  readonly categories: Pick<ReadonlySet<string>, 'has'>;
  /** Called with events of the categories as soon as the log has them, from every node. Must not throw. */
  readonly onStored: (events: readonly EventNotice[]) => void;
  /** Called with each event of the categories once this node's read models show its change. Must not throw. */
  readonly onShown: (event: EventNotice) => void;
  /** Called once with each event of the log. Must not throw. */
  readonly onAny: (event: StoredEvent) => void;
  readonly log: Log;
};

const pauseMs = 200;

/**
 * Passes each event of some categories on to a node, in order and once, whichever process projects. Events that cannot
 * be read are passed on too.
 */
export const eventFeed = ({ store, run, after, categories, onStored, onShown, onAny, log }: Needs) => {
  const stop = new AbortController();
  let told = after;
  let done = Promise.resolve();

  const tell = async (goesOn: () => void): Promise<void> => {
    for await (const { events, position } of store.follow(told, undefined, stop.signal)) {
      const concerning = events
        .filter(({ stream, type }) => categories.has(splitStream(stream).category) && type.startsWith('@platform/'))
        .map(noticeOf);
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
    /** Starts to follow the log. */
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
    /** Call after the projections have stopped. */
    stop: (): Promise<void> => {
      stop.abort();
      return done;
    },
  };
};
