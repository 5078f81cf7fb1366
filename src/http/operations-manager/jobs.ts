import { type Static, type TSchema, Type } from 'typebox';
import type { CommandResult } from '../../commands/engine/handle.ts';
import type { ClaimedJob, Claims, Wanted } from '../../commands/operations-manager/jobClaims.ts';
import { moveJobs } from '../../commands/operations-manager/jobMoves.ts';
import { readJob } from '../../commands/operations-manager/jobReading.ts';
import { completeJob, failJob, startJob } from '../../commands/operations-manager/jobs.ts';
import type { ClaimedTask } from '../../commands/operations-manager/taskReports.ts';
import { unwatchJobs, watchJobs } from '../../commands/operations-manager/watchings.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { jobIdsSchema } from '../../domain/operations-manager/jobMoves.ts';
import { type JobProgress, jobSchema, jobStatus, newJobSchema } from '../../domain/operations-manager/jobSchemas.ts';
import { hasEnded, type JobMove, job } from '../../domain/operations-manager/jobs.ts';
import { taskViews } from '../../domain/operations-manager/workflows/taskViews.ts';
import { readableDocuments } from '../../projections/engine/documents.ts';
import { type JobDoc, jobs } from '../../projections/operations-manager/jobs.ts';
import { people } from '../authorization/people.ts';
import { acknowledged, resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import type { Call, CommandRoute, Join, Params, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import type { Service } from '../engine/service.ts';
import { openerOf } from '../events/asked.ts';
import { type JobFilter, type JobReaders, streamJobsRow } from './jobReaders.ts';
import { watchersOf } from './watchers.ts';

declare module '../engine/service.ts' {
  interface Service {
    /** The work on jobs. */
    readonly work: JobWork;
  }
}

/** The work on jobs, for routes. */
type JobWork = {
  /** Gives out jobs to a worker that waits for so long, unless it has gone. */
  readonly claim: (wish: Wanted, waitMs: number, hungUp: AbortSignal) => Promise<Claims<ClaimedJob>>;
  /** The same for tasks of jobs that run workflows. */
  readonly claimTasks: (wish: Wanted, waitMs: number, hungUp: AbortSignal) => Promise<Claims<ClaimedTask>>;
  /** Ends the job at a step of the worker with this claim, if something that it needs is gone. */
  readonly endIfGone: (id: string, claim: number) => Promise<Pick<CommandResult, 'position'> | undefined>;
  /** Notes how far a job is, as the worker with this claim says. */
  readonly noteProgress: (id: string, claim: number, report: JobProgress) => void;
  /** The same for runs of tasks, by their ids. */
  readonly noteTaskProgress: (id: string, claim: number, news: JobProgress) => void;
  readonly taskProgressOf: (id: string, claim: number | undefined) => JobProgress | null;
  /** How far a job is, as this node has heard. */
  readonly progressOf: (doc: Pick<JobDoc, '_id' | 'status' | 'claim'>) => JobProgress | null;
};

const byId = ({ id = '' }: Params): string => id;

/** Shows usernames in the place of ids, and secrets masked. Watchers whose accounts were deleted are left out. */
export const showJob = async (stored: JobDoc, { model, work }: Pick<Service, 'model' | 'work'>) => {
  const { claim, attempts, inventories: _, ...doc } = stored;
  const watchers = await watchersOf(model, doc._id, doc.watchers);
  const found = await people(model, [doc.created_by, ...watchers]);
  const isHeld = claim !== null && !hasEnded(doc);
  return {
    ...doc,
    claim: isHeld ? { worker: claim.worker, until: claim.until, attempts } : null,
    progress: work.progressOf(stored),
    variables: maskSecrets(doc.variables),
    error: maskSecrets(doc.error),
    watchers: watchers.flatMap((id) => {
      const watcher = found.get(id);
      return !watcher || watcher.isDeleted ? [] : watcher.username;
    }),
    created_by: found.get(doc.created_by)?.username ?? doc.created_by,
  };
};

const expansions = { expand: Type.Literal('progress', { description: 'Says how far workflows under way are' }) };

/** How much of the tasks of a workflow is done; undefined if the job runs none. */
const shareDone = async ({ _id: id }: JobDoc, { tools }: Service): Promise<number | undefined> => {
  const { state } = await tools.version(job, id);
  const read = await readJob(id, state, tools);
  return read && taskViews(read.graph, read.tasks).progress;
};

type Listing = Call<never, unknown, { readonly expand?: 'progress' }>;

const showListed: Join<JobDoc, Listing> = async (doc, service, { query: { expand } }) => {
  const plain = await showJob(doc, service);
  const isWanted = expand === 'progress' && doc.workflow != null && !hasEnded(doc);
  const progress = isWanted ? await shareDone(doc, service) : undefined;
  return progress === undefined ? plain : { ...plain, metrics: { ...plain.metrics, progress } };
};

/** The jobs that the request names, as they are now. A caller who repeats it may not see all of them any more. */
const named: Join<null, Call<never, Static<typeof jobIdsSchema>>> = async (_, service, { body: { jobIds }, actor }) => {
  const ids = await Promise.all([...new Set(jobIds)].map((id) => service.tools.find(jobs, id)));
  const found = await readableDocuments(
    service.model,
    jobs,
    ids.filter((id) => id !== undefined),
    actor,
  );
  return Promise.all(found.map((doc) => showJob(doc, service)));
};

const move = (move: JobMove, message: string, description: string): CommandRoute =>
  mappedCommandRoute({
    name: `${move}Jobs`,
    method: 'post',
    path: `/jobs/${move}`,
    access: ['operators'],
    summary: `${move.charAt(0).toUpperCase()}${move.slice(1)} jobs, all or none`,
    description:
      `${description} Unknown ids are 404, other states 409, both naming all; then nothing changes. A job that ` +
      'ends at the same moment stays as it ended: data has the jobs as they are now.',
    command: moveJobs,
    body: jobIdsSchema,
    input: (_, { jobIds }) => ({ move, jobIds }),
    join: named,
    envelope: withMessage(`Successfully ${message} jobs`),
    answer: enveloped(Type.Array(jobSchema)),
  });

/** The id of the caller's account, whose stream holds the jobs that the caller watches. */
const caller = (_: Params, __: unknown, { id }: Actor): string => id;

/** Jobs (docs/decisions/jobs.md). */
export const jobRoutes: readonly Route[] = [
  listRoute({
    name: 'getJobs',
    path: '/jobs',
    access: ['operators', 'readers'],
    summary: 'List jobs',
    description: 'The newest come first.',
    list: jobs,
    order: -1,
    query: expansions,
    join: showListed,
    envelope: resultsWithMessage('Successfully retrieved jobs'),
    answer: enveloped(Type.Array(jobSchema)),
  }),
  mappedCommandRoute({
    name: 'startJob',
    method: 'post',
    starts: true,
    path: '/jobs/start',
    access: ['operators'],
    summary: 'Start a job',
    description:
      'Of an automation (its id or name), or of a workflow that the platform does not hold and workers know. ' +
      'Whoever starts it watches it.',
    command: startJob,
    body: newJobSchema,
    input: (_, { workflow, options }) => ({ workflow, ...options }),
    join: showJob,
    envelope: withMessage('Successfully started job'),
    answer: enveloped(jobSchema),
  }),
  commandRoute({
    name: 'watchJobs',
    method: 'post',
    path: '/jobs/watch',
    access: ['operators'],
    summary: 'Watch jobs',
    description: 'All or none. Watching already is no change.',
    command: watchJobs,
    key: caller,
    envelope: acknowledged('Successfully watched jobs'),
    answer: enveloped(Type.Null()),
  }),
  commandRoute({
    name: 'unwatchJobs',
    method: 'post',
    path: '/jobs/unwatch',
    access: ['operators'],
    summary: 'Stop watching jobs',
    description: 'All or none. Not watching is no change.',
    command: unwatchJobs,
    key: caller,
    envelope: acknowledged('Successfully unwatched jobs'),
    answer: enveloped(Type.Null()),
  }),
  move('pause', 'paused', 'Running jobs; paused ones stay so.'),
  move('resume', 'resumed', 'Paused jobs; running ones stay so.'),
  move('cancel', 'canceled', 'Running and paused jobs; canceled ones stay so.'),
  move('retry', 'retried', 'Jobs that are in error or incomplete: they run again, and wait for a worker.'),
  commandRoute({
    name: 'completeJob',
    method: 'post',
    path: '/jobs/:id/complete',
    access: ['operators'],
    summary: 'Report that a job is complete',
    description:
      'For workers. The variables join those that the job has. While somebody has claimed the job, the report names ' +
      'that claim.',
    command: completeJob,
    key: byId,
    join: showJob,
    envelope: withMessage('Successfully completed job'),
    answer: enveloped(jobSchema),
  }),
  commandRoute({
    name: 'failJob',
    method: 'post',
    path: '/jobs/:id/error',
    access: ['operators'],
    summary: 'Report that a job has failed',
    description: 'For workers. While somebody has claimed the job, the report names that claim.',
    command: failJob,
    key: byId,
    join: showJob,
    envelope: withMessage('Successfully reported the error'),
    answer: enveloped(jobSchema),
  }),
];

declare module '../engine/service.ts' {
  interface Service {
    /** Tells readers of jobs. */
    readonly jobReaders: Pick<JobReaders, 'check' | 'open'>;
  }
}

const exactly = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description });

