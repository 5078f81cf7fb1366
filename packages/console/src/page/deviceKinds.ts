import type { Operations } from '@automation-platform/client';
import type { Members } from '@automation-platform/json';
import { readVersion } from './edit.ts';
import { html, textOf } from './html.ts';
import { descriptions, Link, listQuery, rowsIn, Section, Table, Time } from './parts.ts';
import { call, read } from './platform.ts';
import { groupNames, historyOf, idOf, type Kind, ListOf, member, nameOf } from './resource.ts';

type Inventory = Operations['inventory-manager.getInventories']['answer']['results'][number];
type Node = Operations['inventory-manager.getNodes']['answer']['results'][number];
type DeviceTemplate = Operations['configuration-manager.searchDeviceTemplates']['answer']['list'][number];
type DeviceGroup = Operations['configuration-manager.searchDeviceGroups']['answer']['results'][number];

const DeviceLink = ({ name }: { readonly name: string }) => html`<${Link} to=${['devices', name]}>${name}</${Link}>`;

/** An attribute by the first of its names that the node has. */
const attribute =
  (...names: readonly string[]) =>
  ({ attributes }: Node) =>
    textOf(names.map((name) => attributes[name]).find((value) => textOf(value) !== ''));
const inventoryAt = ['devices', '-', 'inventories'];

/** The nodes of an inventory. */
export const nodesIn = (id: string): Kind<Node> => ({
  at: [...inventoryAt, id, 'nodes'],
  title: 'Nodes',
  one: 'node',
  empty: 'The inventory has no node.',
  idOf: nameOf,
  nameOf,
  columns: [
    { title: 'Address', cell: attribute('itential_host', 'host') },
    { title: 'Platform', cell: attribute('itential_platform', 'platform') },
    { title: 'Tags', kind: 'wide', cell: ({ tags }) => tags.join(', ') },
  ],
  when: ({ resource }) => resource?.kind === 'inventory',
  reads: 'inventory-manager.getNodes',
  list: async (page, filter) =>
    rowsIn(await read('inventory-manager.getNodes', { path: { id }, query: listQuery(page, filter) })),
  // A node has the revision of its inventory, which is read first: a change in between is 412.
  get: async (node) => {
    const { revision } = await readVersion('inventory-manager.getInventory', { path: { id } });
    return { ...(await readVersion('inventory-manager.getNode', { path: { id, node } })), revision };
  },
  schema: async (isNew) => ({
    type: 'object',
    required: ['name'],
    properties: {
      ...(isNew && { name: member.text('Name') }),
      attributes: {
        type: 'json',
        title: 'Attributes',
        description: 'As JSON, such as {"itential_host": "192.0.2.1"}. ******** keeps a secret.',
      },
      tags: member.texts('Tags'),
    },
  }),
  create: {
    by: 'inventory-manager.addNodes',
    does: async (members, headers) => {
      const node = members as { readonly name: string };
      await call('inventory-manager.addNodes', { path: { id }, headers, body: { nodes: [node] } });
      return node.name;
    },
  },
  update: {
    by: 'inventory-manager.updateNode',
    does: (node, body, headers) => call('inventory-manager.updateNode', { path: { id, node }, headers, body }),
  },
  remove: {
    by: 'inventory-manager.deleteNode',
    does: (node) => call('inventory-manager.deleteNode', { path: { id, node } }),
  },
  facts: ({ name }) => [
    ['Device', html`<${DeviceLink} name=${name} />`],
    ['Inventory', html`<${Link} to=${[...inventoryAt, id]}>its inventory</${Link}>`],
  ],
  prefixes: ['/nodes/0'],
});

const NodesOf = ({ row: { _id } }: { readonly row: Inventory }) =>
  html`<${Section} title="Nodes"><${ListOf} kind=${nodesIn(_id)} /></${Section}>`;

export const inventories: Kind<Inventory> = {
  at: inventoryAt,
  title: 'Inventories',
  one: 'inventory',
  empty: 'There is no inventory that you may see.',
  idOf,
  nameOf,
  columns: [
    { title: 'Nodes', kind: 'number', cell: ({ nodeCount }) => nodeCount.toLocaleString('en') },
    { title: 'Tags', cell: ({ tags = [] }) => tags.join(', ') },
    { title: 'Groups', cell: ({ groups }) => groups.join(', ') },
    descriptions,
  ],
  when: ({ resource }) => resource?.kind === 'inventory',
  reads: 'inventory-manager.getInventories',
  list: async (page, filter) =>
    rowsIn(await read('inventory-manager.getInventories', { query: listQuery(page, filter) })),
  get: (id) => readVersion('inventory-manager.getInventory', { path: { id } }),
  schema: async () => ({
    type: 'object',
    required: ['name'],
    properties: {
      name: member.text('Name'),
      description: member.text('Description'),
      tags: member.texts('Tags'),
      groups: member.texts('Groups', await groupNames(), { description: 'Their members see the inventory.' }),
      backups: { type: 'boolean', title: 'Copy the configuration before and after each change' },
    },
  }),
  create: {
    by: 'inventory-manager.createInventory',
    does: async (members, headers) =>
      (await call('inventory-manager.createInventory', { headers, body: members as { readonly name: string } })).body
        .result._id,
  },
  update: {
    by: 'inventory-manager.updateInventory',
    does: (id, body, headers) => call('inventory-manager.updateInventory', { path: { id }, headers, body }),
  },
  remove: {
    by: 'inventory-manager.deleteInventory',
    does: (id) => call('inventory-manager.deleteInventory', { path: { id } }),
  },
  facts: ({ description, nodeCount, lastUpdated, _id }) => [
    ['Description', description],
    ['Nodes', nodeCount.toLocaleString('en')],
    ['Changed', html`<${Time} at=${lastUpdated} />`],
    historyOf('inventory', _id),
  ],
  Parts: NodesOf,
};

