import type { Log } from '@automation-platform/concurrency';
import { LRUCache } from 'lru-cache';
import { RequestError } from '../domain/engine/requestError.ts';
import { type EventStore, TamperedStream } from './port.ts';

/** The error for a resource whose stream another program has tampered with. Another try does not help. */
export class Tampered extends RequestError {
  constructor(reason: string, cause?: unknown) {
    super(
      'unavailable',
      `${reason}: somebody else changed it in the event log, and what is left of it is not used. GET /health/status names it`,
      { cause },
    );
  }
}

/**
 * True if an error says that a stream cannot be used: an event cannot be read, or another program has tampered with the
 * stream. Another try does not help.
 */
export const isUnusable = (error: unknown): error is RequestError =>
  error instanceof Tampered || (error instanceof RequestError && error.code === 'internal');

/** How many streams are kept in memory. A stream that is dropped is noticed again when it is read. */
const mostRemembered = 1000;

/** Keeps the tampered streams that this node has noticed, each with the reason. */
export const tamperedStreams = (log: Log) => {
  const reasons = new LRUCache<string, string>({ max: mostRemembered });
  return {
    has: (stream: string): boolean => reasons.has(stream),
    reasonOf: (stream: string): string | undefined => reasons.get(stream),
    note: (stream: string, reason: string): void => {
      if (!reasons.has(stream)) {
        log('Somebody else has touched a stream of the platform; what is left of it is not used', { stream, reason });
      }
      reasons.set(stream, reason);
    },
    /** Notes that the stream was read from its beginning to its end, so nothing is missing. */
    whole: (stream: string): void => {
      if (!reasons.delete(stream)) return;
      log('A stream of the platform that somebody else had touched is whole again', { stream });
    },
    reasons: (): ReadonlyMap<string, string> => new Map(reasons.entries()),
  };
};

export type TamperedStreams = ReturnType<typeof tamperedStreams>;

/** Wraps a store. Tampered streams are refused with `unavailable`, and each one that a reader meets is noted. */
export const noticingTampered = <S extends EventStore>(store: S, tampered: TamperedStreams): S => {
  const refused = (error: unknown): unknown => {
    if (!(error instanceof TamperedStream)) return error;
    tampered.note(error.stream, error.message);
    return new Tampered(error.message, error);
  };
  return {
    ...store,
    append: async (...args) => {
      try {
        return await store.append(...args);
      } catch (error) {
        throw refused(error);
      }
    },
    read: async function* (stream, from = 0) {
      let exists = false;
      try {
        for await (const events of store.read(stream, from)) {
          const [first] = events;
          if (!exists && first && first.revision !== from) {
            throw new TamperedStream(stream, `goes on at revision ${first.revision}, where ${from} was to come`);
          }
          exists ||= first !== undefined;
          yield events;
        }
      } catch (error) {
        throw refused(error);
      }
      const reason = from === 0 ? tampered.reasonOf(stream) : undefined;
      if (reason === undefined) return;
      // A tampered stream may have no events left. Then an empty result does not show that it is whole.
      if (!exists) throw new Tampered(reason);
      tampered.whole(stream);
    },
  };
};
