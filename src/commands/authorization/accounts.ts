import { Type } from 'typebox';
import {
  type AccountContent,
  type AccountEvent,
  type AccountInput,
  account,
  accountPatchSchema,
  create,
  namesFor,
  newAccountSchema,
  passwordSchema,
  provide,
  provision,
  provisionSchema,
  remove,
  requested,
  setPassword as set,
  update,
  withdraw,
} from '../../domain/authorization/accounts.ts';
import { provider } from '../../domain/authorization/providers.ts';
import type { DataOf } from '../../domain/engine/core.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import { accounts } from '../../projections/authorization/accounts.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { adminRemains, membership } from './admins.ts';
import { unknownGroups, unknownRoles, without } from './names.ts';
import { accountsOfProvider } from './providers.ts';

type Provisioned = DataOf<AccountEvent, 'accountProvisioned'>;

const command = commandsOf(account);
const none = account.initial.content;

/** The sealed hash of the password. */
const sealed = async (password: string | undefined, { hashPassword, seal }: Tools) =>
  password === undefined ? undefined : seal(await hashPassword(password));

type Asked = {
  readonly id: string;
  readonly isService: boolean;
  readonly before: AccountContent;
  readonly input: AccountInput;
  readonly password: Sealed | undefined;
};

const refsOf = async ({ id, isService, before, input, password }: Asked, tools: Tools) => {
  const { inactive, memberOf, assignedRoles } = requested(before, input);
  const loses = without(before.memberOf, memberOf).length > 0 || (inactive && !before.inactive);
  return {
    unknown: {
      groups: await unknownGroups(tools, without(memberOf, before.memberOf)),
      roles: await unknownRoles(tools, without(assignedRoles, before.assignedRoles)),
    },
    adminRemains: isService || !loses || (await adminRemains(tools, { account: id, inactive, memberOf })),
    password,
  };
};

/** The lock, if the request changes membership, roles or `inactive`. */
const locksOf = ({ memberOf, assignedRoles, inactive }: AccountInput): string | undefined =>
  memberOf || assignedRoles || inactive ? membership : undefined;

export const createAccount = command({
  name: 'createAccount',
  input: newAccountSchema,
  on: 'new',
  locks: ({ exists }, input) => (exists ? undefined : locksOf(input)),
  precompute: ({ password }, tools) => sealed(password, tools),
  prepare: ({ id, input, precomputed }, tools) =>
    refsOf({ id, isService: input.type === 'service', before: none, input, password: precomputed }, tools),
  decide: create,
});

export const updateAccount = command({
  name: 'updateAccount',
  input: accountPatchSchema,
  on: 'existing',
  locks: ({ exists }, input) => (exists ? locksOf(input) : undefined),
  precompute: ({ password }, tools) => sealed(password, tools),
  prepare: ({ id, input, state, precomputed }, tools) =>
    refsOf({ id, isService: state.isService, before: state.content, input, password: precomputed }, tools),
  decide: update,
});

export const deleteAccount = command({
  name: 'deleteAccount',
  on: 'existing',
  locks: ({ exists }) => (exists ? membership : undefined),
  prepare: async ({ id, state }, tools) => ({
    unknown: { groups: [], roles: [] },
    password: undefined,
    adminRemains: state.isService || (await adminRemains(tools, { account: id, inactive: true, memberOf: [] })),
  }),
  decide: remove,
});

/** For the account's owner, and for the command line. */
export const setPassword = command({
  name: 'setPassword',
  input: Type.Object({ password: passwordSchema }),
  on: 'existing',
  precompute: ({ password }, tools) => sealed(password, tools),
  prepare: async ({ precomputed }) => ({ password: precomputed }),
  decide: set,
});

const isThere = async ({ state }: Pick<Tools, 'state'>, name: string): Promise<boolean> =>
  (await state(provider, name)).content !== undefined;

/** The names that other accounts have, up to the first that none has. */
const takenAmong = async (names: readonly string[], { findWithin }: Tools): Promise<readonly string[]> => {
  const takenNames: string[] = [];
  for (const name of names) {
    const [owner] = await findWithin(accounts, 'username', name, [name]);
    if (owner === undefined) break;
    takenNames.push(name);
  }
  return takenNames;
};

/** For a login that an authentication provider has verified. */
export const provisionAccount = command({
  name: 'provisionAccount',
  input: provisionSchema,
  on: 'any',
  choosesNames: true,
  locks: ({ exists, externalId }, { provenance }) => {
    const takesOver = exists && externalId === undefined;
    return takesOver ? [accountsOfProvider(provenance), membership] : undefined;
  },
  prepare: async ({ id, input, state }, tools) => {
    const isProvider = await isThere(tools, input.provenance);
    if (state.externalId !== undefined) return { isProvider, takenNames: [], adminRemains: true };
    return {
      isProvider,
      takenNames: state.exists ? [] : await takenAmong(namesFor(input), tools),
      adminRemains: !state.exists || (await adminRemains(tools, { account: id, inactive: true, memberOf: [] })),
    };
  },
  decide: provision,
});

const withdrawAccount = command({
  name: 'withdrawAccount',
  on: 'any',
  prepare: async ({ state: { content } }, tools) => ({ isProvider: await isThere(tools, content.provenance) }),
  decide: withdraw,
});

const withdrawalOf = (id: string): Next => ({ command: withdrawAccount, id, input: {} });

/**
 * First logins take no turns with the deletion of their provider: a turn is an event, and one login would wait for the
 * other. So an account that was made beside the deletion goes, whichever of the two was stored first.
 */
export const accountReactions: readonly Reaction[] = [
  {
    of: account,
    on: {
      accountProvisioned: async ({ stream, data: { provenance } }: Recorded<Provisioned>, tools) =>
        (await isThere(tools, provenance)) ? [] : [withdrawalOf(splitStream(stream).id)],
    },
  },
  {
    of: provider,
    on: {
      providerDeleted: async ({ stream }: Recorded, { query }) => {
        const where = { field: 'provenance', op: 'equals', value: splitStream(stream).id } as const;
        const found = await query(accounts, where);
        return found.filter(({ externalId }) => externalId !== undefined).map(({ _id }) => withdrawalOf(_id));
      },
    },
  },
];

/** Creates the account of the first start. */
export const provideAccount = command({
  name: 'provideAccount',
  input: Type.Object({ username: Type.String(), password: passwordSchema }),
  on: 'any',
  prepare: async ({ input, state }, tools) => ({
    password: state.exists || state.deleted ? undefined : await sealed(input.password, tools),
  }),
  decide: provide,
});
