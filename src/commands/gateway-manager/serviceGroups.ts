import { Type } from 'typebox';
import { namesOf } from '../../domain/authorization/groups.ts';
import { create, newServiceGroupSchema, remove, serviceGroup } from '../../domain/gateway-manager/serviceGroups.ts';
import { commandsOf } from '../engine/define.ts';
import { unknownNames } from '../engine/references.ts';

const command = commandsOf(serviceGroup);

export const createServiceGroup = command({
  name: 'createServiceGroup',
  input: newServiceGroupSchema,
  on: 'new',
  decide: create,
  prepare: async ({ input: { groups = [] } }, tools) => ({
    unknownGroups: await unknownNames(tools, 'groups', namesOf(groups)),
  }),
});
export const deleteServiceGroup = command({
  name: 'deleteServiceGroup',
  input: Type.Object({}),
  on: 'existing',
  decide: remove,
});
