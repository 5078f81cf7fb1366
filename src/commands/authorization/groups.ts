import { Type } from 'typebox';
import {
  create,
  group,
  groupPatchSchema,
  newGroupSchema,
  provide,
  remove,
  requested,
  update,
} from '../../domain/authorization/groups.ts';
import { commandsOf } from '../engine/define.ts';
import { by, type Kind } from '../engine/kinds.ts';
import { referrersOfGroup } from '../references.ts';
import { adminRemains, membership } from './admins.ts';
import { unknownGroups, unknownRoles, without } from './names.ts';

const command = commandsOf(group);
const none = group.initial.content;

export const createGroup = command({
  name: 'createGroup',
  input: newGroupSchema,
  on: 'new',
  locks: ({ exists }, { memberOf, assignedRoles }) => (!exists && (memberOf || assignedRoles) ? membership : undefined),
  prepare: async ({ input }, tools) => {
    const { memberOf, assignedRoles } = requested(none, input);
    return {
      unknown: {
        groups: await unknownGroups(tools, memberOf),
        roles: await unknownRoles(tools, assignedRoles),
      },
      referrers: [],
      adminRemains: true,
    };
  },
  decide: create,
});

export const updateGroup = command({
  name: 'updateGroup',
  input: groupPatchSchema,
  on: 'existing',
  locks: ({ exists }, { name, memberOf, assignedRoles, provenance }) =>
    exists && (name || memberOf || assignedRoles || provenance) ? membership : undefined,
  prepare: async ({ id, input, state: { content }, actor }, tools) => {
    const { name, memberOf, assignedRoles, provenance } = requested(content, input);
    return {
      unknown: {
        groups: await unknownGroups(tools, without(memberOf, content.memberOf)),
        roles: await unknownRoles(tools, without(assignedRoles, content.assignedRoles)),
      },
      referrers: name === content.name ? [] : await referrersOfGroup(tools, content.name, id, actor),
      adminRemains:
        (without(content.memberOf, memberOf).length === 0 && provenance === content.provenance) ||
        (await adminRemains(tools, { group: content.name, provenance, memberOf })),
    };
  },
  decide: update,
});

export const deleteGroup = command({
  name: 'deleteGroup',
  on: 'existing',
  locks: ({ exists }) => (exists ? membership : undefined),
  prepare: async ({ id, state, actor }, tools) => ({
    unknown: { groups: [], roles: [] },
    referrers: await referrersOfGroup(tools, state.content.name, id, actor),
    adminRemains: true,
  }),
  decide: remove,
});

/** Creates a built-in group at the first start. */
export const provideGroup = command({
  name: 'provideGroup',
  input: Type.Object({
    name: Type.Union([Type.Literal('admins'), Type.Literal('operators'), Type.Literal('readers')]),
  }),
  on: 'any',
  decide: provide,
});

export const groupKind: Kind = { of: group, restore: { there: by(updateGroup), deleted: by(createGroup) } };
