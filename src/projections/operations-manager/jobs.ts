import type { JobStatus } from '../../domain/operations-manager/jobSchemas.ts';
import { type JobError, type JobStarted, job, originless } from '../../domain/operations-manager/jobs.ts';
import type { Recorded } from '../../store/event.ts';
import { projection } from '../engine/define.ts';
import { bothGuards, documentGuard, groupsGuard } from '../engine/guards.ts';
import { idOf } from '../engine/stamps.ts';
import { automations } from './automations.ts';

export type JobDoc = { readonly _id: string } & Omit<JobStarted, 'execution' | 'workflow'> & {
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
  };

type Step = (doc: JobDoc | undefined, event: Recorded) => JobDoc | undefined;

const become =
  (status: JobStatus): Step =>
  (doc, { metadata: { at } }) =>
    doc && { ...doc, status, last_updated: at };

const ended = (doc: JobDoc, status: JobStatus, { metadata: { at } }: Recorded): JobDoc => ({
  ...doc,
  status,
  last_updated: at,
  metrics: { ...doc.metrics, end_time: at, duration: Math.max(0, Date.parse(at) - Date.parse(doc.metrics.start_time)) },
});

/** Jobs. Persons are ids of accounts, `watchers` are those who watched from the start, secrets are sealed. */
export const jobs = projection<JobDoc>()(job, {
  collection: 'jobs',
  on: {
    jobStarted: (_, event) => {
      const {
        metadata: { at, actor },
        data: { name, description, type, variables, watchers, trigger, automation, component, groups, ...origin },
      } = event;
      const { event: firedBy, instant, depth, parent } = { ...originless, ...origin };
      return {
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
        component,
        groups,
        created: at,
        created_by: actor.id,
        last_updated: at,
        metrics: { start_time: at, end_time: null, duration: null },
        error: null,
      };
    },
    jobPaused: become('paused'),
    jobResumed: become('running'),
    jobCompleted: (doc, event) =>
      doc && ended({ ...doc, variables: { ...doc.variables, ...event.data.variables } }, 'complete', event),
    jobErrored: (doc, event) => doc && ended({ ...doc, error: event.data.error }, 'error', event),
    jobCanceled: (doc, event) => doc && ended(doc, 'canceled', event),
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
  guard: ({ automation, groups }) =>
    bothGuards(
      groupsGuard({ read: groups, write: [] }),
      automation === null ? undefined : documentGuard(automations, automation),
    ),
});
