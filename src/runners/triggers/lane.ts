import { setTimeout as pause } from 'node:timers/promises';
import { NotReadable, RequestError } from '../../domain/engine/requestError.ts';
import { BadEvent } from '../../store/event.ts';
import { isUnusable } from '../../store/tampered.ts';
import type { Backlog } from './backlog.ts';
import type { Decide, Firing, Refusal, Started, Verdict } from './firing.ts';
import type { RateLimit } from './rate.ts';
import { type Refused, refusals } from './refusals.ts';
import type { Hold, ReadersWindow } from './window.ts';

/** A firing on its way. `before`: the position just before its event. */
type Run = Firing & {
  readonly before: number;
  readonly since: number;
  readonly hold?: Hold | undefined;
  /** What was decided when the event was read; undefined: it is decided when it is the run's turn. */
  verdict?: Promise<Verdict> | undefined;
};

export type LaneNeeds = {
  readonly decide: Decide;
  readonly start: (firing: Firing, verdict: Extract<Verdict, { readonly kind: 'starts' }>) => Promise<Started>;
  /** Why the trigger starts nothing any more, as it is now; undefined: it does. */
  readonly ended: (trigger: string) => Promise<Refusal | undefined>;
  /** Whether the job of a firing was started before. */
  readonly hasJob: (firing: Firing) => Promise<boolean>;
  /** Whether an earlier reader has settled the firing without a job. */
  readonly settledBefore: (firing: Firing) => boolean;
  readonly refuse: (trigger: string, refused: Refused) => Promise<void>;
  readonly park: (firing: Firing, error: unknown, tries: number) => Promise<void>;
  /** Keeps the trigger's own cursor; undefined removes it. Resolves when that is durable. */
  readonly keep: (trigger: string, position: number | undefined) => Promise<void>;
  readonly backlog: (trigger: string, from: number) => Backlog;
  /** Whether the log cannot be reached, or takes nothing. That is the fault of no trigger. */
  readonly away: () => boolean;
  readonly window: ReadersWindow;
  /** Aborts when this reader of the log ends. */
  readonly signal: AbortSignal;
  /** Called once with an error after which the reader must begin anew. */
  readonly failed: (error: unknown) => void;
  readonly now: () => number;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

const tries = 6;
const waitMs = 100;
/** A run that is not settled after so many milliseconds makes its trigger leave the common reader. */
const lateMs = 3000;
const mostWaiting = 100;
const longestNapMs = 1000;

/**
 * The runs of one trigger, in the order of their events, one after the other.
 *
 * A trigger that must wait (because of its rate, or a start that fails or takes long) falls behind: it gets a cursor of
 * its own. Once the cursor is stored, the common reader no longer waits for it. When the trigger has settled all that
 * it was given, it reads on by itself from where the common reader gave it no more. It gives the cursor up when it has
 * come to where the common reader is.
 */
export const lane = (trigger: string, rate: RateLimit, needs: LaneNeeds, cursor?: number) => {
  const { window, signal, now } = needs;
  /** The runs that are not settled. */
  const open = new Set<Run>();
  /** Those of them that have not begun. */
  const queue: Run[] = [];
  let backlog = cursor === undefined ? undefined : needs.backlog(trigger, cursor);
  let kept = cursor;
  let keeping = Promise.resolve();
  let working: Promise<void> | undefined;
  let wake = (): void => undefined;
  const refused = refusals({ store: (gathered) => needs.refuse(trigger, gathered), signal });

  const first = (): Run | undefined => open.values().next().value;

  /** All events up to here are settled for this trigger; undefined while the common reader speaks for it. */
  const place = (): number | undefined => backlog && (first()?.before ?? backlog.position());

  const settle = (run: Run): void => {
    open.delete(run);
    run.hold?.release();
  };

  /** Stores the cursor as it is when it is this call's turn. Then the common reader need not wait for the runs. */
  const keep = (): Promise<void> => {
    keeping = keeping.then(async () => {
      const wanted = place();
      if (wanted === kept) return;
      const covered = wanted === undefined ? [] : [...open];
      await needs.keep(trigger, wanted);
      kept = wanted;
      for (const { hold } of covered) hold?.release();
    });
    const mine = keeping;
    keeping = mine.catch(() => undefined);
    return mine;
  };

  /** Leaves the common reader. A cursor that cannot be stored now is stored later; until then the reader waits. */
  const leave = (): void => {
    if (backlog) return;
    backlog = needs.backlog(trigger, window.position());
    keep().catch((error: unknown) => needs.failed(error));
    begin();
  };

  const refuse = async (run: Run, refusal: Refusal): Promise<void> => {
    if (await needs.hasJob(run)) return settle(run);
    const { stored } = await refused.add(refusal, run.event.id);
    stored.then(
      () => settle(run),
      () => undefined,
    );
  };

  /** Waits until the rate allows a start. Returns why nothing starts any more, if that comes to be meanwhile. */
  const turn = async (): Promise<Refusal | undefined> => {
    for (;;) {
      const ended = backlog && (await needs.ended(trigger));
      if (ended) return ended;
      const ms = rate.wait();
      if (ms <= 0) return undefined;
      leave();
      const woken = new AbortController();
      wake = () => woken.abort();
      // The clock may be set meanwhile.
      const nap = Math.min(ms, longestNapMs);
      await pause(nap, undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(() => undefined);
      signal.throwIfAborted();
    }
  };

  const attempt = async (run: Run): Promise<void> => {
    if (needs.settledBefore(run)) return settle(run);
    const { verdict: early } = run;
    run.verdict = undefined;
    const verdict = await (early ?? needs.decide(run));
    signal.throwIfAborted();
    if (verdict.kind === 'unseen') return settle(run);
    if (verdict.kind === 'refused') return refuse(run, verdict.refusal);
    const ended = await turn();
    if (ended) return refuse(run, ended);
    const started = await needs.start(run, verdict);
    if ('refusal' in started) return refuse(run, started.refusal);
    if (started.isNew) rate.count();
    settle(run);
  };

  /** Whether the error is no fault of the run: the same will do later. */
  const mustWait = (error: unknown): boolean =>
    error instanceof NotReadable ||
    (error instanceof RequestError && (error.code === 'limited' || (error.code === 'unavailable' && needs.away())));

  /** Tries until the run is settled. Parks it after a permanent failure. */
  const carryOut = async (run: Run): Promise<void> => {
    const about = { trigger, event: run.event.id, position: run.event.position };
    for (let [tried, waits] = [1, false]; ; ) {
      try {
        return await attempt(run);
      } catch (error) {
        signal.throwIfAborted();
        if (mustWait(error)) {
          if (!waits) needs.log('A run of a trigger waits', { ...about, error });
          waits = true;
          await pause(waitMs, undefined, { signal });
          continue;
        }
        needs.log('A run of a trigger failed', { ...about, tried, error });
        leave();
        if (tried === tries || error instanceof BadEvent || isUnusable(error)) return parkAndSettle(run, error, tried);
        await pause(50 * 2 ** tried, undefined, { signal });
        tried++;
      }
    }
  };

  const parkAndSettle = async (run: Run, error: unknown, tried: number): Promise<void> => {
    if (!(await needs.hasJob(run))) await needs.park(run, error, tried);
    settle(run);
  };

  /** Reads on. Returns false once there is nothing more to do: the common reader speaks for this trigger again. */
  const readOn = async (own: Backlog): Promise<boolean> => {
    await own.read(mostWaiting, (firing, before) => {
      const run = { ...firing, before, since: now() };
      open.add(run);
      queue.push(run);
    });
    if (queue.length > 0) return true;
    // The cursor must not go while refusals wait.
    if (open.size > 0) await refused.stored();
    else if (own.position() >= window.position()) {
      backlog = undefined;
      return false;
    }
    return true;
  };

  const work = async (): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      const run = queue.shift();
      if (run) await carryOut(run);
      else if (!backlog) return;
      else if (!(await readOn(backlog))) {
        await keep();
        return;
      }
    }
  };

  /** Works until there is nothing to do. */
  const begin = (): void => {
    working ??= work()
      .catch((error: unknown) => {
        if (!signal.aborted) needs.failed(error);
      })
      .finally(() => {
        working = undefined;
        if (!signal.aborted && (queue.length > 0 || backlog)) begin();
      });
  };

  if (backlog) begin();

  return {
    behind: (): boolean => backlog !== undefined,
    waiting: (): number => open.size,
    /** Whether nothing would be lost with this lane. */
    idle: (): boolean => open.size === 0 && !backlog && kept === undefined && !working && rate.idle(),
    place,
    /** Takes a firing from the common reader. */
    take: (firing: Firing, before: number, hold: Hold, verdict: Promise<Verdict>): void => {
      const run: Run = { ...firing, before, since: now(), hold, verdict };
      open.add(run);
      queue.push(run);
      begin();
    },
    /** Call when the trigger has changed: it may have been disabled. */
    changed: (): void => wake(),
    /** Call once a second. Falls behind if a run takes long; stores the cursor. */
    tick: async (): Promise<void> => {
      if (!backlog && now() - (first()?.since ?? Infinity) > lateMs) leave();
      if (place() !== kept) await keep();
    },
    ended: async (): Promise<void> => {
      await working;
      await keeping;
    },
  };
};

export type Lane = ReturnType<typeof lane>;
