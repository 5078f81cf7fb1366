import { Type } from 'typebox';
import {
  addTreeChild,
  addTreeVersion,
  changeTreeNodeDevices,
  deleteTreeNode,
  deleteTreeVersion,
  renameTreeNode,
  updateTree,
  updateTreeVersion,
} from '../../commands/configuration-manager/trees.ts';
import { noInput } from '../../commands/engine/define.ts';
import { lastOf, lineAt, linesOf, nodesOf, pathOf } from '../../domain/configuration-manager/treeNodes.ts';
import {
  devicesSchema,
  newNodeSchema,
  newVersionSchema,
  nodeGroupsSchema,
  type Tree,
  type TreeNode,
  treeDetailsSchema,
  treeSchema,
  versionDetailsSchema,
} from '../../domain/configuration-manager/treeSchemas.ts';
import { maskTree, versionOf } from '../../domain/configuration-manager/trees.ts';
import { closed } from '../../domain/engine/schemas.ts';
import { deviceGroups } from '../../projections/configuration-manager/deviceGroups.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import { documentIn } from '../../projections/engine/documents.ts';
import { plain, succeeded, withStatus } from '../engine/envelopes.ts';
import type { Call, Join, Params, Route } from '../engine/route.ts';
import { getRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, success } from '../engine/schemas.ts';
import type { Service } from '../engine/service.ts';

const attributesSchema = Type.Object({
  devices: Type.Array(Type.String(), { description: 'Names of the devices in it' }),
  deviceGroups: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
    description: 'Device groups in it; one that does not exist has its name as id',
  }),
  remediationWorkflow: Type.Null({ description: 'Always null' }),
  configId: Type.String({ description: 'Id of the node' }),
});

const nodeSchema = Type.Object(
  {
    name: Type.String({ description: 'Name' }),
    attributes: attributesSchema,
    children: Type.Array(Type.Any(), { description: 'Nodes below it, of the same form' }),
  },
  { title: 'ConfigNode', description: 'Node of a version of a golden configuration tree' },
);

export const configVersionSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the tree' }),
    name: Type.String({ description: 'Name of the tree' }),
    version: Type.String({ description: 'Name of the version' }),
    deviceType: treeSchema.properties.deviceType,
    root: nodeSchema,
    variables: versionDetailsSchema.properties.variables,
  },
  { title: 'ConfigVersion', description: 'Version of a golden configuration tree' },
);

type ConfigNode = {
  readonly name: string;
  readonly attributes: object;
  readonly children: readonly ConfigNode[];
};

/** The nodes as clients read them, with the ids and names of their device groups. */
const clientNode = async (node: TreeNode, { tools, model }: Service): Promise<ConfigNode> => {
  const references = [...new Set(nodesOf(node).flatMap(({ deviceGroups = [] }) => deviceGroups))];
  const byId = await model.getMany(deviceGroups.collection, references);
  const names = new Map(byId.map((entry, i) => [references[i], entry && documentIn(deviceGroups, entry).name]));
  const others = references.filter((one) => names.get(one) === undefined);
  const any = others.map((value) => ({ field: 'name', op: 'equals', value }) as const);
  const byName = any.length > 0 ? await tools.query(deviceGroups, { any }) : [];
  const groupOf = (reference: string) => ({
    id: byName.find(({ name }) => name === reference)?._id ?? reference,
    name: names.get(reference) ?? reference,
  });
  const nodeOfTree = ({ name, configId, devices = [], deviceGroups = [], children }: TreeNode): ConfigNode => ({
    name,
    attributes: { devices, deviceGroups: deviceGroups.map(groupOf), remediationWorkflow: null, configId },
    children: children.map(nodeOfTree),
  });
  return nodeOfTree(node);
};

/** The version that the path names, as clients read it. */
export const clientVersion = async (tree: Tree, version: string, service: Service) => {
  const { _id: id, name, deviceType } = tree;
  const { root, variables } = versionOf(maskTree(tree), version);
  return { id, name, version, deviceType, root: await clientNode(root, service), variables };
};

const versionJoin: Join<Tree, Call<'version'>> = (tree, service, { params }) =>
  clientVersion(tree, params.version, service);

/** The node at a path of the version. */
const nodeOf = (tree: Tree, version: string, path: string): TreeNode =>
  lastOf(lineAt(versionOf(tree, version).root, path, 'nodePath'));

const nodeJoin: Join<Tree, Call<'version' | 'nodePath'>> = (tree, service, { params: { version, nodePath } }) =>
  clientNode(nodeOf(tree, version, nodePath), service);

/** The node with the new name: of those that have it, the lowest whose parent is on the path. Names may have slashes. */
const renamedJoin: Join<Tree, Call<'version' | 'nodePath', { readonly name: string }>> = (
  tree,
  service,
  { params: { version, nodePath }, body: { name } },
) => {
  const path = nodePath.startsWith('/') ? nodePath.slice(1) : nodePath;
  const { root } = versionOf(tree, version);
  const line = linesOf(root)
    .filter(
      ([top, ...below]) => below.at(-1)?.name === name && path.startsWith(`${pathOf([top, ...below.slice(0, -1)])}/`),
    )
    .sort((a, b) => b.length - a.length)[0];
  return clientNode(line ? lastOf(line) : root, service);
};

/** The node that was just added: it is below the node of the path. */
const childJoin: Join<Tree, Call<'version' | 'nodePath', { readonly name: string }>> = (
  tree,
  service,
  { params: { version, nodePath }, body: { name } },
) => clientNode(nodeOf(tree, version, `${nodePath}/${name}`), service);

const ofVersion = '/configs/:id/:version';
const ofNode = `${ofVersion}/:nodePath` as const;
const name = closed({ name: newNodeSchema.properties.name }, { title: 'NodeName', description: 'Name of a node' });

