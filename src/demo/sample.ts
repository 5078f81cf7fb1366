import { agentSteps } from './agents.ts';
import { backupSteps, campusSteps, changeSteps, deviceSteps } from './devices.ts';
import { formSteps } from './forms.ts';
import { gateways } from './gateways.ts';
import { checkSteps, complianceSteps, goldenSteps, historySteps } from './golden.ts';
import { jobSteps, waitingJobSteps, workflowSteps } from './jobs.ts';
import { lifecycleSteps } from './lifecycle.ts';
import { linkSteps } from './links.ts';
import { mopSteps } from './mop.ts';
import { prebuiltSteps } from './prebuilts.ts';
import { profileSteps } from './profiles.ts';
import { projectSteps } from './projects.ts';
import { scheduledJobSteps } from './scheduledJobs.ts';
import { ago, type Kept, longAgo, type MakeStep } from './step.ts';
import { templateSteps, transformationSteps } from './templates.ts';

const groups = [
  { name: 'network-engineering', description: 'Designs and changes the network' },
  { name: 'network-operations', description: 'Runs it day and night' },
  { name: 'compliance', description: 'Looks at whether it is as it should be' },
];

const mappings = [
  ['ldap', 'CN=Network Engineering,OU=Groups,DC=example,DC=net', ['network-engineering', 'operators']],
  ['ldap', 'CN=NOC,OU=Groups,DC=example,DC=net', ['network-operations', 'operators']],
  ['ldap', 'CN=Audit,OU=Groups,DC=example,DC=net', ['compliance', 'readers']],
  ['okta', 'net/engineers', ['network-engineering']],
  ['okta', 'net/operators', ['network-operations']],
  ['azure-ad', 'Platform Admins', ['admins']],
] as const;

const object = (id: string, properties: Record<string, unknown>, required: readonly string[]) => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: id,
  type: 'object',
  properties,
  required,
});

/** Triggers of all four variants for one automation. */
const upgrade = (id: string) => [
  {
    type: 'endpoint',
    name: 'Upgrade from the ticket system',
    description: 'Called when a change ticket is approved',
    enabled: true,
    actionType: 'automations',
    actionId: id,
    verb: 'POST',
    routeName: 'software-upgrade',
    jst: null,
    schema: object(
      'upgrade-request',
      {
        ticket: { type: 'string', pattern: '^CHG[0-9]{7}$' },
        devices: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 50 },
        image: { type: 'string' },
      },
      ['ticket', 'devices', 'image'],
    ),
  },
  {
    type: 'eventSystem',
    name: 'Upgrade when a plan becomes active',
    enabled: true,
    actionType: 'automations',
    actionId: id,
    source: '@platform/configuration-manager',
    topic: 'planStatusSet',
    jst: null,
    legacyWrapper: true,
    schema: object('active', { status: { const: 'active' } }, ['status']),
  },
  {
    type: 'manual',
    name: 'Upgrade by hand',
    enabled: true,
    actionType: 'automations',
    actionId: id,
    formId: null,
    formData: { devices: ['edge-01', 'edge-02'], image: 'ios-xe-17.12.4.bin', maintenance: true },
    legacyWrapper: false,
  },
  {
    type: 'schedule',
    name: 'Upgrade on Sunday night',
    enabled: false,
    actionType: 'automations',
    actionId: id,
    formId: null,
    formData: { devices: ['lab-01'] },
    firstRunAt: Date.UTC(2027, 0, 3, 2),
    processMissedRuns: 'last',
    repeatUnit: 'week',
    repeatFrequency: 1,
    repeatInterval: 604_800_000,
  },
];

