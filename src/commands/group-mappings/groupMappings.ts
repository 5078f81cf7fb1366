import { create, groupMapping, groupMappingSchema, remove, update } from '../../domain/group-mappings/groupMappings.ts';
import { commandsOf } from '../engine/define.ts';
import { always, by, type Kind } from '../engine/kinds.ts';

const command = commandsOf(groupMapping);

export const createGroupMapping = command({
  name: 'createGroupMapping',
  input: groupMappingSchema,
  on: 'new',
  decide: create,
});
export const updateGroupMapping = command({
  name: 'updateGroupMapping',
  input: groupMappingSchema,
  on: 'any',
  decide: update,
});
export const deleteGroupMapping = command({
  name: 'deleteGroupMapping',
  on: 'existing',
  decide: remove,
});

export const groupMappingKind: Kind = { of: groupMapping, restore: always(by(updateGroupMapping)) };
