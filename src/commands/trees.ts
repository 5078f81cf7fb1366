import { Type } from 'typebox';
import { newNodeSchema, newTreeSchema, newVersionSchema, variablesSchema } from '../domain/treeSchemas.ts';
import { addNode, addVersion, create, deleteVariables, remove, setVariables, tree } from '../domain/trees.ts';
import { mayRead } from './access.ts';
import { commandsOf } from './define.ts';

const command = commandsOf(tree);
const { variables } = variablesSchema.properties;
const ofVersion = Type.Object({ version: Type.String(), variables });

/** The series of decisions on which trees there are and which of them plans refer to. */
export const treeReferences = 'treeReferences';

export const createTree = command({ name: 'createTree', input: newTreeSchema, on: 'new', decide: create });
export const addTreeVersion = command({ name: 'addTreeVersion', input: newVersionSchema, on: 'existing', decide: addVersion });
export const addTreeNode = command({ name: 'addTreeNode', input: Type.Object({ version: Type.String(), ...newNodeSchema.properties }), on: 'existing', decide: addNode });
export const setTreeVariables = command({ name: 'setTreeVariables', input: ofVersion, on: 'existing', decide: setVariables });
export const deleteTreeVariables = command({ name: 'deleteTreeVariables', input: ofVersion, on: 'existing', decide: deleteVariables });
export const deleteTree = command({
  name: 'deleteTree', input: Type.Object({}), on: 'existing', decide: remove,
  series: () => treeReferences,
  prepare: async ({ id, actor }, { query }) => {
    const plans = await query('compliancePlans', { field: 'treeId', op: 'equals', value: id });
    return { referrers: plans.map(({ name, gbac }) => ({ kind: 'compliance plan', name: mayRead(actor, gbac) ? name as string : '(hidden)' })) };
  },
});
