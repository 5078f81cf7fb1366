import type { Claim } from '../../domain/operations-manager/claims.ts';
import type { JobError, JobStatus } from '../../domain/operations-manager/jobSchemas.ts';
import { type JobStarted, job, originless, withInventories } from '../../domain/operations-manager/jobs.ts';
import type { Recorded } from '../../store/event.ts';
import { idOf, projection } from '../engine/define.ts';
import { allGuards, documentGuard, listsGuard } from '../engine/guards.ts';
import { inventories } from '../inventory-manager/inventories.ts';
import { automations } from './automations.ts';
import { workflows } from './workflows.ts';

export type JobDoc = { readonly _id: string } & Omit<JobStarted, 'execution'> & {
    readonly status: JobStatus;
    readonly created: string;
    readonly created_by: string;
    readonly last_updated: string;
    readonly metrics: {
      readonly start_time: string;
      readonly end_time: string | null;
      readonly duration: number | null;
    };
    readonly error: JobError | null;
    /** The claim that is held; that of a canceled job stays, because its worker may not know yet. */
    readonly claim: Omit<Claim, 'lease'> | null;
    /** How many claims there were since the start or the last retry. */
    readonly attempts: number;
  };

type Step = (doc: JobDoc | undefined, event: Recorded) => JobDoc | undefined;

const become =
  (status: JobStatus): Step =>
  (doc, { metadata: { at } }) =>
    doc && { ...doc, status, last_updated: at };

/**
 * A task's event changes nothing but the time of the last change: the variables of a job stand in its stream. Events of one append
 * have one time, and a document that stays is not looked at again.
 */
const touched: Step = (doc, { metadata: { at } }) =>
  doc && doc.last_updated !== at ? { ...doc, last_updated: at } : doc;

const ended = (doc: JobDoc, status: JobStatus, { metadata: { at } }: Recorded): JobDoc => ({
  ...doc,
  status,
  last_updated: at,
  metrics: { ...doc.metrics, end_time: at, duration: Math.max(0, Date.parse(at) - Date.parse(doc.metrics.start_time)) },
});

const startMetrics = (at: string): JobDoc['metrics'] => ({ start_time: at, end_time: null, duration: null });

/**
 * The lists that a job follows: its groups, its automation's, those of the inventories whose devices it names, and that of
 * the project of its workflow.
 */
type Guarded = Pick<JobDoc, 'automation' | 'groups' | 'inventories'> & { readonly workflow?: JobStarted['workflow'] };

/** The guard of a job, and of what follows it. */
export const guardOfJob = ({ automation, groups, workflow, inventories: named = [] }: Guarded): string | undefined =>
  allGuards([
    listsGuard({ read: groups, write: [] }),
    automation === null ? undefined : documentGuard(automations, automation),
    workflow ? documentGuard(workflows, workflow.id) : undefined,
    ...named.map((id) => documentGuard(inventories, id)),
  ]);

/** Jobs. Persons are ids of accounts, `watchers` are those who watched from the start, secrets are sealed. */
export const jobs = projection<JobDoc>()(job, {
  collection: 'jobs',
  on: {
    jobStarted: (_, event) => {
      const {
        metadata: { at, actor },
        data,
      } = event;
      const { name, description, type, variables, watchers, trigger, automation, component, groups } = data;
      const { inventories } = data;
      // Events of earlier versions lack these. A spread would be slow here.
      const { event: firedBy = originless.event, instant = originless.instant } = data;
      const { depth = originless.depth, parent = originless.parent, workflow = originless.workflow } = data;
      const started: JobDoc = {
        _id: idOf(event),
        name,
        description,
        type,
        status: 'running',
        variables,
        watchers,
        trigger,
        automation,
        event: firedBy,
        instant,
        depth,
        parent,
        workflow,
        component,
        groups,
        created: at,
        created_by: actor.id,
        last_updated: at,
        metrics: startMetrics(at),
        error: null,
        claim: null,
        attempts: 0,
      };
      return inventories ? { ...started, inventories } : started;
    },
    jobInventoriesNoted: (doc, { data }) => doc && { ...doc, inventories: withInventories(doc, data.inventories) },
    jobPaused: become('paused'),
    jobResumed: become('running'),
    jobCompleted: (doc, event) =>
      doc &&
      ended({ ...doc, claim: null, variables: { ...doc.variables, ...event.data.variables } }, 'complete', event),
    jobErrored: (doc, event) => doc && ended({ ...doc, claim: null, error: event.data.error }, 'error', event),
    jobCanceled: (doc, event) => doc && ended(doc, 'canceled', event),
    jobClaimed: (doc, { data: { claim, worker, account, until }, metadata: { at } }) =>
      doc && { ...doc, claim: { claim, worker, account, until }, attempts: doc.attempts + 1, last_updated: at },
    jobClaimExtended: (doc, { data: { until }, metadata: { at } }) =>
      doc?.claim ? { ...doc, claim: { ...doc.claim, until }, last_updated: at } : doc,
    jobReleased: (doc, { metadata: { at } }) => doc && { ...doc, claim: null, last_updated: at },
    jobGivenUp: (doc, event) => doc && ended(doc, 'incomplete', event),
    jobRetried: (doc, { metadata: { at } }) =>
      doc && {
        ...doc,
        status: 'running',
        error: null,
        claim: null,
        attempts: 0,
        metrics: startMetrics(doc.metrics.start_time),
        last_updated: at,
      },
    taskStarted: touched,
    childrenBegun: touched,
    childNoted: touched,
    taskOffered: touched,
    taskClaimed: touched,
    taskClaimExtended: touched,
    taskReleased: touched,
    taskFinished: touched,
    tasksReverted: touched,
    variablesSet: (doc, { data: { variables }, metadata: { at } }) =>
      doc && { ...doc, variables: { ...doc.variables, ...variables }, last_updated: at },
    jobDescribed: (doc, { data: { description }, metadata: { at } }) =>
      doc && { ...doc, description, last_updated: at },
  },
  names: {
    group: {
      field: 'groups',
      only: {
        any: [
          { field: 'status', op: 'equals', value: 'running' },
          { field: 'status', op: 'equals', value: 'paused' },
        ],
      },
    },
  },
  sorts: {
    created: (doc) => doc.created,
    name: (doc) => doc.name,
    status: (doc) => doc.status,
    last_updated: (doc) => doc.last_updated,
  },
  filters: {
    status: (doc) => doc.status,
    name: (doc) => doc.name,
    type: (doc) => doc.type,
    automation: (doc) => doc.automation ?? [],
    trigger: (doc) => doc.trigger ?? [],
    component: (doc) => doc.component.name,
    groups: (doc) => doc.groups,
  },
  retires: { ended: ({ metrics }) => metrics.end_time ?? undefined, from: 'created' },
  guard: guardOfJob,
});
