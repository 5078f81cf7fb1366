import type { Static } from 'typebox';
import { namesOf } from '../../domain/authorization/groups.ts';
import { create, newServiceGroupSchema, remove, serviceGroup } from '../../domain/gateway-manager/serviceGroups.ts';
import { unknownGroups } from '../authorization/names.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';

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

/** Makes a deleted group anew. One that is there says what it always said. */
export const bringBackServiceGroup = command({
  name: 'bringBackServiceGroup',
  input: newServiceGroupSchema,
  on: 'any',
  decide: (state, input, context) => (state.exists ? [] : create(state, input, context)),
  prepare,
});
export const deleteServiceGroup = command({
  name: 'deleteServiceGroup',
  input: noInput,
  on: 'existing',
  decide: remove,
});
