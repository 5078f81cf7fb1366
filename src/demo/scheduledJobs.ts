import type { Kept, Step } from './step.ts';

const path = '/automation_catalog/scheduled-jobs';

/** Jobs of an earlier version's scheduler. One of them is migrated; the rest wait for migration. */
export const scheduledJobSteps: readonly ((ids: Kept) => Step)[] = [
  () => ({
    method: 'POST',
    path,
    keep: ({ data: { _id } }) => ({ certificatesJob: _id }),
    body: {
      name: 'check-certificates',
      type: 'normal',
      priority: 0,
      nextRunAt: '2027-01-04T05:30:00Z',
      lastRunAt: '2026-12-28T05:30:00Z',
      lastFinishedAt: '2026-12-28T05:31:12Z',
      repeatInterval: '1 week',
      failCount: 0,
      data: {
        name: 'Weekly certificate check',
        description: 'Lists certificates that end within 60 days',
        workflowId: 'Check certificates',
        formData: { days: 60, sites: ['FRA1', 'BON2'] },
        gbac: { write: ['network-operations'], read: ['compliance'] },
      },
    },
  }),
  () => ({
    method: 'POST',
    path,
    keep: ({ data: { _id } }) => ({ interfacesJob: _id }),
    body: {
      name: 'poll-interfaces',
      type: 'normal',
      priority: -10,
      nextRunAt: '2027-01-01T00:15:00Z',
      repeatInterval: 900_000,
      disabled: true,
      data: { description: 'Counters of all uplinks', workflowId: 'Poll interfaces', formData: { kind: 'uplink' } },
    },
  }),
  () => ({
    method: 'POST',
    path,
    body: {
      name: 'one-off-cutover',
      type: 'single',
      nextRunAt: '2027-02-14T01:00:00Z',
      data: { name: 'Cutover BON2', workflowId: 'Cutover', formData: { site: 'BON2', ticket: 'CHG0031501' } },
    },
  }),
  ({ certificatesJob }) => ({
    method: 'POST',
    path: '/automation_catalog/automations/migration',
    body: { agendaJobs: [certificatesJob] },
  }),
];
