import type { Kept, Step } from './step.ts';

/** The form for the input of the automation "Software upgrade". It has an item of every kind. */
const upgrade = {
  name: 'Software upgrade request',
  description: 'A change manager fills it in before devices are upgraded',
  version: '1.2.0',
  tags: ['change', 'software'],
  struct: {
    type: 'object',
    nodeId: 'root',
    items: [
      {
        nodeId: 'ticket',
        type: 'string',
        title: 'Change ticket',
        description: 'Number of the approved change',
        placeholder: 'CHG0012345',
        required: false,
        pattern: '^CHG[0-9]{7}$',
        minLength: 10,
        maxLength: 10,
      },
      {
        nodeId: 'devices',
        type: 'array',
        title: 'Devices',
        description: 'Devices to upgrade, in this order',
        required: true,
        minItems: 1,
        maxItems: 50,
        uniqueItems: true,
        collapsed: false,
        items: [
          {
            nodeId: 'device',
            type: 'string',
            title: 'Device',
            description: 'Name in the inventory',
            placeholder: 'edge-01',
            required: true,
          },
        ],
      },
      {
        nodeId: 'image',
        type: 'string',
        title: 'Image',
        description: 'Image to boot',
        enum: ['ios-xe-17.12.4.bin', 'ios-xe-17.9.5.bin'],
        enumNames: ['17.12.4 (recommended)', '17.9.5'],
        required: true,
        radio: true,
        inline: false,
      },
      {
        nodeId: 'maintenance',
        type: 'boolean',
        title: 'Maintenance mode',
        description: 'Drain traffic first',
        default: true,
        widget: 'toggle',
        enum: [
          { id: 'yes', value: true },
          { id: 'no', value: false },
        ],
      },
      {
        nodeId: 'batch',
        type: 'number',
        title: 'Batch size',
        description: 'How many at a time',
        placeholder: '5',
        required: false,
        minimum: 1,
        maximum: 20,
        default: null,
      },
      {
        nodeId: 'plan',
        type: 'string',
        title: 'Test plan',
        description: 'Checks before and after, as PDF',
        format: 'data-url',
        required: false,
      },
    ],
  },
  schema: {
    type: 'object',
    title: 'Software upgrade request',
    required: ['devices', 'image'],
    properties: {
      ticket: { type: 'string', title: 'Change ticket', pattern: '^CHG[0-9]{7}$' },
      devices: {
        type: 'array',
        title: 'Devices',
        items: { type: 'string' },
        minItems: 1,
        maxItems: 50,
        uniqueItems: true,
      },
      image: { type: 'string', title: 'Image', enum: ['ios-xe-17.12.4.bin', 'ios-xe-17.9.5.bin'] },
      maintenance: { type: 'boolean', title: 'Maintenance mode', default: true },
      batch: { type: 'integer', title: 'Batch size', minimum: 1, maximum: 20 },
      plan: { type: 'string', title: 'Test plan', format: 'data-url' },
    },
  },
  uiSchema: {
    'ui:order': ['ticket', 'devices', 'image', 'maintenance', 'batch', 'plan'],
    image: { 'ui:widget': 'radio' },
  },
  namespace: {
    type: 'project',
    _id: '6650f1c2a4b3d2e1f0a9b8c7',
    name: 'Edge refresh',
    accessControl: { read: ['network-operations'], write: ['network-engineering'] },
  },
};

const access = {
  name: 'Access port',
  description: 'One access port of a campus switch',
  tags: ['campus'],
  struct: {
    type: 'object',
    items: [
      {
        nodeId: 'port',
        type: 'string',
        title: 'Port',
        description: 'Interface of the switch',
        placeholder: 'GigabitEthernet1/0/1',
        required: true,
      },
      {
        nodeId: 'vlan',
        type: 'number',
        title: 'VLAN',
        description: 'Access VLAN',
        placeholder: '10',
        required: true,
        minimum: 1,
        maximum: 4094,
      },
    ],
  },
  schema: {
    type: 'object',
    title: 'Access port',
    required: ['port', 'vlan'],
    properties: { port: { type: 'string', minLength: 1 }, vlan: { type: 'integer', minimum: 1, maximum: 4094 } },
  },
};

/** Forms, and a trigger that takes its input from one of them. */
export const formSteps: readonly ((ids: Kept) => Step)[] = [
  () => ({ method: 'POST', path: '/json-forms/forms', body: upgrade, keep: ({ data }) => ({ upgradeForm: data._id }) }),
  () => ({ method: 'POST', path: '/json-forms/forms', body: access }),
  () => ({ method: 'PATCH', path: '/operations-manager/triggers/Upgrade%20by%20hand', body: { formId: upgrade.name } }),
];
