import type { Static } from 'typebox';
import { namesOf } from '../authorization/groups.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type Event, type Gbac } from '../engine/core.ts';
import { refuseUnknownGroups } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import type { JobStart, JobStatus, jobError } from './jobSchemas.ts';

export type Variables = Readonly<Record<string, unknown>>;
export type JobError = Static<typeof jobError>;

export type JobStarted = {
  readonly name: string;
  readonly description: string;
  readonly type: string;
  readonly variables: Variables;
  /** What a worker runs. */
  readonly component: { readonly type: string | null; readonly name: string };
  /** Ids of what it comes from. */
  readonly automation: string | null;
  readonly trigger: string | null;
  readonly execution: string | null;
  /** Names of the groups that may see it; none: whoever may see its automation. */
  readonly groups: readonly string[];
  /** Ids of the accounts that watch it from the start; what they do later is in their own streams (watchings.ts). */
  readonly watchers: readonly string[];
};

export type JobEvent =
  | Event<'jobStarted', JobStarted>
  | Event<'jobPaused', Record<string, never>>
  | Event<'jobResumed', Record<string, never>>
  /** With the variables that it ended with, as far as they were not there before. */
  | Event<'jobCompleted', { readonly variables: Variables }>
  | Event<'jobErrored', { readonly error: JobError }>
  | Event<'jobCanceled', Record<string, never>>;

export type JobState = {
  readonly status?: JobStatus;
  readonly started?: JobStarted;
  readonly variables: Variables;
  readonly error: JobError | null;
};

const become =
  (status: JobStatus) =>
  (state: JobState): JobState => ({ ...state, status });

/** One run of an automation or workflow. */
export const job = aggregate<JobState, JobEvent>({
  area: 'operations-manager',
  category: 'job',
  initial: { variables: {}, error: null },
  evolve: {
    jobStarted: (_, started) => ({ status: 'running', started, variables: started.variables, error: null }),
    jobPaused: become('paused'),
    jobResumed: become('running'),
    jobCompleted: (state, { variables }) => ({
      ...state,
      status: 'complete',
      variables: { ...state.variables, ...variables },
    }),
    jobErrored: (state, { error }) => ({ ...state, status: 'error', error }),
    jobCanceled: become('canceled'),
  },
  exists: ({ status }) => status !== undefined,
});

/** What can be done to several jobs at once, and where that leads. */
export const jobMoves = {
  pause: { from: ['running'], to: 'paused', event: { topic: 'jobPaused', data: {} } },
  resume: { from: ['paused'], to: 'running', event: { topic: 'jobResumed', data: {} } },
  cancel: { from: ['running', 'paused'], to: 'canceled', event: { topic: 'jobCanceled', data: {} } },
} as const satisfies Record<string, { from: readonly JobStatus[]; to: JobStatus; event: JobEvent }>;
export type JobMove = keyof typeof jobMoves;

/** Whether the move changes a job in this state: `already` where it has led there before, `illegal` where it cannot. */
export const moveOutcome = (move: JobMove, { status }: JobState): 'moves' | 'already' | 'illegal' => {
  const { from, to } = jobMoves[move];
  const begins: readonly (JobStatus | undefined)[] = from;
  if (begins.includes(status)) return 'moves';
  return status === to ? 'already' : 'illegal';
};

/** What the world says of a job that is to start. */
export type StartRefs = {
  /** The automation that is meant, if the platform holds it. */
  readonly automation?: {
    readonly id: string;
    readonly readable: boolean;
    readonly name: string;
    readonly component: JobStarted['component'];
  };
  readonly unknownGroups: readonly string[];
  /** Those of the request, secrets sealed. */
  readonly variables: Variables;
};

export const start = (_: JobState, input: JobStart, { refs, actor }: Context<StartRefs>): readonly JobEvent[] => {
  const { automation, unknownGroups, variables } = refs;
  const { workflow, description = '', trigger = null, execution = null } = input;
  if (automation ? !automation.readable : input.automation !== undefined)
    throw new RequestError('not_found', 'No such automation', { path: '/workflow' });
  refuseUnknownGroups(unknownGroups, '/options/groups');
  return [
    {
      topic: 'jobStarted',
      data: {
        name: input.name ?? automation?.name ?? workflow,
        description,
        type: input.type ?? (automation ? 'automation' : 'workflow'),
        variables,
        component: automation?.component ?? { type: 'workflows', name: workflow },
        automation: automation?.id ?? null,
        trigger,
        execution,
        groups: namesOf(input.groups ?? []),
        watchers: [actor.id],
      },
    },
  ];
};

/** Throws `conflict`, unless the job has not ended. */
const refuseEnded = ({ status }: JobState, id: string): void => {
  if (status !== 'running' && status !== 'paused')
    throw new RequestError('conflict', `Job ${id} has ended: ${status}`, {
      faults: [{ message: `It is ${status}`, id }],
    });
};

/** The access list that keeps the actor out of the job, if one does; else an open one. */
type Access = { readonly gbac: Gbac };

/** `refs.variables`: those that it ends with, secrets sealed; they join those that it has. */
export const complete = (
  state: JobState,
  _: unknown,
  { id, refs: { variables } }: Context<Access & { readonly variables: Variables }>,
): readonly JobEvent[] => {
  if (state.status === 'complete' && same({ ...state.variables, ...variables }, state.variables)) return [];
  refuseEnded(state, id);
  return [{ topic: 'jobCompleted', data: { variables } }];
};

/** `refs.error`: what went wrong, secrets sealed. */
export const fail = (
  state: JobState,
  _: unknown,
  { id, refs: { error } }: Context<Access & { readonly error: JobError }>,
): readonly JobEvent[] => {
  if (state.status === 'error' && same(error, state.error)) return [];
  refuseEnded(state, id);
  return [{ topic: 'jobErrored', data: { error } }];
};

/**
 * Part of a decision about several jobs, or what follows from events elsewhere: a job that it cannot move stays as it
 * is.
 */
export const carryOut = (state: JobState, { move }: { readonly move: JobMove }): readonly JobEvent[] =>
  moveOutcome(move, state) === 'moves' ? [jobMoves[move].event] : [];
