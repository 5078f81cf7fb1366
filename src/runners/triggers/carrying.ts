import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '@automation-platform/concurrency';
import type { Outcome, Pace, Taking } from '../../store/reading/partition.ts';
import { unlessUnusable } from '../../store/reading/persistently.ts';
import type { Definition } from './definitions.ts';
import type { Decide, Firing, Refusal, Started, Verdict } from './firing.ts';
import type { RateLimit } from './rate.ts';
import type { Refusals } from './refusals.ts';

/** A firing. `verdict`: the decision that was made when its event was read; undefined: it is made when it is its turn. */
export type Carried = Firing & { verdict?: Promise<Verdict> | undefined };

export type CarryingNeeds = {
  readonly decide: Decide;
  readonly start: (firing: Firing, verdict: Extract<Verdict, { readonly kind: 'starts' }>) => Promise<Started>;
  /** Why the trigger starts nothing any more of what it waited for then; undefined: it does. */
  readonly endedSince: (definition: Definition) => Promise<Refusal | undefined>;
  /** True if the job of a firing was started before. */
  readonly hasJob: (firing: Firing) => Promise<boolean>;
  readonly park: (firing: Firing, error: unknown, tries: number) => Promise<void>;
  readonly log: Log;
};

type Needs = CarryingNeeds & {
  /** True if an earlier reader has settled the firing without a job. */
  readonly settledBefore: (firing: Firing) => boolean;
  readonly rateOf: (trigger: string) => RateLimit;
  readonly refused: Refusals;
  /** Aborts when this reading of the log ends. */
  readonly signal: AbortSignal;
};

const longestNapMs = 1000;

const aboutOf = ({ event, definition }: Firing) => ({
  trigger: definition.id,
  event: event.id,
  position: event.position,
});

/** Carries out the runs of triggers: those of each trigger one after the other. */
export const carrying = (needs: Needs): Required<Taking<Carried>> & { readonly wake: (trigger: string) => void } => {
  const { decide, start, endedSince, hasJob, settledBefore, park, rateOf, refused, signal, log } = needs;
  /** How to end the naps of triggers that wait for their rate. */
  const naps = new Map<string, () => void>();

  const nap = async (trigger: string, ms: number): Promise<void> => {
    const woken = new AbortController();
    naps.set(trigger, () => woken.abort());
    const either = AbortSignal.any([signal, woken.signal]);
    await pause(Math.min(ms, longestNapMs), undefined, { signal: either }).catch(() => undefined);
    naps.delete(trigger);
    signal.throwIfAborted();
  };

  const refuse = async (run: Carried, refusal: Refusal): Promise<Outcome> =>
    (await hasJob(run)) ? undefined : refused.add(run.definition.id, refusal, { event: run.event.id });

  /** Waits until the rate allows a start. Returns why nothing starts any more, if that comes to be meanwhile. */
  const waitForRate = async ({ definition }: Carried, { isBehind, leave }: Pace): Promise<Refusal | undefined> => {
    for (;;) {
      const over = isBehind() && (await endedSince(definition));
      if (over) return over;
      const ms = rateOf(definition.id).wait();
      if (ms <= 0) return undefined;
      leave();
      await nap(definition.id, ms);
    }
  };

  return {
    take: async (run, pace) => {
      if (settledBefore(run)) return undefined;
      const { verdict: early } = run;
      run.verdict = undefined;
      const verdict = await (early ?? decide(run));
      signal.throwIfAborted();
      if (verdict.kind === 'unseen') return undefined;
      if (verdict.kind === 'refused') return refuse(run, verdict.refusal);
      const over = await waitForRate(run, pace);
      if (over) return refuse(run, over);
      const started = await start(run, verdict);
      if ('refusal' in started) return refuse(run, started.refusal);
      if (started.isNew) rateOf(run.definition.id).count();
      return undefined;
    },
    retry: {
      park: async (run, error, attempts) => {
        const unusable = (failure: unknown): void =>
          log('A stream of a run cannot be used', { ...aboutOf(run), error: failure });
        if (!(await unlessUnusable(hasJob(run), unusable))) await unlessUnusable(park(run, error, attempts), unusable);
      },
      onWait: (run, error) => log('A run of a trigger waits', { ...aboutOf(run), error }),
      onFailure: (run, error, attempts) =>
        log('A run of a trigger failed', { ...aboutOf(run), tried: attempts, error }),
    },
    /** To be called when the trigger has changed: it may have been disabled. */
    wake: (trigger) => naps.get(trigger)?.(),
  };
};
