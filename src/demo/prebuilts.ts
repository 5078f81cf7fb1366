import type { Bundle, PrebuiltDocument } from '../domain/prebuilts/prebuiltSchemas.ts';
import type { Step } from './step.ts';

const automationId = '64f0c1a2b3d4e5f6a7b8c901';
const triggerOf = (digit: string) => `64f0c1a2b3d4e5f6a7b8c91${digit}`;
const authored = {
  created: '2026-02-03T08:00:00.000Z',
  createdBy: 'vendor',
  lastUpdated: '2026-03-04T09:30:00.000Z',
  lastUpdatedBy: 'vendor',
};

const form: Bundle = {
  type: 'json-forms',
  data: {
    _id: '64f0c1a2b3d4e5f6a7b8c902',
    name: 'VLAN rollout request',
    description: 'Where the VLAN goes',
    version: '1.0.0',
    tags: ['vlan'],
    ...authored,
    struct: {
      type: 'object',
      items: [
        { nodeId: 'site', type: 'string', title: 'Site', description: 'Site code', placeholder: 'BON', required: true },
        {
          nodeId: 'vlan',
          type: 'number',
          title: 'VLAN',
          description: 'Number of the VLAN',
          placeholder: '120',
          required: true,
          minimum: 2,
          maximum: 4094,
        },
      ],
    },
    schema: {
      type: 'object',
      title: 'VLAN rollout request',
      required: ['site', 'vlan'],
      properties: {
        site: { type: 'string', pattern: '^[A-Z]{3}$' },
        vlan: { type: 'integer', minimum: 2, maximum: 4094 },
      },
    },
  },
};

const approval: Bundle = {
  type: 'forms',
  data: {
    name: 'VLAN rollout approval',
    description: 'Approved before it is rolled out',
    schema: { type: 'object', title: 'Approval', properties: { approved: { type: 'boolean' } } },
  },
};

const template: Bundle = {
  type: 'template',
  data: {
    _id: '64f0c1a2b3d4e5f6a7b8c903',
    name: 'VLAN on an access switch',
    type: 'jinja2',
    template: 'vlan {{ vlan }}\n name {{ name | upper }}\n',
    description: 'Creates the VLAN',
    group: 'Campus',
    tags: ['vlan'],
    data: { vlan: 120, name: 'cameras' },
  },
};

const checks: Bundle = {
  type: 'mop-template',
  data: {
    name: 'VLAN is there',
    description: 'After the rollout',
    os: 'cisco-ios-xe',
    passRule: true,
    commands: [
      {
        command: 'show vlan id <!vlan!>',
        passRule: true,
        rules: [{ rule: 'active', eval: 'contains', severity: 'error' }],
      },
    ],
  },
};

const comparison: Bundle = {
  type: 'mop-analytic-template',
  data: {
    name: 'VLANs before and after',
    prepostCommands: [
      {
        preRawCommand: 'show vlan brief',
        postRawCommand: 'show vlan brief',
        rules: [{ type: 'table', preRegex: '^(\\d+)\\s', evaluation: 'contains' }],
      },
    ],
  },
};

const tree: Bundle = {
  type: 'golden-config',
  data: {
    _id: '64f0c1a2b3d4e5f6a7b8c904',
    name: 'Campus access switches',
    deviceType: 'cisco-ios-xe',
    versions: [
      {
        name: 'initial',
        root: { name: 'base', configId: '64f0c1a2b3d4e5f6a7b8c941', children: [] },
        variables: { mtu: 1500 },
      },
      {
        name: '2026-Q1',
        root: {
          name: 'base',
          configId: '64f0c1a2b3d4e5f6a7b8c941',
          children: [{ name: 'VLANs', configId: '64f0c1a2b3d4e5f6a7b8c942', children: [] }],
        },
        variables: { mtu: 9000, voice_vlan: 200 },
      },
    ],
  },
};

const trigger = (digit: string, name: string, more: object) => ({
  _id: triggerOf(digit),
  name,
  description: '',
  enabled: true,
  actionType: 'automations',
  actionId: automationId,
  ...more,
});

const automation: Bundle = {
  type: 'automation',
  data: {
    _id: automationId,
    name: 'VLAN rollout',
    description: 'Brings a VLAN to all access switches of a site',
    componentType: 'mop-template',
    componentName: 'VLAN is there',
    gbac: { read: [], write: [] },
    ...authored,
    triggers: [
      trigger('1', 'Roll out by hand', {
        type: 'manual',
        formId: 'VLAN rollout request',
        formData: { site: 'BON', vlan: 120 },
      }),
      trigger('2', 'Roll out from the ticket system', {
        type: 'endpoint',
        verb: 'POST',
        routeName: 'vlan-rollout',
        schema: { type: 'object', required: ['site'] },
        jst: null,
      }),
    ],
  },
};

const demoBundles: readonly Bundle[] = [
  {
    type: 'workflow',
    data: {
      _id: '64f0c1a2b3d4e5f6a7b8c905',
      name: 'VLAN rollout',
      tasks: { workflow_start: { x: 0, y: 0 } },
      transitions: {},
    },
  },
  {
    type: 'transformation',
    data: {
      name: 'Ticket to request',
      incoming: [{ $id: 'ticket', type: 'object' }],
      outgoing: [{ $id: 'request', type: 'object' }],
      steps: [
        {
          type: 'assign',
          from: { location: 'incoming', name: 'ticket', ptr: '/site' },
          to: { location: 'outgoing', name: 'request', ptr: '/site' },
        },
      ],
      functions: [],
    },
  },
  { type: 'integration-model', data: { model: '@vendor/tickets:1.0.0' } },
  { type: 'integration', data: { name: 'tickets', virtual: true } },
];

/**
 * A package with a document of every kind. The documents name each other and are not in the order in which they can be
 * installed.
 */
export const vlanRollout: PrebuiltDocument = {
  metadata: {
    name: '@vendor/vlan-rollout',
    version: '1.4.2',
    description: 'Brings VLANs to campus sites',
    author: 'vendor',
    license: 'Apache-2.0',
    repository: { type: 'git', hostname: 'git.example.net', path: 'prebuilts/vlan-rollout' },
    PlatformDependencies: { 'automation-platform': '>=0.1.0' },
    keywords: ['campus', 'vlan'],
  },
  manifest: { bundleName: 'vlan-rollout' },
  bundles: [automation, form, approval, template, checks, comparison, tree, ...demoBundles],
  readme: '# VLAN rollout\n\nRun **Roll out by hand**, or post to `vlan-rollout`.\n',
};

/** Installs the package. */
export const prebuiltSteps: readonly (() => Step)[] = [
  () => ({
    method: 'POST',
    path: '/prebuilts/import',
    keep: ({ data }) => ({ rollout: data._id }),
    body: { prebuilt: vlanRollout },
  }),
];
