import type { Operations } from '@automation-platform/client';
import { html } from './html.ts';
import { Job } from './job.ts';
import { useLoaded } from './loading.ts';
import { place, setQuery } from './location.ts';
import { duration, Link, List, listQuery, Progress, rowsIn, Status, Time } from './parts.ts';
import { read } from './platform.ts';

type Row = Operations['operations-manager.getJobs']['answer']['data'][number];

const statuses = ['running', 'paused', 'complete', 'error', 'canceled', 'incomplete'] as const;

const StatusChoice = () => {
  const { status = '' } = place.value.query;
  return html`<label>Status <select value=${status} onChange=${({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => setQuery({ status: currentTarget.value, skip: undefined }, true)}>
    <option value="" selected=${status === ''}>all</option>
    ${statuses.map((one) => html`<option key=${one} value=${one} selected=${one === status}>${one}</option>`)}
  </select></label>`;
};

/** Why a job failed, in one line. */
export const errorLine = (error: unknown): string => {
  if (error === null || error === undefined) return '';
  if (typeof error === 'string') return error;
  const { message } = error as { readonly message?: unknown };
  return typeof message === 'string' ? message : JSON.stringify(error);
};

const columns = [
  {
    title: 'Job',
    kind: 'wide' as const,
    sort: 'name',
    cell: (job: Row) => html`<${Link} to=${['jobs', job._id]}>${job.name}</${Link}>`,
  },
  { title: 'Status', sort: 'status', cell: (job: Row) => html`<${Status} word=${job.status} />` },
  {
    title: 'Progress or error',
    kind: 'wide' as const,
    cell: (job: Row) =>
      job.error === null
        ? html`<${Progress} share=${job.status === 'running' ? job.metrics.progress : undefined} label=${`Progress of ${job.name}`} />`
        : html`<span class="clip" title=${errorLine(job.error)}>${errorLine(job.error)}</span>`,
  },
  { title: 'Kind', cell: (job: Row) => job.type },
  { title: 'Started', sort: 'created', cell: (job: Row) => html`<${Time} at=${job.created} />` },
  { title: 'Took', kind: 'number' as const, cell: (job: Row) => duration(job.metrics.duration) },
  { title: 'By', cell: (job: Row) => job.created_by },
];

const JobList = () => {
  const { status, automation, trigger } = place.value.query;
  const equals = { ...(status && { status }), ...(automation && { automation }), ...(trigger && { trigger }) };
  const loaded = useLoaded(
    async () =>
      rowsIn(
        await read('operations-manager.getJobs', {
          query: {
            ...listQuery(),
            expand: 'progress',
            ...(Object.keys(equals).length > 0 && { multiEquals: equals }),
          } as object,
        }),
      ),
    [JSON.stringify(place.value.query)],
    { when: ({ resource }) => resource?.kind === 'job' },
  );
  return html`<${List} label="Jobs" loaded=${loaded} columns=${columns} keyOf=${(job: Row) => job._id} tools=${html`<${StatusChoice} />`} empty="No job has run yet. Run starts one." />`;
};

export const Jobs = () => {
  const [, id] = place.value.path;
  return id === undefined ? html`<${JobList} />` : html`<${Job} id=${id} />`;
};
