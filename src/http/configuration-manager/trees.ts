import { exactText } from '@automation-platform/json';
import { Type } from 'typebox';
import {
  addTreeNode,
  addTreeVersion,
  createTree,
  deleteTree,
  deleteTrees,
  deleteTreeVariables,
  importTree,
  setTreeVariables,
  treeMeant,
} from '../../commands/configuration-manager/trees.ts';
import { gbacSchema } from '../../domain/authorization/gbac.ts';
import {
  exportedTree,
  missingInTree,
  publishedTree,
  textsOfTree,
} from '../../domain/configuration-manager/treeImports.ts';
import { findNode } from '../../domain/configuration-manager/treeNodes.ts';
import {
  importedTreeSchema,
  newNodeSchema,
  type Tree,
  treeNodeSchema,
  treeSchema,
  variablesSchema,
} from '../../domain/configuration-manager/treeSchemas.ts';
import { firstVersion, maskTree, tree } from '../../domain/configuration-manager/trees.ts';
import { withMembers, withoutMembers } from '../../domain/engine/exactMembers.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { closed, name } from '../../domain/engine/schemas.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import { plain, results, succeeded, withStatus } from '../engine/envelopes.ts';
import { importRoute } from '../engine/imports.ts';
import type { Call, Join, Params, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { bareOrListed, changed, success, wordsSchema } from '../engine/schemas.ts';
import { readText } from './nodeConfigs.ts';
import { clientVersion, configVersionSchema } from './treeVersions.ts';

const path = '/configs/:id';
const variables = {
  path: '/configs/variables/:treeId/:version',
  key: ({ treeId }: Params<'treeId'>) => treeId,
  body: variablesSchema,
} as const;
const withVersion = <Body extends object>({ version }: Params<'version'>, body: Body) => ({ ...body, version });

const join: Join<Tree> = async (tree) => maskTree(tree);

/**
 * The node that was just added: the last child of its parent. Version and parent exist, or the command would have
 * failed.
 */
const newest: Join<Tree, Call<'version', { readonly parent?: string }>> = async ({ versions }, _, { params, body }) => {
  const { root } = versions.find(({ name }) => name === params.version)!;
  return findNode(root, body.parent ?? root.configId)!.children.at(-1);
};

const { name: treeName, deviceType, created, lastUpdated } = treeSchema.properties;

const listedTreeSchema = Type.Object(
  {
    id: treeSchema.properties._id,
    name: treeName,
    deviceType,
    versions: Type.Array(Type.String(), { description: 'Names of the versions, the oldest first' }),
    gbac: gbacSchema,
    created,
    lastUpdated,
    tags: Type.Array(Type.String(), { description: 'Always empty' }),
  },
  { title: 'ListedTree', description: 'Golden configuration tree in the list of all' },
);

/** Golden configuration trees: versions, nodes, variables. */
export const treeRoutes: readonly Route[] = [
  listRoute({
    name: 'getTrees',
    method: 'get',
    path: '/configs',
    access: ['operators', 'readers'],
    summary: 'List golden configuration trees',
    description: 'Without a query a bare list of all, with the names of their versions.',
    list: trees,
    join,
    bare: async ({ _id, name, deviceType, versions, created, lastUpdated }) => ({
      id: _id,
      name,
      deviceType,
      versions: versions.map((version) => version.name),
      gbac: { read: [], write: [] },
      created,
      lastUpdated,
      tags: [],
    }),
    envelope: results,
    answer: bareOrListed(listedTreeSchema, treeSchema),
  }),
  commandRoute({
    name: 'createTree',
    method: 'post',
    path: '/configs',
    access: ['operators'],
    summary: 'Create a golden configuration tree',
    description: 'With one version, initial, that has a root node and no variables.',
    command: createTree,
    join: async (tree: Tree, service) => ({
      ...maskTree(tree),
      ...(await clientVersion(tree, firstVersion, service)),
    }),
    envelope: plain,
    answer: Type.Object({ ...configVersionSchema.properties, ...treeSchema.properties }, { title: 'CreatedTree' }),
  }),
  commandRoute({
    name: 'deleteTrees',
    method: 'delete',
    path: '/configs',
    access: ['operators'],
    summary: 'Delete golden configuration trees, all or none',
    description:
      'Ids that are not there are 404, naming all; 409 names the plans that refer to one. Then none is deleted.',
    command: deleteTrees,
    envelope: succeeded('Successfully deleted trees'),
    answer: success,
  }),
  mappedCommandRoute({
    name: 'setVariables',
    method: 'put',
    ...variables,
    access: ['operators'],
    summary: 'Set variables of a tree version',
    description: 'Merges: other variables stay.',
    command: setTreeVariables,
    input: withVersion,
    join,
    envelope: withStatus(() => 'Successfully set variables'),
    answer: changed(treeSchema),
  }),
  mappedCommandRoute({
    name: 'deleteVariables',
    method: 'delete',
    ...variables,
    access: ['operators'],
    summary: 'Delete variables of a tree version',
    description: 'The keys of variables say which; values are ignored. All must exist, else none is deleted.',
    command: deleteTreeVariables,
    input: withVersion,
    envelope: succeeded('Successfully deleted variables'),
    answer: success,
  }),
  getRoute({
    name: 'getTree',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get a golden configuration tree',
    get: trees,
    join,
    envelope: plain,
    answer: treeSchema,
  }),
  commandRoute({
    name: 'deleteTree',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete a golden configuration tree that no plan refers to',
    description: '409 names the plans that refer to it.',
    command: deleteTree,
    join,
    envelope: withStatus(() => 'Successfully deleted tree'),
    answer: changed(treeSchema),
  }),
  commandRoute({
    name: 'addTreeVersion',
    method: 'post',
    path: `${path}/versions`,
    deprecated: true,
    access: ['operators'],
    summary: 'Add a version to a tree',
    description: 'A copy of its base, with texts, devices and variables; its nodes have ids of their own.',
    command: addTreeVersion,
    join,
    envelope: withStatus(() => 'Successfully added version'),
    answer: changed(treeSchema),
  }),
  mappedCommandRoute({
    name: 'addTreeNode',
    method: 'post',
    path: `${path}/:version/nodes`,
    deprecated: true,
    access: ['operators'],
    summary: 'Add a node to a tree version',
    description: 'parent is the configId of the node that it goes below.',
    command: addTreeNode,
    body: newNodeSchema,
    input: withVersion,
    join: newest,
    envelope: plain,
    answer: treeNodeSchema,
  }),
];

type Take = Parameters<typeof importRoute<typeof importedTreeSchema>>[0]['take'];

const take: Take = async ({ document, path, overwrite, fresh, about }, { handle, tools }) => {
  const id = await treeMeant(document, fresh, tools);
  const { doc, position, replayed } = await handle(importTree, { ...about, id, input: { tree: document, overwrite } });
  const missingSecrets = missingInTree(document, await tools.state(tree, id), path);
  return { data: maskTree(doc as Tree), position, replayed, missingSecrets };
};

const importing = {
  method: 'post',
  access: ['operators'],
  summary: 'Import golden configuration trees',
  member: 'trees',
  title: 'TreeImport',
  itemSchema: treeSchema,
} as const;

const importTrees = importRoute({
  ...importing,
  name: 'importTrees',
  path: '/import/configs',
  description:
    'Takes what exports give, and golden configurations as other installations publish them: one document for each ' +
    'tree, with all its versions. Ids are kept. The same document again is no change; other content under a used id ' +
    'or name is 409 unless overwrite is true.',
  document: importedTreeSchema,
  take,
});

const importGoldenConfigs = importRoute({
  ...importing,
  name: 'importGoldenConfigs',
  path: '/import/goldenconfigs',
  description:
    'As the import of trees does. overWrite of a tree counts for that tree. The status is incomplete if trees were ' +
    'refused; if all were, it is the first error.',
  status: true,
  document: importedTreeSchema,
  take: async ({ document, ...about }, service, call) => {
    const { overWrite } = document;
    if (overWrite !== undefined && typeof overWrite !== 'boolean')
      throw new RequestError('invalid', 'overWrite must be true or false', { path: '/overWrite' });
    const tree = withoutMembers(document, (member) => member === 'overWrite');
    return take({ ...about, document: tree, overwrite: overWrite ?? about.overwrite }, service, call);
  },
});

const exportTree = actionRoute({
  name: 'exportTree',
  method: 'get',
  reads: true,
  path: '/configs/:id/export',
  access: ['operators', 'readers'],
  summary: 'Export a golden configuration tree',
  description:
    'The document that the import of trees takes back, with all that an import brought and the service does not know. Secrets are ' +
    'masked.',
  query: { as: wordsSchema },
  answer: importedTreeSchema,
  run: async ({ params, actor, query }, { entry, tools }) => {
    const { id } = await entry(trees, params.id, actor);
    return {
      text: exactText(exportedTree(id, await tools.state(tree, id), query.as)),
      exported: { kind: tree.category, id },
    };
  },
});

const exportGoldenConfigs = actionRoute({
  name: 'exportGoldenConfigs',
  method: 'post',
  reads: true,
  path: '/export/goldenconfigs',
  access: ['operators', 'readers'],
  summary: 'Export a golden configuration tree, a document for each version',
  description:
    'In the form in which golden configurations are published, with all that an import brought. attributes.export of a ' +
    'node has its text, and its lines, rendered with the masked variables of the version; null if that fails. The imports ' +
    'take it back.',
  body: closed({ treeId: name('Id or name of the tree') }),
  answer: Type.Object(
    {
      status: Type.Literal('success'),
      data: Type.Array(Type.Object({}, { additionalProperties: true }), { description: 'A document each version' }),
    },
    { additionalProperties: true, title: 'ExportedGoldenConfigs', description: 'Golden configuration tree' },
  ),
  run: async (call, service) => {
    const { id } = await service.entry(trees, call.body.treeId, call.actor);
    const state = await service.tools.state(tree, id);
    const lines = new Map<string, readonly unknown[]>();
    for (const { path, node, variables } of textsOfTree(state)) {
      const { template = '' } = node;
      const read = template === '' ? undefined : await readText({ template, variables }, state, call, service);
      if (read && 'lines' in read) lines.set(path, read.lines);
    }
    const document = publishedTree(id, state, lines);
    return {
      text: exactText(withMembers(document, { status: 'success' })),
      exported: { kind: tree.category, id },
    };
  },
});

/** Imports and exports of whole trees. */
export const treeTransferRoutes: readonly Route[] = [importTrees, importGoldenConfigs, exportTree, exportGoldenConfigs];