type OfNode = Params<'version' | 'nodePath'>;
const withNode = <Body extends object>({ version, nodePath }: OfNode, body: Body) => ({ ...body, version, nodePath });

const devicesRoute = (method: 'post' | 'delete') =>
  mappedCommandRoute({
    name: method === 'post' ? 'addTreeNodeDevices' : 'removeTreeNodeDevices',
    method,
    path: `${ofNode}/devices`,
    access: ['operators'],
    summary: method === 'post' ? 'Add devices to a node' : 'Remove devices from a node',
    description: 'Each name counts once. Devices need not be known.',
    command: changeTreeNodeDevices,
    body: devicesSchema,
    input: (params: OfNode, body) => ({ ...withNode(params, body), joins: method === 'post' }),
    join: nodeJoin,
    envelope: plain,
    answer: nodeSchema,
  });

const groupsRoute = (method: 'post' | 'delete') =>
  mappedCommandRoute({
    name: method === 'post' ? 'addTreeNodeGroups' : 'removeTreeNodeGroups',
    method,
    path: '/configs/devices/groups',
    access: ['operators'],
    summary: method === 'post' ? 'Add device groups to a node' : 'Remove device groups from a node',
    description: method === 'post' ? 'By ids or names; they must exist.' : 'By ids or names.',
    command: changeTreeNodeDevices,
    named: (_, { treeId }) => treeId,
    body: nodeGroupsSchema,
    input: (_, { version, nodePath, deviceGroups }) => ({
      version,
      nodePath,
      deviceGroups,
      joins: method === 'post',
    }),
    join: ((tree, service, { body: { version, nodePath } }) =>
      clientNode(nodeOf(tree, version, nodePath), service)) as Join<
      Tree,
      Call<never, { readonly version: string; readonly nodePath: string }>
    >,
    envelope: plain,
    answer: nodeSchema,
  });

/** Versions and nodes of golden configuration trees. */
export const treeVersionRoutes: readonly Route[] = [
  groupsRoute('post'),
  groupsRoute('delete'),
  mappedCommandRoute({
    name: 'updateTree',
    method: 'put',
    path: '/configs/:id',
    access: ['operators'],
    summary: 'Change name, description or device type of a tree',
    command: updateTree,
    body: treeDetailsSchema,
    input: (_, body) => body,
    join: async (tree: Tree) => maskTree(tree),
    envelope: withStatus(() => 'Successfully updated tree'),
    answer: changed(treeSchema),
  }),
  mappedCommandRoute({
    name: 'createTreeVersion',
    method: 'post',
    path: '/configs/:id',
    access: ['operators'],
    summary: 'Add a version to a tree',
    description: 'A copy of its base, with texts, devices and variables; its nodes have ids of their own.',
    command: addTreeVersion,
    body: newVersionSchema,
    input: (_, body) => body,
    join: ((tree, service, { body }) => clientVersion(tree, body.name, service)) as Join<
      Tree,
      Call<'id', { readonly name: string }>
    >,
    envelope: plain,
    answer: configVersionSchema,
  }),
  getRoute({
    name: 'getTreeVersion',
    method: 'get',
    path: ofVersion,
    access: ['operators', 'readers'],
    summary: 'Get a version of a golden configuration tree',
    get: trees,
    join: versionJoin,
    envelope: plain,
    answer: configVersionSchema,
  }),
  mappedCommandRoute({
    name: 'updateTreeVersion',
    method: 'put',
    path: ofVersion,
    access: ['operators'],
    summary: 'Rename a version of a tree, or replace its variables',
    description: 'Variables replace all that it had. 409 for another name of a version that a plan names.',
    command: updateTreeVersion,
    body: versionDetailsSchema,
    input: ({ version }, body) => ({ ...body, version }),
    join: ((tree, service, { params, body }) => clientVersion(tree, body.name ?? params.version, service)) as Join<
      Tree,
      Call<'id' | 'version', { readonly name?: string }>
    >,
    envelope: plain,
    answer: configVersionSchema,
  }),
  mappedCommandRoute({
    name: 'deleteTreeVersion',
    method: 'delete',
    path: ofVersion,
    access: ['operators'],
    summary: 'Delete a version of a tree that no plan names',
    description: '409 for the last version, and with the plans that name it.',
    command: deleteTreeVersion,
    body: noInput,
    input: ({ version }) => ({ version }),
    envelope: succeeded('Successfully deleted version'),
    answer: success,
  }),
  devicesRoute('post'),
  devicesRoute('delete'),
  mappedCommandRoute({
    name: 'addTreeChild',
    method: 'post',
    path: ofNode,
    access: ['operators'],
    summary: 'Add a node below the node at a path',
    description: 'The path is the names from the root, joined by /; each is percent-encoded by itself.',
    command: addTreeChild,
    body: name,
    input: withNode,
    join: childJoin,
    envelope: plain,
    answer: nodeSchema,
  }),
  mappedCommandRoute({
    name: 'renameTreeNode',
    method: 'put',
    path: ofNode,
    access: ['operators'],
    summary: 'Rename a node',
    command: renameTreeNode,
    body: name,
    input: withNode,
    join: renamedJoin,
    envelope: plain,
    answer: nodeSchema,
  }),
  mappedCommandRoute({
    name: 'deleteTreeNode',
    method: 'delete',
    path: ofNode,
    access: ['operators'],
    summary: 'Delete a node with the nodes below it',
    description: '409 for the root, and with the plans that name one of these nodes.',
    command: deleteTreeNode,
    body: noInput,
    input: ({ version, nodePath }) => ({ version, nodePath }),
    envelope: succeeded('Successfully deleted node'),
    answer: success,
  }),
];
