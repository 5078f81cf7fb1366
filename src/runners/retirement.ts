import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type GuardedClock, type Leadership, type Log, leaderWork } from '@automation-platform/concurrency';
import type { Tools } from '../commands/engine/define.ts';
import type { Handle } from '../commands/engine/handle.ts';
import { retireEnded } from '../commands/engine/retirement.ts';
import { platform } from '../domain/engine/core.ts';
import { retirement as aggregate } from '../domain/engine/retirement.ts';
import type { Projection } from '../projections/engine/define.ts';
import type { ReadStore } from '../projections/engine/port.ts';
import { endedBefore } from '../projections/engine/retiring.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'state'>;
  readonly model: Pick<ReadStore, 'list'>;
  /** The kinds of documents that are retired. */
  readonly kinds: readonly Projection[];
  /** Only the leader retires. */
  readonly leadership: Leadership;
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Position of the newest event in the log. */
  readonly head: () => Promise<number>;
  /** Resolves once the read models show everything that this node has acknowledged, and the given position. */
  readonly caughtUp: (position?: number) => Promise<void> | undefined;
  /** After how many days what has ended is retired; 0: never. */
  readonly days: number;
  readonly clock: Pick<GuardedClock, 'time' | 'believed'>;
  readonly lookEveryMs?: number;
  /** How many documents one event retires at most, unless more have ended in the same millisecond. */
  readonly atOnce?: number;
  readonly log: Log;
};

const dayMs = 86_400_000;
/** How often the leader looks for what is to be retired. */
export const lookForRetiredEveryMs = 3_600_000;

/** The times before which to retire, one after the other: each retires `atOnce` of these, the last one all. */
const cutsOf = (ends: readonly number[], limit: number, atOnce: number): readonly number[] => {
  const sorted = Float64Array.from(ends).sort();
  const cuts: number[] = [];
  for (let at = atOnce; at < sorted.length; at += atOnce) {
    const cut = sorted[at] ?? limit;
    if (cut > (cuts.at(-1) ?? 0)) cuts.push(cut);
  }
  return [...cuts, limit];
};

/**
 * Retires what has ended long ago, once a day, while this process leads. Nothing is stored as long as nothing has. Much
 * is retired by several events, so that none of them holds up requests for long.
 */
export const retirement = (needs: Needs) => {
  const { handle, tools, model, kinds, leadership, ready, head, caughtUp, days, clock, log } = needs;
  const { lookEveryMs = lookForRetiredEveryMs, atOnce = 1000 } = needs;

  const retireKind = async (kind: Projection, term: AbortSignal): Promise<void> => {
    const { area, category } = kind.of;
    const now = clock.time();
    if (now === undefined) return;
    const limit = now - days * dayMs;
    const { before: last } = await tools.state(aggregate, category);
    if (last !== undefined && limit - Date.parse(last) < dayMs) return;
    // The leader before may have retired some just now. If they went while this lists, the list would pass over some.
    await caughtUp(await head());
    const ends: number[] = [];
    for await (const page of endedBefore(model, kind, limit)) ends.push(...page.map(({ at }) => at));
    if (ends.length === 0) return;
    for (const cut of cutsOf(ends, limit, atOnce)) {
      if (term.aborted) return;
      const began = performance.now();
      const input = { before: new Date(cut).toISOString(), source: `@platform/${area}` };
      const about = { actor: platform, operation: retireEnded.name, requestId: randomUUID() };
      await handle(retireEnded, { ...about, id: category, input });
      await caughtUp();
      // Requests have their share of the time.
      await pause((performance.now() - began) / 8, undefined, { signal: term }).catch(() => undefined);
    }
  };

  const retireAll = async (term: AbortSignal): Promise<void> => {
    for (const kind of kinds) await retireKind(kind, term);
  };

  const work = async (term: AbortSignal, goesOn: () => void): Promise<void> => {
    while (!term.aborted) {
      await clock.believed(term);
      await retireAll(term);
      goesOn();
      await pause(lookEveryMs, undefined, { signal: term, ref: false });
    }
  };

  const { start, stop } = leaderWork({
    leadership,
    ready,
    work,
    pauseMs: 1000,
    longestPauseMs: 60_000,
    onFailure: (error, isNew) => {
      if (isNew) log('What has ended could not be retired; it is tried again', { error });
    },
  });

  return {
    start: (): void => {
      if (days > 0) start();
    },
    stop,
  };
};