const filters = {
  status: { ...jobStatus, description: 'Only jobs with this status' },
  name: exactly('Only jobs with this name'),
  type: exactly('Only jobs of this type'),
  automation: exactly('Only jobs of the automation with this id'),
  trigger: exactly('Only jobs of the trigger with this id'),
  component: exactly('Only jobs of the component with this name'),
  groups: exactly('Only jobs that name this group'),
} satisfies Readonly<Record<JobFilter, TSchema>>;

/** Changes of jobs as they happen (docs/workers.md). */
export const jobStreamRoutes: readonly Route[] = [
  actionRoute({
    ...streamJobsRow,
    method: 'get',
    path: '/jobs/stream',
    untimed: true,
    summary: 'Watch jobs as they change',
    description:
      'Server-sent events: status, progress and error of jobs, first as they are (of those that have ended the newest ' +
      '1,000), then with each change. A job that leaves the filter is told of once more. A comment every 15 seconds keeps ' +
      'the connection. The event dropped says why the stream ends: slow, rights or stopping; it cannot be resumed. ' +
      'An account may have 20 streams open.',
    query: { watched: Type.Boolean({ description: 'Only jobs that the caller watches' }), ...filters },
    answer: Type.String({ contentMediaType: 'text/event-stream', description: 'Server-sent events' }),
    run: async ({ query: { watched = false, ...values }, principal }, { jobReaders }) => {
      const names = Object.keys(filters) as JobFilter[]; // the keys of this very table
      const fields = names.flatMap((field) => {
        const value = values[field];
        return value === undefined ? [] : { field, value };
      });
      const opener = openerOf(principal!); // the route is not open, so there is a caller
      // Nothing is waited for between this and the opening.
      jobReaders.check(opener.account);
      return {
        type: 'text/event-stream; charset=utf-8',
        headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
        stream: (res) => jobReaders.open(res, opener, { watched, fields }),
      };
    },
  }),
];
