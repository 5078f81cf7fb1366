import { type GbacInput, groupsIn } from '../../domain/authorization/gbac.ts';
import {
  automation,
  automationPatchSchema,
  change,
  create,
  newAutomationSchema,
  remove,
  restore,
} from '../../domain/operations-manager/automations.ts';
import { unknownGroups } from '../authorization/names.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { partCommand } from '../engine/kinds.ts';
import { importing } from '../engine/locks.ts';

const command = commandsOf(automation);

/** The group names in the request that do not exist. */
const groupRefs = async ({ input }: { readonly input: { readonly gbac?: GbacInput } }, tools: Tools) => ({
  unknownGroups: await unknownGroups(tools, groupsIn(input.gbac)),
});

export const createAutomation = command({
  name: 'createAutomation',
  input: newAutomationSchema,
  on: 'new',
  prepare: groupRefs,
  decide: create,
});
export const updateAutomation = command({
  name: 'updateAutomation',
  input: automationPatchSchema,
  on: 'existing',
  locks: (_, { gbac }) => (gbac ? importing : undefined),
  prepare: groupRefs,
  decide: change,
});
export const deleteAutomation = command({
  name: 'deleteAutomation',
  on: 'existing',
  decide: remove,
});

/** Part of an import. */
export const restoreAutomation = partCommand(automation, restore);
