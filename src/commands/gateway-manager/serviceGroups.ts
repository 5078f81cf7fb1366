import { namesOf } from '../../domain/authorization/groups.ts';
import { create, newServiceGroupSchema, remove, serviceGroup } from '../../domain/gateway-manager/serviceGroups.ts';
import { unknownGroups } from '../authorization/names.ts';
import { commandsOf, noInput } from '../engine/define.ts';

const command = commandsOf(serviceGroup);

export const createServiceGroup = command({
  name: 'createServiceGroup',
  input: newServiceGroupSchema,
  on: 'new',
  decide: create,
  prepare: async ({ input: { groups = [] } }, tools) => ({
    unknownGroups: await unknownGroups(tools, namesOf(groups)),
  }),
});
export const deleteServiceGroup = command({
  name: 'deleteServiceGroup',
  input: noInput,
  on: 'existing',
  decide: remove,
});
