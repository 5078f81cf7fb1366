import { defined } from '../../domain/engine/defined.ts';
import { type JobStarted, job, withInventories } from '../../domain/operations-manager/jobs.ts';
import type { OfferedTo } from '../../domain/operations-manager/workflows/taskStates.ts';
import type { Recorded } from '../../store/event.ts';
import { idOf, projection } from '../engine/define.ts';
import { guardOfJob } from './jobs.ts';

/** A claim on a task. Of a person it has no end. */
type HeldTask = {
  readonly claim: number;
  readonly worker: string;
  readonly account: string;
  readonly until: number | null;
};

/** A run of a task that is under way, or that begins by itself. */
export type OpenTask = {
  readonly run: number;
  /** The party that it is offered to; null: the service holds it. */
  readonly to: OfferedTo | null;
  readonly since: string;
  /** When something is to happen with it by itself, epoch milliseconds. */
  readonly due: number | null;
  /** It has ended, and begins again when it is due. */
  readonly isRetried: boolean;
  readonly claim: HeldTask | null;
};

/** The tasks of a job that are under way. A job that has ended well or was canceled has none any more. */
export type OpenTasksDoc = Pick<JobStarted, 'name' | 'automation' | 'groups' | 'workflow' | 'inventories'> & {
  readonly _id: string;
  readonly status: 'running' | 'paused' | 'error';
  readonly created: string;
  /** The username of the account that started it. */
  readonly initiator: string;
  readonly component: string;
  readonly open: Readonly<Record<string, OpenTask>>;
};

type Doc = OpenTasksDoc | undefined;

const without = (open: OpenTasksDoc['open'], tasks: readonly string[]): OpenTasksDoc['open'] => {
  const rest = { ...open };
  for (const task of tasks) delete rest[task];
  return rest;
};

const opens = (
  doc: Doc,
  {
    data: { task, run, until, to },
    metadata: { at },
  }: Recorded<{
    readonly task: string;
    readonly run: number;
    readonly until?: number;
    readonly to?: OfferedTo;
  }>,
): Doc =>
  doc && {
    ...doc,
    open: {
      ...doc.open,
      [task]: { run, to: to ?? null, since: at, due: until ?? null, isRetried: false, claim: null },
    },
  };

/** Changes a task, if this run of it is under way. */
const changed = (
  doc: Doc,
  { task, run }: { readonly task: string; readonly run: number },
  change: (open: OpenTask) => OpenTask,
): Doc => {
  const open = doc?.open[task];
  return doc && open?.run === run ? { ...doc, open: { ...doc.open, [task]: change(open) } } : doc;
};

const become =
  (status: OpenTasksDoc['status']) =>
  (doc: Doc): Doc =>
    doc && { ...doc, status };
const asIs = (doc: Doc): Doc => doc;
const hasNone = (): Doc => undefined;

type Words = { readonly kind: readonly string[]; readonly app: readonly string[]; readonly group: readonly string[] };

const noWords: Words = { kind: [], app: [], group: [] };

const wordsIn = ({ status, open }: OpenTasksDoc): Words => {
  if (status === 'error') return noWords;
  const [kind, app, group] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let isOffered = false;
  for (const task in open) {
    const to = open[task]?.to;
    if (!to) continue;
    isOffered = true;
    kind.add('groups' in to ? 'people' : 'worker');
    if ('worker' in to) app.add(to.worker.app);
    if ('groups' in to) for (const one of to.groups) group.add(one);
  }
  return isOffered ? { kind: [...kind], app: [...app], group: [...group] } : noWords;
};

// Each filter asks for the words of the same document, one after the other.
let lastOpen: OpenTasksDoc['open'] | undefined;
let lastStatus: OpenTasksDoc['status'] | undefined;
let lastWords = noWords;

/** The words by which a document is found. */
const wordsOf = (doc: OpenTasksDoc): Words => {
  if (doc.open !== lastOpen || doc.status !== lastStatus) {
    lastWords = wordsIn(doc);
    lastOpen = doc.open;
    lastStatus = doc.status;
  }
  return lastWords;
};

/** Jobs that run workflows, with the tasks that are under way. */
export const openTasks = projection<OpenTasksDoc>()(job, {
  collection: 'tasks',
  beside: true,
  on: {
    jobStarted: (_, event) => {
      const { data, metadata } = event;
      if (!data.workflow) return undefined;
      const { name, automation, groups, workflow, component, inventories } = data;
      return {
        _id: idOf(event),
        name,
        automation,
        groups,
        workflow,
        ...defined({ inventories }),
        component: component.name,
        status: 'running',
        created: metadata.at,
        initiator: metadata.actor.username,
        open: {},
      };
    },
    jobInventoriesNoted: (doc, { data }) => doc && { ...doc, inventories: [...withInventories(doc, data.inventories)] },
    jobPaused: become('paused'),
    jobResumed: become('running'),
    jobRetried: become('running'),
    jobErrored: become('error'),
    jobCompleted: hasNone,
    jobCanceled: hasNone,
    jobGivenUp: hasNone,
    jobClaimed: asIs,
    jobClaimExtended: asIs,
    jobReleased: asIs,
    taskStarted: opens,
    childrenBegun: asIs,
    childNoted: asIs,
    taskOffered: opens,
    taskClaimed: (doc, { data }) => {
      const { claim, worker, account, until } = data;
      return changed(doc, data, (open) => ({ ...open, claim: { claim, worker, account, until } }));
    },
    taskClaimExtended: (doc, { data }) =>
      changed(doc, data, (open) => ({ ...open, claim: open.claim && { ...open.claim, until: data.until } })),
    taskReleased: (doc, { data }) => changed(doc, data, (open) => ({ ...open, claim: null })),
    taskFinished: (doc, { data: { task, run, result, retry, tasks = [] }, metadata: { at } }) => {
      if (!doc) return doc;
      // Most tasks that end were never under way: the service carries them out at once.
      if (!Object.hasOwn(doc.open, task) && tasks.length === 0 && retry === undefined) return doc;
      const open = without(doc.open, tasks);
      if (result === 'loop') return { ...doc, open };
      if (retry === undefined) return { ...doc, open: without(open, [task]) };
      const retried: OpenTask = { run, to: null, since: at, due: retry, isRetried: true, claim: null };
      return { ...doc, open: { ...open, [task]: retried } };
    },
    tasksReverted: (doc, { data: { tasks, to } }) => doc && { ...doc, open: without(doc.open, [...tasks, to]) },
    variablesSet: asIs,
    jobDescribed: asIs,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created },
  filters: {
    status: (doc) => doc.status,
    kind: (doc) => wordsOf(doc).kind,
    app: (doc) => wordsOf(doc).app,
    group: (doc) => wordsOf(doc).group,
  },
  guard: guardOfJob,
});
