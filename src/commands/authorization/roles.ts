import { create, newRoleSchema, remove, role, rolePatchSchema, update } from '../../domain/authorization/roles.ts';
import { commandsOf } from '../engine/define.ts';
import { referrersOfRole } from '../references.ts';
import { membership } from './admins.ts';

const command = commandsOf(role);

export const createRole = command({
  name: 'createRole',
  input: newRoleSchema,
  on: 'new',
  prepare: async (_, tools) => ({ methods: tools.methods(), referrers: [] }),
  decide: create,
});

export const updateRole = command({
  name: 'updateRole',
  input: rolePatchSchema,
  on: 'existing',
  locks: ({ exists }, { name }) => (exists && name ? membership : undefined),
  prepare: async ({ id, input: { name }, state: { content }, actor }, tools) => ({
    methods: tools.methods(),
    referrers: name === undefined || name === content.name ? [] : await referrersOfRole(tools, content.name, id, actor),
  }),
  decide: update,
});

export const deleteRole = command({
  name: 'deleteRole',
  on: 'existing',
  locks: ({ exists }) => (exists ? membership : undefined),
  prepare: async ({ id, state, actor }, tools) => ({
    methods: [],
    referrers: await referrersOfRole(tools, state.content.name, id, actor),
  }),
  decide: remove,
});
