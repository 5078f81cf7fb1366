import type { Static } from 'typebox';
import { namesOf } from '../../domain/authorization/groups.ts';
import { create, newServiceGroupSchema, remove, serviceGroup } from '../../domain/gateway-manager/serviceGroups.ts';
import { unknownGroups } from '../authorization/names.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { anew, type Kind } from '../engine/kinds.ts';

const command = commandsOf(serviceGroup);

type Asked = { readonly input: Static<typeof newServiceGroupSchema> };

const prepare = async ({ input: { groups = [] } }: Asked, tools: Tools) => ({
  unknownGroups: await unknownGroups(tools, namesOf(groups)),
});

export const createServiceGroup = command({
  name: 'createServiceGroup',
  input: newServiceGroupSchema,
  on: 'new',
  decide: create,
  prepare,
});

export const deleteServiceGroup = command({
  name: 'deleteServiceGroup',
  on: 'existing',
  decide: remove,
});

export const serviceGroupKind: Kind = { of: serviceGroup, restore: anew(createServiceGroup) };
