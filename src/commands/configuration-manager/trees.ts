import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import {
  addNode,
  addVersion,
  create,
  deleteVariables,
  type NodeReferrer,
  remove,
  sealNodeText,
  sealVariables,
  setNodeText,
  setVariables,
} from '../../domain/configuration-manager/treeChanges.ts';
import {
  identityIn,
  importOne,
  sealTree,
  treeDocuments,
  wholeTree,
} from '../../domain/configuration-manager/treeImports.ts';
import {
  importedTreeSchema,
  newNodeSchema,
  newTreeSchema,
  newVersionSchema,
  nodeTextSchema,
  variablesSchema,
} from '../../domain/configuration-manager/treeSchemas.ts';
import { type TreeState, tree } from '../../domain/configuration-manager/trees.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { plans } from '../../projections/configuration-manager/plans.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { importedId } from '../engine/imports.ts';
import { always, imported, type Kind } from '../engine/kinds.ts';
import { referrerOf } from '../engine/references.ts';

const command = commandsOf(tree);
const { variables } = variablesSchema.properties;
const ofVersion = Type.Object({ version: Type.String(), variables });

/** The lock of decisions on which trees exist and which of them plans refer to. */
export const treeReferences = 'treeReferences';

export const createTree = command({ name: 'createTree', input: newTreeSchema, on: 'new', decide: create });
export const addTreeVersion = command({
  name: 'addTreeVersion',
  input: newVersionSchema,
  on: 'existing',
  decide: addVersion,
});
export const addTreeNode = command({
  name: 'addTreeNode',
  input: Type.Object({ version: Type.String(), ...newNodeSchema.properties }),
  on: 'existing',
  decide: addNode,
});

export const setTreeNodeText = command({
  name: 'setTreeNodeText',
  input: nodeTextSchema,
  on: 'existing',
  seal: sealNodeText,
  decide: setNodeText,
});
export const setTreeVariables = command({
  name: 'setTreeVariables',
  input: ofVersion,
  on: 'existing',
  seal: sealVariables,
  decide: setVariables,
});
export const deleteTreeVariables = command({
  name: 'deleteTreeVariables',
  input: ofVersion,
  on: 'existing',
  decide: deleteVariables,
});

/** The plans that refer to the tree. Names that the actor may not see are replaced. */
const plansOf = async (id: string, actor: Actor, tools: Tools) =>
  (await tools.query(plans, { field: 'treeId', op: 'equals', value: id })).map((plan) => ({
    ...referrerOf(plans, plan, actor, tools),
    nodes: plan.nodes,
  }));

/** The nodes that plans name. */
const nodeReferrersOf = async (id: string, actor: Actor, tools: Tools): Promise<readonly NodeReferrer[]> =>
  (await plansOf(id, actor, tools)).flatMap(({ nodes, ...plan }) =>
    nodes.filter(({ treeId }) => treeId === id).map(({ version, nodeId }) => ({ ...plan, version, nodeId })),
  );

const withNodeReferrers = {
  locks: () => treeReferences,
  prepare: async ({ id, actor }: { readonly id: string; readonly actor: Actor }, tools: Tools) => ({
    nodeReferrers: await nodeReferrersOf(id, actor, tools),
  }),
};

export const deleteTree = command({
  name: 'deleteTree',
  input: noInput,
  on: 'existing',
  decide: remove,
  locks: () => treeReferences,
  prepare: async ({ id, actor }, tools) => ({ referrers: await plansOf(id, actor, tools) }),
});

/** Imports one whole tree of any installation. `treeMeant` chooses the stream. */
export const importTree = command({
  name: 'importTree',
  input: Type.Object({
    tree: importedTreeSchema,
    overwrite: Type.Optional(Type.Boolean()),
    created: Type.Optional(Type.String({ description: 'Of a tree that becomes again what it was: when it was made' })),
  }),
  on: 'any',
  decide: importOne,
  locks: () => treeReferences,
  seal: (input, state, seal, kept) => ({
    ...input,
    tree: sealTree(
      input.tree,
      state,
      kept.map(({ tree }) => tree),
      seal,
    ),
  }),
  prepare: withNodeReferrers.prepare,
});

/** Like `importedId`. An id of another form counts as the one that is derived from it. */
export const treeMeant = (document: Members, fresh: string, tools: Tools): Promise<string> =>
  importedId({ aggregate: tree, collection: trees }, identityIn(document), fresh, tools);

export const treeKind: Kind = {
  ...imported({ documents: treeDocuments, collection: trees, command: importTree, member: 'tree', meant: treeMeant }),
  restore: {
    ...always({
      command: importTree,
      method: 'importTrees',
      input: ({ tree, created }) => ({ tree, created, overwrite: true }),
      imports: true,
    }),
    whole: (state: TreeState, { created }) => ({ tree: wholeTree(state), created }),
  },
};
