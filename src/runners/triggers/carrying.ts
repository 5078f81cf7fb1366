import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../concurrency/log.ts';
import { persistently, unlessUnusable } from '../../store/reading/persistently.ts';
import type { Definition } from './definitions.ts';
import type { Decide, Firing, Refusal, Started, Verdict } from './firing.ts';
import type { RateLimit } from './rate.ts';
import type { Refusals } from './refusals.ts';

/** A firing. `verdict`: what was decided when its event was read; undefined: it is decided when it is its turn. */
export type Carried = Firing & { verdict?: Promise<Verdict> | undefined };

export type CarryingNeeds<R extends Carried> = {
  readonly decide: Decide;
  readonly start: (firing: Firing, verdict: Extract<Verdict, { readonly kind: 'starts' }>) => Promise<Started>;
  /** Why the trigger starts nothing any more of what it waited for then; undefined: it does. */
  readonly endedSince: (definition: Definition) => Promise<Refusal | undefined>;
  /** Whether the job of a firing was started before. */
  readonly hasJob: (firing: Firing) => Promise<boolean>;
  /** Whether an earlier reader has settled the firing without a job. */
  readonly settledBefore: (firing: Firing) => boolean;
  readonly park: (firing: Firing, error: unknown, tries: number) => Promise<void>;
  /** Whether the log cannot be reached, or takes nothing. That is the fault of no trigger. */
  readonly away: () => boolean;
  readonly rate: RateLimit;
  readonly refused: Refusals;
  /** Whether the trigger has left the common reader. */
  readonly behind: () => boolean;
  /** Makes the trigger leave it. */
  readonly leave: () => void;
  readonly settle: (run: R) => void;
  /** Aborts when this reader of the log ends. */
  readonly signal: AbortSignal;
  readonly log: Log;
};

const longestNapMs = 1000;

/** Carries out the runs of one trigger: each until it is settled. */
export const carrying = <R extends Carried>(trigger: string, needs: CarryingNeeds<R>) => {
  const {
    decide,
    start,
    endedSince,
    hasJob,
    settledBefore,
    park,
    away,
    rate,
    refused,
    behind,
    leave,
    settle,
    signal,
    log,
  } = needs;
  let wake = (): void => undefined;

  const refuse = async (run: R, refusal: Refusal): Promise<void> => {
    if (await hasJob(run)) return settle(run);
    const { stored } = await refused.add(refusal, { event: run.event.id });
    stored.then(
      () => settle(run),
      () => undefined,
    );
  };

  /** Waits until the rate allows a start. Returns why nothing starts any more, if that comes to be meanwhile. */
  const turn = async ({ definition }: R): Promise<Refusal | undefined> => {
    for (;;) {
      const over = behind() && (await endedSince(definition));
      if (over) return over;
      const ms = rate.wait();
      if (ms <= 0) return undefined;
      leave();
      const woken = new AbortController();
      wake = () => woken.abort();
      await pause(Math.min(ms, longestNapMs), undefined, { signal: AbortSignal.any([signal, woken.signal]) }).catch(
        () => undefined,
      );
      signal.throwIfAborted();
    }
  };

  const attempt = async (run: R): Promise<void> => {
    if (settledBefore(run)) return settle(run);
    const { verdict: early } = run;
    run.verdict = undefined;
    const verdict = await (early ?? decide(run));
    signal.throwIfAborted();
    if (verdict.kind === 'unseen') return settle(run);
    if (verdict.kind === 'refused') return refuse(run, verdict.refusal);
    const over = await turn(run);
    if (over) return refuse(run, over);
    const started = await start(run, verdict);
    if ('refusal' in started) return refuse(run, started.refusal);
    if (started.isNew) rate.count();
    settle(run);
  };

  /** Tries until the run is settled. Parks it after a permanent failure. */
  const carryOut = (run: R): Promise<void> => {
    const about = { trigger, event: run.event.id, position: run.event.position };
    return persistently({
      work: () => attempt(run),
      giveUp: (error, tried) => parkAndSettle(run, error, tried),
      waits: (error) => log('A run of a trigger waits', { ...about, error }),
      failed: (error, tried) => {
        log('A run of a trigger failed', { ...about, tried, error });
        leave();
      },
      away,
      signal,
    });
  };

  const parkAndSettle = async (run: R, error: unknown, tried: number): Promise<void> => {
    const about = { trigger, event: run.event.id, position: run.event.position };
    const unusable = (failure: unknown): void => log('A stream of a run cannot be used', { ...about, error: failure });
    if (!(await unlessUnusable(hasJob(run), unusable))) await unlessUnusable(park(run, error, tried), unusable);
    settle(run);
  };

  return {
    /** Resolves once the run is settled, or waits to be refused. Rejects when the reader ends. */
    carryOut,
    /** Call when the trigger has changed: it may have been disabled. */
    wake: (): void => wake(),
  };
};
