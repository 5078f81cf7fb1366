import { Type } from 'typebox';
import { namesOf } from '../authorization/groups.ts';
import { same } from '../engine/changes.ts';
import {
  aggregate,
  type Context,
  type DataOf,
  type Event,
  type EventOf,
  evolve,
  type Gbac,
  type SchemaData,
} from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { refuseUnknownGroups } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { anyMembers, moment, nothing, text, textOrNull, texts, topicsOf, typed, whole } from '../engine/topics.ts';
import {
  type Claims,
  claimed,
  claimInEvents,
  extended,
  forgotten,
  noClaims,
  type ReleaseReason,
  refuseOtherReports,
  released,
} from './claims.ts';
import type { JobError, JobStart, JobStatus } from './jobSchemas.ts';
import {
  decideTasks,
  type JobWork,
  refuseAsWhole,
  refuseUnfit,
  type StartedWorkflow,
  withFollowing,
} from './jobWorkflows.ts';
import { isRetriable, retryJob } from './workflows/taskMoves.ts';
import { sealedVariables } from './workflows/taskOutcomes.ts';
import { draftOf, noTasks, settledTasks, type TaskStates, take } from './workflows/taskStates.ts';
import { taskTopics } from './workflows/taskTopics.ts';

export type Variables = Readonly<Record<string, unknown>>;
/** The variables without those by which the platform says what started the job: nobody else may say so. */
export const withoutOrigin = ({ _trigger, _event, ...variables }: Variables): Variables => variables;

/** The start of a job as the log has it: earlier versions stored fewer members. */
const started = Type.Object({
  name: text,
  description: text,
  type: text,
  variables: anyMembers,
  /** The component that a worker runs. */
  component: Type.Object({ type: textOrNull, name: text }),
  /** The ids of the job's origin. */
  automation: textOrNull,
  trigger: textOrNull,
  execution: textOrNull,
  /** The id of the event by which a trigger fired. */
  event: Type.Optional(textOrNull),
  /** The instant of the schedule by which a trigger fired. */
  instant: Type.Optional(Type.Union([moment, Type.Null()])),
  /** How many triggers have fired one after the other until this job began. It ends loops. */
  depth: Type.Optional(whole),
  /** The task of another job that this job is a part of. */
  parent: Type.Optional(
    Type.Union([
      Type.Object({
        job: text,
        task: text,
        index: whole,
        /** The run of the task that began it. */
        run: Type.Optional(whole),
        /** How many jobs it is a part of, one in the other. */
        level: Type.Optional(whole),
      }),
      Type.Null(),
    ]),
  ),
  /** The version of the workflow that it runs, if the platform holds the workflow. */
  workflow: Type.Optional(Type.Union([Type.Object({ id: text, revision: whole }), Type.Null()])),
  /** The groups whose members may see the job. If it is empty, whoever may see its automation may see the job. */
  groups: texts,
  /** The inventories whose devices the job names: whoever may read the job may read these. */
  inventories: Type.Optional(texts),
  /**
   * The ids of the accounts that watch the job from the start. Later changes are in the accounts' own streams
   * (watchings.ts).
   */
  watchers: texts,
});
type StoredStart = SchemaData<typeof started>;

/** Members that jobs of earlier versions lack, and the values that they stand for. */
export const originless = { event: null, instant: null, depth: 0, parent: null, workflow: null } as const;

export type JobStarted = StoredStart & Required<Pick<StoredStart, keyof typeof originless>>;

const topics = topicsOf({
  jobStarted: ['A job began', started],
  jobInventoriesNoted: ['A job has come upon devices of more inventories', Type.Object({ inventories: texts })],
  jobPaused: ['A job was paused', nothing],
  jobResumed: ['A paused job went on', nothing],
  /**
   * `variables`: the variables of the worker's report. They are added to the variables of the job, and replace those of
   * the same name.
   */
  jobCompleted: ['A job ended well', Type.Object({ variables: anyMembers })],
  jobErrored: [
    'A job ended in error',
    Type.Object({ error: typed<JobError>()(Type.Union([Type.String(), anyMembers])) }),
  ],
  jobCanceled: ['A job was canceled', nothing],
  jobClaimed: ['A worker got a job', claimInEvents],
  jobClaimExtended: ['A worker that was heard of keeps its job', Type.Object({ claim: whole, until: moment })],
  jobReleased: ['A job waits for a worker again', Type.Object({ claim: whole, reason: typed<ReleaseReason>()(text) })],
  /** `claims`: how many claims were lost. */
  jobGivenUp: ['A job is not offered any more, because too many claims were lost', Type.Object({ claims: whole })],
  /** `from`: the task that runs again, or that the job goes back to. */
  jobRetried: ['A job that had ended in error began again', Type.Object({ from: Type.Optional(text) })],
  ...taskTopics,
});
export type JobEvent = EventOf<typeof topics>;

