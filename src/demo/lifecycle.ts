import type { Kept, Step } from './step.ts';

const models = '/lifecycle-manager/resources';
const prefix = { type: 'string', pattern: '^[0-9a-f.:]+/[0-9]{1,3}$' };

const circuit = {
  name: 'Edge circuit',
  description: 'Internet access of a site over an edge router',
  schema: {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    required: ['site', 'device', 'port', 'vlan', 'bandwidth'],
    additionalProperties: false,
    properties: {
      site: { type: 'string', pattern: '^[A-Z]{3}[0-9]{1,2}$' },
      device: { type: 'string' },
      port: { type: 'string' },
      vlan: { type: 'integer', minimum: 2, maximum: 4094 },
      bandwidth: { type: 'integer', minimum: 10, maximum: 10_000, description: 'Mbit/s' },
      prefixes: { type: 'array', items: prefix, maxItems: 64 },
      bgp: {
        type: 'object',
        required: ['as', 'neighbor'],
        properties: {
          as: { type: 'integer', minimum: 1, maximum: 4_294_967_295 },
          neighbor: { type: 'string' },
          password: { type: 'string' },
        },
      },
    },
  },
  actions: [
    {
      _id: '0c01',
      name: 'Deploy',
      type: 'create',
      workflow: 'Deploy edge circuit',
      description: 'Configures router and provider handover',
    },
    {
      _id: '0c02',
      name: 'Change bandwidth',
      type: 'update',
      workflow: 'Change circuit bandwidth',
      description: 'New policers on both ends',
    },
    { _id: '0c03', name: 'Withdraw', type: 'delete', workflow: 'Withdraw edge circuit' },
    { _id: '0c04', name: 'Take in', type: 'import', description: 'For circuits that were there before' },
    { _id: '0c05', name: 'Correct', type: 'update', description: 'Sets data without touching the network' },
  ],
};

const instances = [
  [
    'FRA2-INET-1',
    'Headquarters, first line',
    {
      site: 'FRA2',
      device: 'edge-01',
      port: 'Te0/0/1',
      vlan: 310,
      bandwidth: 1000,
      prefixes: ['198.51.100.0/28', '2001:db8:10::/56'],
      bgp: { as: 64512, neighbor: '192.0.2.1', password: 'demo-bgp-password' },
    },
  ],
  [
    'FRA2-INET-2',
    'Headquarters, second line',
    { site: 'FRA2', device: 'edge-02', port: 'Te0/0/1', vlan: 311, bandwidth: 1000, prefixes: ['198.51.100.16/28'] },
  ],
  ['BON1-INET-1', 'Branch', { site: 'BON1', device: 'edge-03', port: 'Gi0/0/4', vlan: 120, bandwidth: 200 }],
] as const;

const report = (job: string | undefined, what: string, body: object): Step => ({
  method: 'POST',
  path: `/operations-manager/jobs/${job}/${what}`,
  body,
});
const run = (body: object, keep: NonNullable<Step['keep']>): Step => ({
  method: 'POST',
  path: `${models}/Edge%20circuit/run-action`,
  keep,
  body,
});

/** A model of circuits with instances and a group. Its executions are complete, half done, done at once, and failed. */
export const lifecycleSteps: readonly ((ids: Kept) => Step)[] = [
  () => ({ method: 'POST', path: models, keep: ({ data }) => ({ model: data._id }), body: circuit }),
  ...instances.map(
    ([name, description, instanceData]) =>
      ({ model }: Kept): Step => ({
        method: 'POST',
        path: `${models}/${model}/instances`,
        body: { name, description, instanceData },
      }),
  ),
  ({ model }) => ({
    method: 'POST',
    path: `${models}/${model}/groups`,
    body: { name: 'Headquarters', description: 'Both lines of FRA2', instances: ['FRA2-INET-1', 'FRA2-INET-2'] },
  }),
  () =>
    run(
      {
        actionId: '0c01',
        instanceName: 'HAM1-INET-1',
        instanceDescription: 'New branch',
        inputs: { site: 'HAM1', device: 'edge-04', port: 'Gi0/0/2', vlan: 121, bandwidth: 100 },
      },
      ({ data }) => ({ deployJob: data.tasks[0].job }),
    ),
  ({ deployJob }) =>
    report(deployJob, 'complete', {
      variables: {
        instance: {
          site: 'HAM1',
          device: 'edge-04',
          port: 'Gi0/0/2',
          vlan: 121,
          bandwidth: 100,
          prefixes: ['203.0.113.64/29'],
        },
      },
    }),
  () =>
    run(
      {
        actionId: '0c04',
        instanceName: 'MUC3-INET-1',
        inputs: { site: 'MUC3', device: 'edge-05', port: 'Gi0/0/1', vlan: 122, bandwidth: 500 },
      },
      () => ({}),
    ),
  () =>
    run({ actionId: '0c02', instance: 'BON1-INET-1', inputs: { bandwidth: 500 } }, ({ data }) => ({
      bandwidthJob: data.tasks[0].job,
    })),
  ({ bandwidthJob }) =>
    report(bandwidthJob, 'error', { error: { message: 'edge-03 refuses the policy', task: 'Apply policer' } }),
  () =>
    run({ actionId: '0c02', group: 'Headquarters', inputs: { bandwidth: 2000 } }, ({ data }) => ({
      upgradeExecution: data._id,
      upgradeFirst: data.tasks[0].job,
    })),
  ({ upgradeFirst }) => report(upgradeFirst, 'complete', {}),
];