const DevicesOf = ({
  row: { name, devices, query },
}: {
  readonly row: DeviceGroup;
}) => html`<${Section} title="Devices" tools=${html`<${Link} isButton=${true} to=${['devices', '-', 'changes']} query=${{ group: name }}>Change these devices</${Link}>`}>
  ${query && html`<p>All devices that fit ${JSON.stringify(query)}.</p>`}
  <${Table} label="Devices" rows=${devices} keyOf=${(name: string) => name} empty="The group has no device."
    columns=${[{ title: 'Device', kind: 'wide', cell: (name: string) => html`<${DeviceLink} name=${name} />` }]} />
</${Section}>`;

export const deviceGroups: Kind<DeviceGroup> = {
  at: ['devices', '-', 'groups'],
  title: 'Device groups',
  one: 'device group',
  empty: 'There is no device group.',
  idOf,
  nameOf,
  columns: [
    { title: 'Devices', kind: 'number', cell: ({ devices }) => devices.length.toLocaleString('en') },
    { title: 'By', cell: ({ query }) => (query ? 'query' : 'list') },
    descriptions,
  ],
  when: ({ resource }) => /^(deviceGroup|inventory)/.test(resource?.kind ?? ''),
  reads: 'configuration-manager.searchDeviceGroups',
  list: async ({ skip, limit }, filter) => {
    const body = { ...(filter && { name: filter }), options: { start: skip, limit } };
    return rowsIn(await read('configuration-manager.searchDeviceGroups', { body }));
  },
  get: (id) => readVersion('configuration-manager.getDeviceGroup', { path: { id } }),
  schema: async () => ({
    type: 'object',
    required: ['name'],
    properties: {
      name: member.text('Name'),
      description: member.text('Description'),
      devices: member.texts('Devices', [], { description: 'Leave them out where a query says which.' }),
      query: {
        type: 'json',
        title: 'Query',
        description: 'As JSON, such as {"tags": ["core"], "ostype": "cisco-ios"}. It takes the place of the list.',
      },
    },
  }),
  create: {
    by: 'configuration-manager.createDeviceGroup',
    does: async (body, headers) => (await call('configuration-manager.createDeviceGroup', { headers, body })).body.id,
  },
  update: {
    by: 'configuration-manager.updateDeviceGroup',
    does: (id, body, headers) => call('configuration-manager.updateDeviceGroup', { path: { id }, headers, body }),
  },
  remove: {
    by: 'configuration-manager.deleteDeviceGroup',
    does: (id) => call('configuration-manager.deleteDeviceGroup', { path: { id } }),
  },
  Parts: DevicesOf,
  prefixes: ['/details'],
};

export const deviceTemplates: Kind<DeviceTemplate> = {
  at: ['devices', '-', 'templates'],
  title: 'Device templates',
  one: 'device template',
  empty: 'There is no device template.',
  idOf,
  nameOf,
  columns: [
    { title: 'For', kind: 'wide', cell: ({ deviceOSTypes }) => deviceOSTypes.join(', ') || 'devices of any type' },
    { title: 'Variables', kind: 'wide', cell: ({ variables }) => Object.keys(variables).join(', ') },
    { title: 'Changed', cell: ({ lastUpdated }) => html`<${Time} at=${lastUpdated} />` },
  ],
  when: ({ resource }) => /^deviceTemplate/.test(resource?.kind ?? ''),
  reads: 'configuration-manager.searchDeviceTemplates',
  list: async ({ skip, limit }, filter) => {
    const body = { ...(filter && { name: filter }), options: { start: skip, limit } };
    const { list: rows, total } = await read('configuration-manager.searchDeviceTemplates', { body });
    return { rows, total };
  },
  get: (id) => readVersion('configuration-manager.getDeviceTemplate', { path: { id } }),
  schema: async () => ({
    type: 'object',
    required: ['name', 'template'],
    properties: {
      name: member.text('Name'),
      template: member.text('Lines', {
        format: 'code',
        description: 'In Jinja2. They may name the variables, and the device as {{ device.name }}.',
      }),
      variables: {
        type: 'json',
        title: 'Variables',
        description: 'Used where a change gives no others. As JSON, such as {"vlan": 20}. ******** keeps a secret.',
      },
      deviceOSTypes: member.texts('Types of devices', [], { description: 'None: it is for devices of any type.' }),
    },
  }),
  create: {
    by: 'configuration-manager.createDeviceTemplate',
    does: async (members, headers) => {
      const body = members as { readonly name: string; readonly template: string };
      return (await call('configuration-manager.createDeviceTemplate', { headers, body })).body.data.id;
    },
  },
  update: {
    by: 'configuration-manager.updateDeviceTemplate',
    does: (id, { variables, ...data }, headers) => {
      const body = {
        id,
        data: { ...data, ...(variables !== undefined && { variables: (variables ?? {}) as Members }) },
      };
      return call('configuration-manager.updateDeviceTemplate', { headers, body });
    },
  },
  remove: {
    by: 'configuration-manager.deleteDeviceTemplates',
    does: (id) => call('configuration-manager.deleteDeviceTemplates', { body: { templateIds: [id] } }),
  },
  facts: ({ _id, lastUpdated }) => [
    ['Changed', html`<${Time} at=${lastUpdated} />`],
    [
      'Devices',
      html`<${Link} to=${['devices', '-', 'changes']} query=${{ template: _id }}>Change devices by it</${Link}>`,
    ],
    historyOf('deviceTemplate', _id),
  ],
  prefixes: ['/data'],
};
