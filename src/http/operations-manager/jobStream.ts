import { type TSchema, Type } from 'typebox';
import { jobStatus } from '../../domain/operations-manager/jobSchemas.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { type JobFilter, type JobReaders, streamJobsRow } from './jobReaders.ts';

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
    run: async ({ query: { watched = false, ...values }, actor }, { jobReaders }) => {
      const names = Object.keys(filters) as JobFilter[]; // the keys of this very table
      const fields = names.flatMap((field) => {
        const value = values[field];
        return value === undefined ? [] : { field, value };
      });
      // Nothing is waited for between this and the opening.
      jobReaders.check(actor.id);
      return {
        type: 'text/event-stream; charset=utf-8',
        headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
        stream: (res) => jobReaders.open(res, actor.id, { watched, fields }),
      };
    },
  }),
];
