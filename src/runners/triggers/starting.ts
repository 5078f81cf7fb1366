import { mayRead } from '../../commands/engine/access.ts';
import type { Tools } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import type { Request } from '../../commands/engine/requests.ts';
import type { Streams } from '../../commands/engine/streams.ts';
import { depthOf, firingEvent, givenBy, jobIdOf, tooDeep } from '../../commands/operations-manager/firing.ts';
import type { TriggerRuns } from '../../commands/operations-manager/triggerRuns.ts';
import { type Actor, fold } from '../../domain/engine/core.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import { type TriggerState, trigger } from '../../domain/operations-manager/triggers.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { Definition } from './definitions.ts';
import type { Firing, Refusal, Started, Verdict } from './firing.ts';
import { inventoriesNamedIn } from './namedInventories.ts';
import { outcomes } from './outcomes.ts';

type Viewing<Viewer> = {
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<Viewer | undefined>;
  readonly sees: (viewer: Viewer, event: StoredEvent) => Promise<boolean>;
};

type DecideNeeds<Viewer> = Viewing<Viewer> & {
  readonly state: Tools['state'];
  /** Resolves once the read models show the position, and all that this node has acknowledged. */
  readonly whenProjected: (position: number) => Promise<void>;
};

/**
 * Decides about a firing by what the trigger's account may do now. An event that the account may not see does not match:
 * so neither a job nor a refusal tells of it.
 */
const decider =
  <Viewer extends { readonly actor: Actor }>({ viewerOf, sees, state, whenProjected }: DecideNeeds<Viewer>) =>
  async ({ event, read, definition: { content, account } }: Firing): Promise<Verdict> => {
    const refused = (reason: 'rights' | 'loop', message: string): Verdict => ({
      kind: 'refused',
      refusal: { reason, message },
    });
    await whenProjected(event.position);
    const viewer = account === null ? undefined : await viewerOf(account);
    if (!viewer) return refused('rights', 'The account of the trigger is deleted or inactive');
    if (!(await sees(viewer, event))) return { kind: 'unseen' };
    const { gbac } = (await state(automation, content.actionId)).content;
    if (!mayRead(viewer.actor, gbac)) return refused('rights', 'The account may not read the automation');
    if (read instanceof Error) throw read;
    const depth = await depthOf(read, state);
    const deep = tooDeep(depth);
    if (deep !== undefined) return refused('loop', deep);
    return { kind: 'starts', actor: viewer.actor, depth };
  };

export type StartingNeeds<Viewer> = Omit<DecideNeeds<Viewer>, 'state'> & {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly events: Streams['events'];
  readonly run: TriggerRuns['run'];
  /** Notes that a trigger has started a job. */
  readonly ran: (trigger: string, job: string, at: string) => void;
  /** True if a payload fits a filter. */
  readonly fits: (schema: object | boolean, payload: unknown) => boolean;
  /** Called with what became of each run: `job`, `parked`, or the reason why there is none. */
  readonly outcome?: (outcome: string) => void;
};

type Starts = Extract<Verdict, { readonly kind: 'starts' }>;

const operation = 'runEventTrigger';

const endedBy = ({ exists, content }: TriggerState): Refusal | undefined => {
  if (!exists) return { reason: 'gone', message: 'No such trigger' };
  return content?.enabled ? undefined : { reason: 'disabled', message: 'The trigger is disabled' };
};

/** The consequences of an event, on behalf of an account. */
const aboutOf = ({ event, read }: Pick<Firing, 'event' | 'read'>): Omit<Request, 'id' | 'input' | 'actor'> => {
  const metadata = read instanceof Error ? undefined : read.metadata;
  return {
    operation,
    requestId: metadata?.requestId ?? event.id,
    correlation: metadata?.$correlationId ?? event.id,
    causation: event.id,
  };
};

/** The outcomes of firings: each function stores one of the outcomes, or tells what is now. */
export const starting = <Viewer extends { readonly actor: Actor }>(needs: StartingNeeds<Viewer>, stop: AbortSignal) => {
  const { handle, tools, run } = needs;
  const outcome = needs.outcome ?? (() => undefined);
  const { refuse, park } = outcomes({ handle, operation, outcome });

  const fits = ({ content: { schema } }: Definition, payload: unknown): boolean =>
    schema === null || needs.fits(schema, payload);

  const hasJob = async ({ event, definition: { id } }: Firing): Promise<boolean> =>
    job.exists(await tools.state(job, jobIdOf(id, event.id)));

  const start = async (firing: Firing, { depth }: Starts): Promise<Started> => {
    const { event, read, definition, automation } = firing;
    const { id, content, account } = definition;
    if (read instanceof Error) throw read;
    if (!automation) return { refusal: { reason: 'gone', message: 'The trigger had no automation' } };
    const jobId = jobIdOf(id, event.id);
    const outcome = await run({
      trigger: { id, content },
      automation: { id: content.actionId, content: automation },
      actor: async () => (account === null ? undefined : (await needs.viewerOf(account))?.actor),
      given: { payload: givenBy(read) },
      event: firingEvent(read),
      inventories: await inventoriesNamedIn(event.stream, tools),
      depth: depth + 1,
      jobId,
      about: aboutOf(firing),
      signal: stop,
    });
    if ('refused' in outcome) return { refusal: { reason: outcome.refused.reason, message: outcome.refused.message } };
    return { job: jobId, at: outcome.at, isNew: outcome.job.changed };
  };

  /** Starts a job, and tells what became of it. */
  const startAndTell = async (firing: Firing, verdict: Starts): Promise<Started> => {
    const started = await start(firing, verdict);
    if (!('refusal' in started) && started.isNew) {
      outcome('job');
      needs.ran(firing.definition.id, started.job, started.at);
    }
    return started;
  };

  /** Why the trigger starts nothing any more, as it is now. */
  const ended = async (id: string): Promise<Refusal | undefined> => endedBy(await tools.state(trigger, id));

  /** Why it starts nothing any more, or has started nothing for some time since then: that has ended what waited. */
  const endedSince = async ({ id, revision, content }: Definition): Promise<Refusal | undefined> => {
    let state: TriggerState = { exists: true, content };
    for (const { topic, data } of await needs.events(`${trigger.category}-${id}`, revision + 1, Infinity)) {
      state = fold(trigger, [{ topic, data }], state);
      const over = endedBy(state);
      if (over) return over;
    }
    return undefined;
  };

  return {
    decide: decider({ ...needs, state: tools.state }),
    start: startAndTell,
    ended,
    endedSince,
    hasJob,
    refuse,
    park: (firing: Firing, error: unknown, attempts: number): Promise<void> =>
      park(firing.event, { trigger: firing.definition.id, error, attempts }, aboutOf(firing)),
    fits,
  };
};

export type Starting = ReturnType<typeof starting>;
