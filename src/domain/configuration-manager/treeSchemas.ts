import type { Members } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import { authored, objectId } from '../engine/authors.ts';
import { closed, name } from '../engine/schemas.ts';

/** A node of a golden configuration tree. Empty members are absent. The read models have no texts. */
export type TreeNode = {
  readonly name: string;
  readonly configId: string;
  /** Its own text, in Jinja2. */
  readonly template?: string;
  /** Names of the devices that are in it. */
  readonly devices?: readonly string[];
  /** Ids or names of device groups. */
  readonly deviceGroups?: readonly string[];
  readonly children: readonly TreeNode[];
};
export type TreeVersion = {
  readonly name: string;
  readonly root: TreeNode;
  readonly variables: Readonly<Record<string, unknown>>;
};

const nodeSchema = {
  name: name('Name, unique among its siblings'),
  configId: objectId('Id of the node'),
  children: Type.Array(Type.Any(), { description: 'Nodes below it, of the same form' }),
};
const variables = Type.Unsafe<Readonly<Record<string, unknown>>>(
  Type.Object({}, { additionalProperties: true, description: 'Variables by name' }),
);

/** A node in answers. */
export const treeNodeSchema = Type.Object(
  {
    ...nodeSchema,
    devices: Type.Optional(Type.Array(Type.String(), { description: 'Devices in it; absent if there are none' })),
    deviceGroups: Type.Optional(
      Type.Array(Type.String(), { description: 'Ids or names of the device groups in it; absent if there are none' }),
    ),
  },
  {
    title: 'TreeNode',
    description: 'Node of a golden configuration tree',
  },
);

/** A tree in answers. */
export const treeSchema = Type.Object(
  {
    _id: objectId('Id'),
    name: name('Name, unique among trees'),
    deviceType: Type.Union([Type.String(), Type.Null()], { description: 'Type of the devices that it is for' }),
    description: Type.Optional(Type.String({ description: 'Its purpose' })),
    created: authored.created,
    lastUpdated: authored.lastUpdated,
    versions: Type.Array(
      Type.Object(
        {
          name: name('Name of the version'),
          root: treeNodeSchema,
          variables,
        },
        { title: 'TreeVersion', description: 'Version of a golden configuration tree' },
      ),
      { description: 'Versions, the oldest first' },
    ),
  },
  { title: 'Tree', description: 'Golden configuration tree' },
);
export type Tree = Omit<Static<typeof treeSchema>, 'versions'> & { readonly versions: readonly TreeVersion[] };

/** A node of an imported tree in our own form. It may have further members. */
export const importedNodeSchema = Type.Object({
  name: Type.String({ description: 'Name' }),
  configId: nodeSchema.configId,
  children: nodeSchema.children,
});

const deviceType = Type.Optional(
  Type.Union([Type.String(), Type.Null()], { description: 'Type of the devices that it is for' }),
);

/** An imported tree in our own form. Any object may have further members. */
const ownTree = Type.Object(
  {
    _id: Type.Optional(Type.Unsafe<unknown>({ description: 'Id; one that has no 24 hexadecimal digits gets others' })),
    name: name('Name, unique among trees'),
    deviceType,
    description: Type.Optional(Type.Unsafe<unknown>({ description: 'Its purpose' })),
    versions: Type.Array(
      Type.Object(
        {
          name: name('Name, unique among the versions of the tree'),
          root: Type.Object({}, { additionalProperties: true, description: 'The node at the top' }),
          variables: Type.Optional(variables),
        },
        { title: 'ImportedTreeVersion', description: 'Version of a golden configuration tree' },
      ),
      { minItems: 1, description: 'Versions, the oldest first' },
    ),
  },
  { title: 'ImportedTree', description: 'Golden configuration tree, as an export gives it' },
);
export type OwnTree = Static<typeof ownTree>;