export type JobState = {
  readonly status?: JobStatus;
  readonly started?: StoredStart;
  readonly variables: Variables;
  readonly error: JobError | null;
  /** The ids of the inventories whose devices the job names; undefined: of none. */
  readonly inventories?: readonly string[] | undefined;
  readonly claims: Claims;
  /** The tasks of a job that runs a workflow. */
  readonly tasks?: TaskStates;
};

type Naming = { readonly inventories?: readonly string[] | undefined };

/** The inventories of a job with these, each once. */
export const withInventories = ({ inventories = [] }: Naming, more: readonly string[]): readonly string[] => [
  ...new Set([...inventories, ...more]),
];

/** The event by which a job comes to name devices of more inventories; none if it names some of each already. */
export const noteInventories = (
  state: Naming,
  { inventories }: { readonly inventories: readonly string[] },
): readonly JobEvent[] => {
  const more = withInventories({}, inventories).filter((id) => !state.inventories?.includes(id));
  return more.length > 0 ? [{ topic: 'jobInventoriesNoted', data: { inventories: more } }] : [];
};

const become =
  (status: JobStatus) =>
  (state: JobState): JobState => ({ ...state, status });

const asIs = (state: JobState): JobState => state;

type Evolve = { readonly [T in JobEvent['topic']]: (state: JobState, data: DataOf<JobEvent, T>) => JobState };

/** The state without the tasks. */
const evolveJob: Evolve = {
  jobStarted: (_, started) => ({
    status: 'running',
    started,
    variables: started.variables,
    error: null,
    claims: noClaims,
    ...defined({ inventories: started.inventories }),
  }),
  jobInventoriesNoted: (state, { inventories }) => ({ ...state, inventories: withInventories(state, inventories) }),
  jobPaused: become('paused'),
  jobResumed: become('running'),
  jobCompleted: (state, { variables }) => ({
    ...state,
    status: 'complete',
    variables: { ...state.variables, ...variables },
  }),
  jobErrored: (state, { error }) => ({ ...state, status: 'error', error }),
  jobCanceled: become('canceled'),
  jobClaimed: (state, claim) => ({ ...state, claims: claimed(state.claims, claim) }),
  jobClaimExtended: (state, { until }) => ({ ...state, claims: extended(state.claims, until) }),
  jobReleased: (state, { reason }) => ({ ...state, claims: released(state.claims, reason) }),
  jobGivenUp: become('incomplete'),
  jobRetried: (state) => ({ ...state, status: 'running', error: null, claims: forgotten(state.claims) }),
  taskStarted: asIs,
  childrenBegun: asIs,
  childNoted: asIs,
  taskOffered: asIs,
  taskClaimed: asIs,
  taskClaimExtended: asIs,
  taskReleased: asIs,
  taskFinished: asIs,
  tasksReverted: asIs,
  variablesSet: asIs,
  jobDescribed: asIs,
};

/** The state with the tasks, whose state is made once for all events. */
const foldJob = (state: JobState, events: readonly Event[]): JobState => {
  let [next, tasks] = [state, state.tasks && draftOf(state.tasks)];
  for (const event of events) {
    next = evolve<JobState, JobEvent>(evolveJob, next, event);
    if (event.topic === 'jobStarted') tasks = next.started?.workflow ? draftOf(noTasks) : undefined;
    if (tasks) take(tasks, event);
  }
  return tasks ? { ...next, tasks: settledTasks(tasks) } : next;
};