/** The sample: the steps of long ago, then the rest, each in this order. */
export const sample: readonly MakeStep[] = [
  ...groups.map((group) => () => ({ method: 'POST' as const, path: '/authorization/groups', body: group })),
  () => ({
    method: 'POST',
    path: '/authorization/roles',
    body: {
      name: 'plan-keeper',
      description: 'Keeps compliance plans',
      allowedMethods: [
        'createCompliancePlan',
        'updateCompliancePlan',
        'searchCompliancePlans',
        'getCompliancePlan',
      ].map((name) => ({ provenance: 'configuration-manager', name })),
    },
  }),
  () => ({
    method: 'POST',
    path: '/authorization/accounts',
    body: {
      username: 'nora',
      password: 'nora-demo-password',
      firstname: 'Nora',
      email: 'nora@example.net',
      memberOf: ['network-engineering', 'operators'],
    },
  }),
  () => ({
    method: 'POST',
    path: '/authorization/accounts',
    body: {
      username: 'carl',
      password: 'carl-demo-password',
      firstname: 'Carl',
      memberOf: ['compliance', 'readers'],
      assignedRoles: ['plan-keeper'],
    },
  }),
  ...mappings.map(([provenance, externalGroup, platformGroups]) => () => ({
    method: 'PATCH' as const,
    path: `/group-mappings/${encodeURIComponent(provenance)}/${encodeURIComponent(externalGroup)}`,
    body: { updates: { platformGroups } },
  })),

  () => ({
    method: 'POST',
    path: '/operations-manager/automations',
    keep: ({ data }) => ({ upgrade: data._id }),
    body: {
      name: 'Software upgrade',
      description: 'Upgrades devices one site at a time, with checks before and after',
      componentType: 'workflows',
      componentName: 'Upgrade IOS-XE',
      gbac: { write: ['network-engineering'], read: ['network-operations'] },
    },
  }),
  () => ({
    method: 'POST',
    path: '/operations-manager/automations',
    body: {
      name: 'Nightly configuration backup',
      description: 'Reads and keeps the running configuration of every device',
      componentType: 'workflows',
      componentName: 'Backup configurations',
    },
  }),
  () => ({
    method: 'POST',
    path: '/operations-manager/automations',
    body: {
      name: 'Decommission device',
      componentType: 'workflows',
      componentName: 'Decommission',
      gbac: { write: ['network-engineering'], read: [] },
    },
  }),
  ...[0, 1, 2, 3].map((i) => ({ upgrade: id = '' }: Kept) => ({
    method: 'POST' as const,
    path: '/operations-manager/triggers',
    body: upgrade(id)[i],
  })),

  ago(longAgo, () => ({
    method: 'POST',
    path: '/configuration_manager/configs',
    keep: ({ _id, versions }) => ({ edge: _id, edgeRoot: versions[0].root.configId }),
    body: { name: 'Edge routers', deviceType: 'cisco-ios-xe' },
  })),
  ago(longAgo, ({ edge }) => ({
    method: 'POST',
    path: `/configuration_manager/configs/${edge}/initial/nodes`,
    keep: ({ configId }) => ({ hardening: configId }),
    body: { name: 'Hardening' },
  })),
  ago(longAgo, ({ edge, hardening }) => ({
    method: 'POST',
    path: `/configuration_manager/configs/${edge}/initial/nodes`,
    body: { name: 'Management access', parent: hardening },
  })),
  ago(longAgo, ({ edge }) => ({
    method: 'POST',
    path: `/configuration_manager/configs/${edge}/versions`,
    body: { name: '2027-Q1' },
  })),
  ago(longAgo, ({ edge }) => ({
    method: 'PUT',
    path: `/configuration_manager/configs/variables/${edge}/initial`,
    body: {
      variables: {
        ntp_servers: ['192.0.2.10', '192.0.2.11'],
        syslog: { host: '192.0.2.20', port: 514 },
        snmp_location: 'POP',
      },
    },
  })),
  () => ({
    method: 'POST',
    path: '/configuration_manager/configs',
    keep: ({ _id }) => ({ leaves: _id }),
    body: { name: 'Data centre leaves', deviceType: 'arista-eos' },
  }),
  ({ edge, edgeRoot }) => ({
    method: 'POST',
    path: '/configuration_manager/compliance_plans',
    keep: ({ _id }) => ({ weekly: _id }),
    body: {
      name: 'Weekly edge audit',
      description: 'All edge routers against the golden configuration',
      nodes: [
        {
          treeId: edge,
          version: 'initial',
          nodeId: edgeRoot,
          variables: { snmp_location: 'POP' },
          devices: ['edge-01', 'edge-02'],
          deviceGroups: ['Edge'],
          tasks: [],
        },
      ],
    },
  }),
  ({ weekly }) => ({
    method: 'PUT',
    path: '/configuration_manager/compliance_plans',
    body: { planId: weekly, options: { status: 'active' } },
  }),
  () => ({
    method: 'POST',
    path: '/configuration_manager/compliance_plans',
    body: {
      name: 'Before the freeze',
      description: 'Still being put together',
      gbac: { write: ['compliance'], read: [] },
    },
  }),
  ...jobSteps,
  ...deviceSteps,
  ...lifecycleSteps,
  ...gateways,
  ...profileSteps,
  ...formSteps,
  ...templateSteps,
  ...prebuiltSteps,
  ...agentSteps,
  ...mopSteps,
  ...scheduledJobSteps,
  ...waitingJobSteps,
  ...workflowSteps,
  ...linkSteps,
  () => ({
    method: 'POST',
    path: '/authorization/accounts',
    body: { username: 'pipeline', type: 'service', memberOf: ['operators'] },
  }),
  () => ({ method: 'POST', path: '/authorization/tokens', body: { name: 'nightly', account: 'pipeline' } }),
  ...projectSteps,
  ...transformationSteps,
  ...goldenSteps,
  () => ({
    method: 'POST',
    path: '/authorization/providers',
    body: {
      name: 'corporate-ldap',
      type: 'ldap',
      enabled: false,
      properties: {
        urls: ['ldaps://directory.trier.example.net'],
        bindDn: 'cn=automation,ou=services,dc=example,dc=net',
        bindPassword: 'demo-bind-password',
        userBase: 'ou=people,dc=example,dc=net',
        groupBase: 'ou=groups,dc=example,dc=net',
        nestedGroups: true,
      },
    },
  }),
  ...complianceSteps,
  ...campusSteps,
  ...backupSteps,
  ...checkSteps,
  ...changeSteps,
  ...historySteps,
];