/** An imported tree in the form in which golden configurations are published. Any object may have further members. */
const publishedTree = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          treeId: Type.Optional(Type.Unsafe<unknown>({ description: 'Id of the tree, the same in all items' })),
          name: name('Name of the tree'),
          deviceType,
          description: Type.Optional(Type.Unsafe<unknown>({ description: 'Purpose of the tree' })),
          version: name('Name of the version, unique among the items'),
          root: Type.Object(
            {},
            {
              additionalProperties: true,
              description: 'The node at the top: {name, attributes: {configId}, children}',
            },
          ),
        },
        { title: 'PublishedTreeVersion', description: 'Version of a golden configuration tree' },
      ),
      { minItems: 1, description: 'Versions of one tree' },
    ),
  },
  { title: 'PublishedTree', description: 'Golden configuration tree, as installations publish it' },
);
export type PublishedTree = Static<typeof publishedTree>;

/** A tree in an import, of either form. */
export const importedTreeSchema = Type.Unsafe<Members>({
  description: 'Golden configuration tree of any installation',
  if: { type: 'object', required: ['versions'], properties: { versions: {} } },
  then: ownTree,
  else: {
    if: { type: 'object', required: ['data'], properties: { data: {} } },
    then: publishedTree,
    else: ownTree,
  },
});

export const newTreeSchema = closed(
  {
    name: name('Name, unique among trees'),
    deviceType: Type.Optional(
      Type.Union([name('Type of device'), Type.Null()], { description: 'Type of the devices that it is for' }),
    ),
    description: Type.Optional(Type.String({ description: 'Its purpose' })),
  },
  { title: 'NewTree', description: 'New golden configuration tree' },
);
export const newVersionSchema = closed(
  {
    name: name('Name, unique among the versions of the tree'),
    base: Type.Optional(name('Version that it begins as a copy of; initial unless given')),
  },
  { title: 'NewTreeVersion', description: 'New version' },
);
export const newNodeSchema = closed(
  { name: nodeSchema.name, parent: Type.Optional(name('configId of the node above it; the root unless given')) },
  { title: 'NewTreeNode', description: 'New node' },
);
export const variablesSchema = closed({ variables }, { title: 'TreeVariables', description: 'Variables of a version' });

/** The parts of a tree to change. */
export const treeDetailsSchema = Type.Partial(newTreeSchema, {
  additionalProperties: false,
  title: 'TreeDetails',
  description: 'The parts of a golden configuration tree to change',
});

/** The parts of a version to change. */
export const versionDetailsSchema = Type.Partial(Type.Object({ name: newVersionSchema.properties.name, variables }), {
  additionalProperties: false,
  title: 'TreeVersionDetails',
  description: 'The parts of a version to change; variables replace all that it had',
});

const template = Type.String({ description: 'The text, in Jinja2' });

/** A text and variables of a node in requests. */
export const nodeConfigSchema = closed(
  { template, variables: Type.Optional(variables) },
  { title: 'NodeConfig', description: 'Text of a node, and variables of its version' },
);

/** The text for a node, which the request names by its path or its id. */
export const nodeTextSchema = Type.Object({
  version: Type.String(),
  node: Type.Union([Type.Object({ path: Type.String() }), Type.Object({ configId: Type.String() })]),
  template,
  variables: Type.Optional(variables),
});

const devices = Type.Array(name('Name of a device'), { description: 'Devices; not checked', maxItems: 10_000 });
const deviceGroups = Type.Array(name('Id or name of a device group'), { description: 'Device groups', maxItems: 1000 });

export const devicesSchema = closed(
  { devices },
  { title: 'NodeDevices', description: 'Devices that join a node, or leave it' },
);
export const nodeGroupsSchema = closed(
  {
    treeId: name('Id or name of the tree'),
    version: name('Name of the version'),
    nodePath: Type.String({ minLength: 1, description: 'Names from the root, joined by /' }),
    deviceGroups,
  },
  {
    title: 'NodeDeviceGroups',
    description: 'Device groups that join a node, or leave it',
  },
);

/** Devices and device groups that join a node, or leave it. */
export const nodeDevicesSchema = Type.Object({
  version: Type.String(),
  nodePath: Type.String(),
  joins: Type.Boolean(),
  devices: Type.Optional(devices),
  deviceGroups: Type.Optional(deviceGroups),
});