/** One run of an automation or workflow. */
export const job = aggregate<JobState, JobEvent>({
  area: 'operations-manager',
  category: 'job',
  topics,
  initial: { variables: {}, error: null, claims: noClaims },
  evolve: evolveJob,
  foldAll: foldJob,
  exists: ({ status }) => status !== undefined,
});

/**
 * The changes that a request can make to several jobs at once: from which states, by which event, and in which state a
 * job is as wanted already.
 */
export const jobMoves = {
  pause: { from: ['running'], already: 'paused', event: { topic: 'jobPaused', data: {} } },
  resume: { from: ['paused'], already: 'running', event: { topic: 'jobResumed', data: {} } },
  cancel: { from: ['running', 'paused'], already: 'canceled', event: { topic: 'jobCanceled', data: {} } },
  retry: { from: ['incomplete', 'error'], already: null, event: { topic: 'jobRetried', data: {} } },
} as const satisfies Record<string, { from: readonly JobStatus[]; already: JobStatus | null; event: JobEvent }>;
export type JobMove = keyof typeof jobMoves;

/** The effect of the move on a job in this state. `already`: it is as wanted. `illegal`: the move is impossible. */
export const moveOutcome = (
  move: JobMove,
  { status, tasks }: JobState,
  work: JobWork | undefined,
): 'moves' | 'already' | 'illegal' => {
  const { from, already } = jobMoves[move];
  const begins: readonly (JobStatus | undefined)[] = from;
  if (!begins.includes(status)) return status === already ? 'already' : 'illegal';
  return move === 'retry' && tasks && work && !('broken' in work) && !isRetriable(work, tasks) ? 'illegal' : 'moves';
};

/** The data that the start of a job needs. */
export type StartRefs = {
  /** The automation of the request, if the platform has it. */
  readonly automation?:
    | {
        readonly id: string;
        readonly readable: boolean;
        readonly name: string;
        readonly component: JobStarted['component'];
      }
    | undefined;
  readonly unknownGroups: readonly string[];
  /** The variables of the request with sealed secrets. */
  readonly variables: Variables;
  /** The workflow that the job runs, if the platform has it. */
  readonly running?: StartedWorkflow | undefined;
  /** Why the actor may not run the component. */
  readonly notRun?: RequestError | undefined;
};

/** The start of a job, and all that follows from it in its workflow. */
const startEvents = (started: JobStarted, running: StartedWorkflow | undefined): readonly JobEvent[] => {
  if (!running) return [{ topic: 'jobStarted', data: started }];
  refuseUnfit(running);
  const { id, revision, work } = running;
  const variables = sealedVariables(work, started.variables);
  const data = { ...started, variables, workflow: { id, revision } };
  return withFollowing(work, undefined, [{ topic: 'jobStarted', data }]);
};

export const start = (_: JobState, input: JobStart, { refs, actor }: Context<StartRefs>): readonly JobEvent[] => {
  const { automation, unknownGroups, variables, running, notRun } = refs;
  const { workflow, description = '', trigger = null, execution = null, inventories = [] } = input;
  if (automation ? !automation.readable : input.automation != null)
    throw new RequestError('not_found', 'No such automation', { path: '/workflow' });
  if (notRun) throw notRun;
  refuseUnknownGroups(unknownGroups, '/options/groups');
  const started: JobStarted = {
    name: input.name ?? automation?.name ?? workflow,
    description,
    type: input.type ?? (automation ? 'automation' : 'workflow'),
    variables: withoutOrigin(variables),
    component: automation?.component ?? input.component ?? { type: 'workflows', name: workflow },
    automation: automation?.id ?? null,
    trigger,
    execution,
    ...originless,
    groups: namesOf(input.groups ?? []),
    ...(inventories.length > 0 && { inventories }),
    watchers: [actor.id],
  };
  return startEvents(started, running);
};

/** The start of a job by a trigger. */
export type TriggeredStart = {
  readonly automation: { readonly id: string; readonly name: string; readonly component: JobStarted['component'] };
  /** The variables with sealed secrets. */
  readonly variables: Variables;
} & Pick<JobStarted, 'trigger' | 'event' | 'instant' | 'depth' | 'watchers' | 'inventories'>;

