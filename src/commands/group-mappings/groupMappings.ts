import { Type } from 'typebox';
import { create, groupMapping, groupMappingSchema, remove, update } from '../../domain/group-mappings/groupMappings.ts';
import { commandsOf } from '../engine/define.ts';

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
  input: Type.Object({}),
  on: 'existing',
  decide: remove,
});
