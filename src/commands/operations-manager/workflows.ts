import { Type } from 'typebox';
import type { Seal } from '../../domain/engine/secretFields.ts';
import {
  create,
  remove,
  replace,
  sealWorkflow,
  type WorkflowState,
  workflow,
} from '../../domain/operations-manager/workflow.ts';
import { workflows } from '../../projections/operations-manager/workflows.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { referrersOfComponent } from './components.ts';

const command = commandsOf(workflow);

/** The id of the workflow that a name means in an automation, a start or a task. Throws `conflict` if it means several. */
export const workflowMeant = (idOrName: string, { find }: Pick<Tools, 'find'>): Promise<string | undefined> =>
  find(workflows, idOrName);

/** The body is the document itself: its form is checked by the decision. */
const document = Type.Object(
  {},
  { additionalProperties: true, title: 'WorkflowDocument', description: 'A workflow as published documents are' },
);

const seal = (input: object, state: WorkflowState, sealOne: Seal): object => sealWorkflow(input, state, sealOne);

export const createWorkflow = command({ name: 'createWorkflow', input: document, on: 'new', seal, decide: create });

export const replaceWorkflow = command({
  name: 'replaceWorkflow',
  input: document,
  on: 'existing',
  seal,
  decide: replace,
});

export const deleteWorkflow = command({
  name: 'deleteWorkflow',
  input: noInput,
  on: 'existing',
  prepare: async ({ id, state, actor }, tools) => ({
    referrers: await referrersOfComponent(tools, 'workflows', [id, state.content.name], actor),
  }),
  decide: remove,
});