/** A trigger and its reason have one job: if the job is there, nothing happens. */
export const startTriggered = (
  { status }: JobState,
  { automation, variables, ...origin }: TriggeredStart,
  { refs: { running } }: Context<{ readonly running?: StartedWorkflow | undefined }>,
): readonly JobEvent[] => {
  if (status !== undefined) return [];
  const { id, name, component } = automation;
  const started: JobStarted = {
    name,
    description: '',
    type: 'automation',
    variables,
    component,
    automation: id,
    execution: null,
    ...originless,
    ...origin,
    groups: [],
  };
  return startEvents(started, running);
};

/** A job that is a part of another one. */
export type ChildStart = Pick<
  JobStarted,
  'name' | 'variables' | 'automation' | 'parent' | 'groups' | 'watchers' | 'depth' | 'inventories'
>;

/** A child has one job: if the job is there, nothing happens, and neither if it cannot run. */
export const startChild = (
  { status }: JobState,
  _: unknown,
  { refs }: Context<{ readonly child: ChildStart; readonly running: StartedWorkflow } | undefined>,
): readonly JobEvent[] => {
  if (status !== undefined || !refs) return [];
  const { child, running } = refs;
  const started: JobStarted = {
    description: '',
    type: 'workflow',
    component: { type: 'workflows', name: child.name },
    trigger: null,
    execution: null,
    ...originless,
    ...child,
  };
  return startEvents(started, running);
};

/** True if the job has ended. A retry may start it again. */
export const hasEnded = ({ status }: { readonly status?: JobStatus | undefined }): boolean =>
  status !== 'running' && status !== 'paused';

/** Throws `conflict` if the job has ended. */
export const refuseEnded = ({ status }: JobState, id: string): void => {
  if (hasEnded({ status }))
    throw new RequestError('conflict', `Job ${id} has ended: ${status}`, {
      faults: [{ message: `It is ${status}`, id }],
    });
};

/** The access list that denies the actor access to the job, else an open one. */
type Access = { readonly gbac: Gbac };

/** The number of the claim that a report names, if it names one. */
type Reported = { readonly claim?: number | undefined };

/** True if the report comes from the last worker, as far as it says. Of an ended job it may be the same one again. */
const isOfLast = ({ claims: { last } }: JobState, { claim = last }: Reported): boolean => claim === last;

/** `refs.variables`: the variables of the worker's report, with sealed secrets. */
export const complete = (
  state: JobState,
  report: Reported,
  { id, actor, refs }: Context<Access & { readonly variables: Variables }>,
): readonly JobEvent[] => {
  refuseAsWhole(state);
  const variables = withoutOrigin(refs.variables);
  const isSame = state.status === 'complete' && same({ ...state.variables, ...variables }, state.variables);
  if (isSame && isOfLast(state, report)) return [];
  refuseEnded(state, id);
  refuseOtherReports(state.claims, report.claim, actor);
  return [{ topic: 'jobCompleted', data: { variables } }];
};

/** `refs.error` is the error with sealed secrets. */
export const fail = (
  state: JobState,
  report: Reported,
  { id, actor, refs: { error } }: Context<Access & { readonly error: JobError }>,
): readonly JobEvent[] => {
  refuseAsWhole(state);
  if (state.status === 'error' && same(error, state.error) && isOfLast(state, report)) return [];
  refuseEnded(state, id);
  refuseOtherReports(state.claims, report.claim, actor);
  return [{ topic: 'jobErrored', data: { error } }];
};

/** Throws `conflict` if nothing of a job that runs a workflow can be retried. */
const retried = (state: JobState, work: JobWork | undefined): readonly JobEvent[] =>
  state.tasks ? decideTasks(state, work, retryJob) : [jobMoves.retry.event];

/** Part of a decision on several jobs, or of a reaction. A job that the move cannot change stays as it is. */
export const carryOut = (
  state: JobState,
  { move }: { readonly move: JobMove },
  { refs }: Context<{ readonly work?: JobWork | undefined } | undefined>,
): readonly JobEvent[] => {
  const work = refs?.work;
  if (moveOutcome(move, state, work) !== 'moves') return [];
  if (move === 'retry') return retried(state, work);
  const { event } = jobMoves[move];
  return state.tasks ? decideTasks(state, work, () => [event]) : [event];
};
