import type { Tools } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import type { TriggerRuns } from '../../commands/operations-manager/triggerRuns.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { Refusal, Started } from '../triggers/firing.ts';
import { outcomes } from '../triggers/outcomes.ts';
import { readOf } from '../triggers/read.ts';

export type StartingNeeds = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly run: TriggerRuns['run'];
  /** Notes that a trigger has started a job. */
  readonly ran: (trigger: string, job: string, at: string) => void;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<{ readonly actor: Actor } | undefined>;
  /** Called with what became of each run: `job`, `parked`, or the reason why there is none. */
  readonly outcome: (outcome: string) => void;
};

type Fired = { readonly instant: number; readonly job: string };

const operation = 'runScheduleTrigger';

const firedIn = (event: StoredEvent): Recorded<Fired> => {
  const read = readOf(event);
  if (read instanceof Error) throw read;
  return read as Recorded<Fired>; // only events of this type come here
};

const noSuchTrigger = { reason: 'gone', message: 'No such trigger' } as const;

/** The outcomes of instants that have fired: each function stores one of the outcomes. */
export const starting = (needs: StartingNeeds, signal: AbortSignal) => {
  const { handle, tools, run, ran, viewerOf, outcome } = needs;
  const { refuse, park } = outcomes({ handle, operation, outcome });

  const actorOf = async (account: unknown): Promise<Actor | undefined> =>
    typeof account === 'string' ? (await viewerOf(account))?.actor : undefined;

  /** The refusal, unless there is a job: another leader may have started it before the trigger changed. */
  const refusedUnlessStarted = async ({ data, metadata }: Recorded<Fired>, refusal: Refusal): Promise<Started> =>
    job.exists(await tools.state(job, data.job)) ? { job: data.job, at: metadata.at, isNew: false } : { refusal };

  /** Starts the job of an instant, by what the trigger and its automation say now. */
  const start = async (event: StoredEvent): Promise<Started> => {
    const fired = firedIn(event);
    const { id, stream, data, metadata } = fired;
    const { id: triggerId } = splitStream(stream);
    const { exists, content } = await tools.state(trigger, triggerId);
    if (!exists || content?.type !== 'schedule') return refusedUnlessStarted(fired, noSuchTrigger);
    const target = await tools.state(automation, content.actionId);
    const signature = await tools.signature(trigger, triggerId);
    const runOutcome = await run({
      trigger: { id: triggerId, content },
      automation: { id: content.actionId, content: target.content },
      actor: () => actorOf(signature?.lastUpdatedBy),
      given: { formData: null },
      instant: data.instant,
      depth: 0,
      jobId: data.job,
      about: { operation, requestId: id, correlation: metadata.$correlationId, causation: id },
      signal,
    });
    if ('refused' in runOutcome) {
      const { reason, message } = runOutcome.refused;
      return refusedUnlessStarted(fired, { reason, message });
    }
    if (runOutcome.job.changed) {
      outcome('job');
      ran(triggerId, data.job, runOutcome.at);
    }
    return { job: data.job, at: runOutcome.at, isNew: runOutcome.job.changed };
  };

  return {
    start,
    instantOf: (event: StoredEvent): number => firedIn(event).data.instant,
    refuse,
    park: (event: StoredEvent, error: unknown, attempts: number): Promise<void> =>
      park(event, { trigger: splitStream(event.stream).id, error, attempts }),
  };
};

export type Starting = ReturnType<typeof starting>;
