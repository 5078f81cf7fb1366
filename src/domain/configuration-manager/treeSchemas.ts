import type { Members } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import { objectId } from '../engine/authors.ts';
import { name } from '../engine/schemas.ts';

/** A node of a golden configuration tree. */
export type TreeNode = { readonly name: string; readonly configId: string; readonly children: readonly TreeNode[] };
export type TreeVersion = {
  readonly name: string;
  readonly root: TreeNode;
  readonly variables: Readonly<Record<string, unknown>>;
};

const nodeSchema = {
  name: name('Name, unique among its siblings'),
  configId: objectId('Id of the node, the same in all versions that it was copied to'),
  children: Type.Array(Type.Any(), { description: 'Nodes below it, of the same form' }),
};
const variables = Type.Unsafe<Readonly<Record<string, unknown>>>(
  Type.Object({}, { additionalProperties: true, description: 'Variables by name' }),
);

/** A node in answers. */
export const treeNodeSchema = Type.Object(nodeSchema, {
  title: 'TreeNode',
  description: 'Node of a golden configuration tree',
});

/** A tree in answers. */
export const treeSchema = Type.Object(
  {
    _id: objectId('Id'),
    name: name('Name, unique among trees'),
    deviceType: Type.Union([Type.String(), Type.Null()], { description: 'Type of the devices that it is for' }),
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

export const newTreeSchema = Type.Object(
  {
    name: name('Name, unique among trees'),
    deviceType: Type.Optional(
      Type.Union([name('Type of device'), Type.Null()], { description: 'Type of the devices that it is for' }),
    ),
  },
  { additionalProperties: false, title: 'NewTree', description: 'New golden configuration tree' },
);
export const newVersionSchema = Type.Object(
  {
    name: name('Name, unique among the versions of the tree'),
    base: Type.Optional(name('Version that it begins as a copy of; initial unless given')),
  },
  { additionalProperties: false, title: 'NewTreeVersion', description: 'New version' },
);
export const newNodeSchema = Type.Object(
  { name: nodeSchema.name, parent: Type.Optional(name('configId of the node above it; the root unless given')) },
  { additionalProperties: false, title: 'NewTreeNode', description: 'New node' },
);
export const variablesSchema = Type.Object(
  { variables },
  { additionalProperties: false, title: 'TreeVariables', description: 'Variables of a version' },
);
