import {
  addTreeNode,
  addTreeVersion,
  createTree,
  deleteTree,
  deleteTreeVariables,
  setTreeVariables,
} from '../../commands/configuration-manager/trees.ts';
import {
  newNodeSchema,
  type Tree,
  treeNodeSchema,
  treeSchema,
  variablesSchema,
} from '../../domain/configuration-manager/treeSchemas.ts';
import { findNode, maskTree } from '../../domain/configuration-manager/trees.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import { plain, results, succeeded, withStatus } from '../engine/envelopes.ts';
import type { Call, Join, Params, Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, listed, success } from '../engine/schemas.ts';

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
  return findNode(root, body.parent ?? root.configId)!.node.children.at(-1);
};

/** Golden configuration trees: versions, nodes, variables. */
export const treeRoutes: readonly Route[] = [
  listRoute({
    name: 'getTrees',
    method: 'get',
    path: '/configs',
    access: ['operators', 'readers'],
    summary: 'List golden configuration trees',
    list: trees,
    join,
    envelope: results,
    answer: listed(treeSchema),
  }),
  commandRoute({
    name: 'createTree',
    method: 'post',
    path: '/configs',
    access: ['operators'],
    summary: 'Create a golden configuration tree',
    description: 'With one version, initial, that has a root node and no variables.',
    command: createTree,
    join,
    envelope: plain,
    answer: treeSchema,
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
    access: ['operators'],
    summary: 'Add a version to a tree',
    description: 'A copy of its base; nodes keep their configId.',
    command: addTreeVersion,
    join,
    envelope: withStatus(() => 'Successfully added version'),
    answer: changed(treeSchema),
  }),
  mappedCommandRoute({
    name: 'addTreeNode',
    method: 'post',
    path: `${path}/:version/nodes`,
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
