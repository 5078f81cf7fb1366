import type { Kept, Step } from './step.ts';

const start = (as: string, workflow: string, options: object): Step => ({
  method: 'POST',
  path: '/operations-manager/jobs/start',
  keep: ({ data }) => ({ [as]: data._id }),
  body: { workflow, options },
});

const report = (id: string | undefined, what: string, body: object): Step => ({
  method: 'POST',
  path: `/operations-manager/jobs/${id}/${what}`,
  body,
});

const several = (what: string, ...jobIds: readonly (string | undefined)[]): Step => ({
  method: 'POST',
  path: `/operations-manager/jobs/${what}`,
  body: { jobIds },
});

/** A job that waits for a worker. */
export const waitingJobSteps: readonly ((ids: Kept) => Step)[] = [
  () => start('opticsJob', 'Check optics', { variables: { devices: ['leaf-01', 'leaf-02'], token: 'demo-token' } }),
];

/** Jobs of the sample's automations, and of workflows that only the workers know, in every state. */
export const jobSteps: readonly ((ids: Kept) => Step)[] = [
  () =>
    start('upgradeJob', 'Software upgrade', {
      description: 'CHG0031442: edge routers in Bonn',
      variables: {
        ticket: 'CHG0031442',
        devices: ['edge-01', 'edge-02'],
        image: 'ios-xe-17.12.4.bin',
        scp: { user: 'images', password: 'demo-scp-password' },
      },
    }),
  () =>
    start('backupJob', 'Nightly configuration backup', {
      variables: { devices: ['edge-01', 'edge-02', 'leaf-01'], started: '2026-11-02T01:00:00Z' },
    }),
  ({ backupJob }) => report(backupJob, 'complete', { variables: { saved: 3, bytes: 181_442, unchanged: ['leaf-01'] } }),
  () => start('failedJob', 'Nightly configuration backup', { variables: { devices: ['edge-03'] } }),
  ({ failedJob }) =>
    report(failedJob, 'error', {
      error: { message: 'edge-03 does not answer on port 22', task: 'Connect', attempts: 3 },
    }),
  () =>
    start('portJob', 'Provision access port', {
      description: 'Desk 4.117',
      type: 'service request',
      variables: { switch: 'acc-12', port: 'Gi1/0/17', vlan: 210 },
      groups: ['network-operations', 'network-engineering'],
    }),
  ({ portJob }) => several('pause', portJob),
  () =>
    start('drainJob', 'Drain traffic', { description: 'Before the maintenance window', variables: { site: 'FRA2' } }),
  ({ drainJob }) => several('cancel', drainJob),
];

const edge = (state = 'success') => ({ type: 'standard', state });

/** A workflow with a task for workers and one for people, and a job that runs it. */
export const workflowSteps: readonly ((ids: Kept) => Step)[] = [
  () => ({
    method: 'POST',
    path: '/operations-manager/workflows',
    keep: ({ data }) => ({ portWorkflow: data._id }),
    body: {
      name: 'Change a port',
      description: 'A person looks at what a worker has done',
      tasks: {
        workflow_start: {},
        workflow_end: {},
        apply: {
          name: 'applyPort',
          app: 'Ports',
          type: 'automatic',
          location: 'Adapter',
          summary: 'Apply the port',
          variables: {
            incoming: { adapter_id: 'campus', port: '$var.job.port', vlan: '$var.job.vlan', password: 'demo-password' },
            outgoing: { applied: '$var.job.applied' },
          },
        },
        look: {
          name: 'ViewData',
          app: 'WorkFlowEngine',
          type: 'manual',
          summary: 'Is the port right?',
          view: '/workflow_engine/task/ViewData',
          groups: [],
          variables: { incoming: { header: 'Applied', variables: '$var.job.applied' }, outgoing: {} },
        },
      },
      transitions: {
        workflow_start: { apply: edge() },
        apply: { look: edge() },
        look: { workflow_end: edge() },
        workflow_end: {},
      },
      inputSchema: { type: 'object', required: ['port', 'vlan'], properties: { vlan: { type: 'integer' } } },
    },
  }),
  () => start('changeJob', 'Change a port', { variables: { port: 'Gi1/0/17', vlan: 210 } }),
];
