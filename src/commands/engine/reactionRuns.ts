import { type Log, places } from '@automation-platform/concurrency';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Recorded } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import { persistently, unlessUnusable } from '../../store/reading/persistently.ts';
import type { Pauses } from '../../store/reading/reader.ts';
import type { Tools } from './define.ts';
import { followUpKey } from './followUps.ts';
import type { Handle } from './handle.ts';
import { parkReaction } from './parkedReactions.ts';
import { type ReactionTable, type Row, requestFor } from './reactions.ts';
import type { Request } from './requests.ts';

type Needs = {
  readonly table: ReactionTable;
  readonly tools: Tools;
  readonly handle: Handle;
  /** Waits until the read models hold everything up to the position. */
  readonly whenProjected: (position: number) => Promise<void>;
  /** True while the log cannot be reached, or takes nothing. */
  readonly away: () => boolean;
  readonly pauses?: Pauses | undefined;
  /** Aborts when the process stops. */
  readonly stop: AbortSignal;
  readonly log: Log;
};

/** How many commands in the background are carried out at once. Events that are stored after theirs are shown after them. */
const mostInBackground = 2;

/** Tools whose read models show at least everything up to the position. `state` needs no wait: it reads the log. */
const toolsSince = (position: number, { tools, whenProjected }: Pick<Needs, 'tools' | 'whenProjected'>): Tools => {
  const waiting =
    <Arguments extends readonly unknown[], Result>(tool: (...args: Arguments) => Promise<Result>) =>
    async (...args: Arguments): Promise<Result> => {
      await whenProjected(position);
      return tool(...args);
    };
  const { all, find, idsNamed, query, findWithin, count } = tools;
  return {
    ...tools,
    all: waiting(all),
    find: waiting(find),
    query: waiting(query),
    findWithin: waiting(findWithin),
    idsNamed: waiting(idsNamed),
    count: waiting(count),
  };
};

/**
 * Gives the idempotency key of each next command that follows from an event, by the stream that the command changes. The
 * commands are the same ones in the same order in each run, so each has the same key again.
 */
const keysOf = ({ stream, revision }: Recorded) => {
  const before = new Map<string, number>();
  return (changed: string): string => {
    const times = before.get(changed) ?? 0;
    before.set(changed, times + 1);
    return followUpKey(stream, revision, times);
  };
};

/**
 * Carries out the reactions to an event. Each of their commands has an idempotency key of its own, so a repeated run
 * changes nothing.
 */
export const reactionRuns = ({ table, tools, handle, whenProjected, away, pauses, stop, log }: Needs) => {
  const running = new Map<string, Promise<number>>();
  const place = places(() => mostInBackground);

  /** Work in the background does not run ahead of the read models: requests would wait for these. */
  const inBackground = <T>(position: number, work: () => Promise<T>): Promise<T> =>
    place(async () => {
      await whenProjected(position);
      return work();
    });

  /** Carries out all commands of these reactions, in order. Returns the highest position that they reached. */
  const parts = async (event: Recorded, reactions: readonly Row[] = table.following(event)): Promise<number> => {
    const keyFor = keysOf(event);
    let highest = 0;
    for (const { next, background } of reactions) {
      // The table gives each function only events of its own topic.
      const follows = await next(
        event as Recorded<never>,
        toolsSince(event.position, { tools, whenProjected: whenProjected }),
      );
      for (const { command, id, input, about } of follows) {
        // A stopped process leaves the rest to the next start, or to the process that leads next.
        stop.throwIfAborted();
        const idempotency = { key: keyFor(`${command.aggregate.category}-${id}`), request: '' };
        const carryOut = () => handle(command, { ...requestFor(event), ...about, id, input, idempotency, background });
        const { position } = await (background ? inBackground(event.position, carryOut) : carryOut());
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
    const parked = await unlessUnusable(
      handle(parkReaction, { ...request, id, input: { stream, revision, reason } }),
      // The stream for parked reactions of this event is unusable too. Other events must not wait for it.
      (failure) => log('A reaction that failed cannot be parked', { event: id, stream, revision, error: failure }),
    );
    return parked?.position ?? 0;
  };

  /** Tries until these reactions are done. Parks the event after a permanent failure. */
  const retryUntilDone = (event: Recorded, reactions: readonly Row[]): Promise<number> => {
    const about = { event: event.id, stream: event.stream };
    return persistently({
      work: () => parts(event, reactions),
      giveUp: (error) => park(event, requestFor(event), error),
      waits: (error) => log('A reaction waits for the read models', { ...about, error }),
      failed: (error, attempts) => log('A reaction failed', { ...about, tried: attempts, error }),
      away,
      isHopeless: (error) => error instanceof RequestError && error.code !== 'unavailable',
      pauseMs: pauses?.tryMs,
      signal: stop,
    });
  };

  /** Runs the work unless a run of this key is under way, which is then the run for both. */
  const shared = (key: string, work: () => Promise<number>): Promise<number> => {
    const under = running.get(key);
    if (under) return under;
    const run = work().finally(() => running.delete(key));
    running.set(key, run);
    return run;
  };

  // A request that caused an event and the reader of the log share one run.
  const react = (event: Recorded): Promise<number> =>
    shared(event.id, () => retryUntilDone(event, table.following(event)));

  return {
    parts,
    park,
    /** Runs all reactions to an event. */
    react,
    /**
     * Runs the reactions to an event but for those in the background, which need not be there. The reader of the log
     * carries out all of them later, and finds these done.
     */
    reactAtOnce: (event: Recorded): Promise<number> => {
      const all = table.following(event);
      const atOnce = all.filter(({ background }) => !background);
      if (atOnce.length === all.length) return react(event);
      return shared(`${event.id} at once`, () => retryUntilDone(event, atOnce));
    },
    /** Resolves when all present runs have ended, successfully or not. */
    ended: async (): Promise<void> => {
      await Promise.allSettled(running.values());
    },
  };
};

export type ReactionRuns = ReturnType<typeof reactionRuns>;
