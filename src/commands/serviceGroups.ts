import { Type } from 'typebox';
import { namesOf } from '../domain/groups.ts';
import { create, newServiceGroupSchema, remove, serviceGroup } from '../domain/serviceGroups.ts';
import { commandsOf } from './define.ts';
import { unknownNames } from './references.ts';

const command = commandsOf(serviceGroup);

export const createServiceGroup = command({
  name: 'createServiceGroup', input: newServiceGroupSchema, on: 'new', decide: create,
  prepare: async ({ input: { groups = [] } }, tools) => ({ unknownGroups: await unknownNames(tools, 'groups', namesOf(groups)) }),
});
export const deleteServiceGroup = command({ name: 'deleteServiceGroup', input: Type.Object({}), on: 'existing', decide: remove });
