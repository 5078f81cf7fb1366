import { setTimeout as pause } from 'node:timers/promises';
import { NotReadable, RequestError } from '../../domain/engine/requestError.ts';
import type { Recorded } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import { isUnusable } from '../../store/tampered.ts';
import type { Tools } from './define.ts';
import { followUpKey } from './followUps.ts';
import type { Handle } from './handle.ts';
import { parkReaction } from './parkedReactions.ts';
import { type ReactionTable, requestFor } from './reactions.ts';
import type { Request } from './requests.ts';

type Needs = {
  readonly table: ReactionTable;
  readonly tools: Tools;
  readonly handle: Handle;
  /** Waits until the read models hold everything up to the position. */
  readonly reached: (position: number) => Promise<void>;
  /** Aborts when the process stops. */
  readonly stop: AbortSignal;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

const tries = 6;
const askAgainMs = 100;

/** Tools whose read models show at least everything up to the position. `state` needs no wait: it reads the log. */
const toolsSince = (position: number, { tools, reached }: Pick<Needs, 'tools' | 'reached'>): Tools => {
  const waiting =
    <Arguments extends readonly unknown[], Result>(tool: (...args: Arguments) => Promise<Result>) =>
    async (...args: Arguments): Promise<Result> => {
      await reached(position);
      return tool(...args);
    };
  const { find, query, findWithin, count } = tools;
  return {
    ...tools,
    find: waiting(find),
    query: waiting(query),
    findWithin: waiting(findWithin),
    count: waiting(count),
  };
};

/**
 * Carries out the reactions to an event. Each of their commands has an idempotency key of its own, so a repeated run
 * changes nothing.
 */
export const reactionRuns = ({ table, tools, handle, reached, stop, log }: Needs) => {
  const running = new Map<string, Promise<number>>();

  /** Carries out all commands of the reactions, in order. Returns the highest position that they reached. */
  const parts = async (event: Recorded): Promise<number> => {
    const idempotency = { key: followUpKey(event.stream, event.revision), request: '' };
    let highest = 0;
    for (const { next } of table.following(event.stream, `${event.source}:${event.topic}`)) {
      // The table gives each function only events of its own topic.
      const follows = await next(event as Recorded<never>, toolsSince(event.position, { tools, reached }));
      for (const { command, id, input } of follows) {
        // A stopped process leaves the rest to the next start, or to the process that leads next.
        stop.throwIfAborted();
        const { position } = await handle(command, { ...requestFor(event), id, input, idempotency });
        highest = Math.max(highest, position);
      }
    }
    return highest;
  };

  /** Parks the reactions to an event, with the reason. Returns the position of the parking event. */
  const park = async (
    { id, stream, revision }: Pick<StoredEvent, 'id' | 'stream' | 'revision'>,
    request: Omit<Request, 'id' | 'input'>,
    error: unknown,
  ): Promise<number> => {
    const reason = error instanceof Error ? error.message : String(error);
    try {
      return (await handle(parkReaction, { ...request, id, input: { stream, revision, reason } })).position;
    } catch (failure) {
      if (!isUnusable(failure)) throw failure;
      // The stream for parked reactions of this event is unusable too. Other events must not wait for it.
      log('A reaction that failed cannot be parked', { event: id, stream, revision, error: failure });
      return 0;
    }
  };

  /** Repeats the work while the read models are not available. That is no failure of the work. */
  const whenReadable = async <T>(
    work: () => Promise<T>,
    signal: AbortSignal,
    about: Record<string, unknown>,
  ): Promise<T> => {
    for (let waits = false; ; waits = true) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof NotReadable)) throw error;
        if (!waits) log('A reaction waits for the read models', { ...about, error });
        await pause(askAgainMs, undefined, { signal });
      }
    }
  };

  /** Tries until the reactions are done. Parks them after a permanent failure. */
  const retryUntilDone = async (event: Recorded): Promise<number> => {
    for (let tried = 1; ; tried++) {
      try {
        return await whenReadable(() => parts(event), stop, { event: event.id, stream: event.stream });
      } catch (error) {
        if (stop.aborted) throw error;
        log('A reaction failed', { event: event.id, stream: event.stream, tried, error });
        const hopeless = isUnusable(error) || (error instanceof RequestError && error.code !== 'unavailable');
        if (hopeless || tried === tries) return park(event, requestFor(event), error);
        await pause(50 * 2 ** tried, undefined, { signal: stop });
      }
    }
  };

  return {
    parts,
    park,
    onceReadable: whenReadable,
    /** Runs the reactions to an event. The request that caused the event and the log reader share one run. */
    react: (event: Recorded): Promise<number> => {
      const under = running.get(event.id);
      if (under) return under;
      const run = retryUntilDone(event).finally(() => running.delete(event.id));
      running.set(event.id, run);
      return run;
    },
    /** Resolves when all present runs have ended, successfully or not. */
    ended: async (): Promise<void> => {
      await Promise.allSettled(running.values());
    },
  };
};

export type ReactionRuns = ReturnType<typeof reactionRuns>;
