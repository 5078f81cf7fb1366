import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { deviceGroup } from '../../domain/configuration-manager/deviceGroups.ts';
import {
  addChild,
  addNode,
  addVersion,
  changeNodeDevices,
  create,
  deleteVariables,
  type NodeReferrer,
  remove,
  removeDecided,
  removeNode,
  removeVersion,
  renameNode,
  sealNodeText,
  sealVariables,
  setNodeText,
  setVariables,
  update,
  updateVersion,
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
  nodeDevicesSchema,
  nodeTextSchema,
  treeDetailsSchema,
  variablesSchema,
  versionDetailsSchema,
} from '../../domain/configuration-manager/treeSchemas.ts';
import { type TreeState, tree, treeDeletions } from '../../domain/configuration-manager/trees.ts';
import type { Actor } from '../../domain/engine/core.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import { deviceGroups } from '../../projections/configuration-manager/deviceGroups.ts';
import { plans } from '../../projections/configuration-manager/plans.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { deleteDecided } from '../engine/deletions.ts';
import { importedId } from '../engine/imports.ts';
import { always, imported, type Kind } from '../engine/kinds.ts';
import { importing } from '../engine/locks.ts';
import type { Reaction } from '../engine/reactions.ts';
import { referrerOf } from '../engine/references.ts';

const command = commandsOf(tree);
const { variables } = variablesSchema.properties;
const ofVersion = Type.Object({ version: Type.String(), variables });

/** The lock of decisions on which trees exist and which of them plans refer to. */
export const treeReferences = 'treeReferences';

export const createTree = command({ name: 'createTree', input: newTreeSchema, on: 'new', decide: create });
export const updateTree = command({ name: 'updateTree', input: treeDetailsSchema, on: 'existing', decide: update });
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

const ofNode = { version: Type.String(), nodePath: Type.String() };
const { name } = newNodeSchema.properties;

export const addTreeChild = command({
  name: 'addTreeChild',
  input: Type.Object({ ...ofNode, name }),
  on: 'existing',
  decide: addChild,
});
export const renameTreeNode = command({
  name: 'renameTreeNode',
  input: Type.Object({ ...ofNode, name }),
  on: 'existing',
  decide: renameNode,
});

/** The device groups with these ids or names. */
const groupsNamed = async (names: readonly string[], tools: Tools) => {
  const groups = new Map<string, { readonly _id: string; readonly name: string } | undefined>();
  for (const name of names) {
    const id = await tools.find(deviceGroups, name);
    const found = id === undefined ? undefined : await tools.state(deviceGroup, id);
    groups.set(name, id !== undefined && found?.exists ? { _id: id, name: found.name } : undefined);
  }
  return groups;
};

/** The lock of decisions on which device groups exist and which of them nodes of trees name. */
export const deviceGroupReferences = 'deviceGroupReferences';

export const changeTreeNodeDevices = command({
  name: 'changeTreeNodeDevices',
  input: nodeDevicesSchema,
  on: 'existing',
  locks: (_, { deviceGroups = [] }) => (deviceGroups.length > 0 ? deviceGroupReferences : undefined),
  prepare: async ({ input: { deviceGroups = [] } }, tools) => ({ groups: await groupsNamed(deviceGroups, tools) }),
  decide: changeNodeDevices,
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

export const updateTreeVersion = command({
  name: 'updateTreeVersion',
  input: Type.Object({ version: Type.String(), ...versionDetailsSchema.properties }),
  on: 'existing',
  ...withNodeReferrers,
  seal: sealVariables,
  decide: updateVersion,
});
export const deleteTreeVersion = command({
  name: 'deleteTreeVersion',
  input: Type.Object({ version: Type.String() }),
  on: 'existing',
  ...withNodeReferrers,
  decide: removeVersion,
});
export const deleteTreeNode = command({
  name: 'deleteTreeNode',
  input: Type.Object(ofNode),
  on: 'existing',
  ...withNodeReferrers,
  decide: removeNode,
});

export const deleteTree = command({
  name: 'deleteTree',
  input: noInput,
  on: 'existing',
  decide: remove,
  locks: () => treeReferences,
  prepare: async ({ id, actor }, tools) => ({ referrers: await plansOf(id, actor, tools) }),
});

/** Part of a decision to delete trees. */
const removeTree = command({ name: 'removeTree', input: noInput, on: 'any', decide: removeDecided });

export const deleteTrees = commandsOf(treeDeletions.of)({
  name: 'deleteTrees',
  input: treeDeletions.schema,
  on: 'new',
  decide: treeDeletions.decide,
  locks: () => [importing, treeReferences],
  prepare: async ({ input, actor }, tools) => {
    const missing: string[] = [];
    const referrers = new Map<string, Referrer>();
    for (const id of new Set(input.treeIds)) {
      if (!(await tools.state(tree, id)).exists) missing.push(id);
      for (const one of await plansOf(id, actor, tools)) referrers.set(one.name, one);
    }
    return { missing, referrers: [...referrers.values()] };
  },
});

export const treeReactions: readonly Reaction[] = [deleteDecided(treeDeletions, removeTree)];

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
  seal: (input, state, seal, present) => ({
    ...input,
    tree: sealTree(
      input.tree,
      state,
      present.map(({ tree }) => tree),
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
