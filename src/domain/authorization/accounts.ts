import { type Static, Type } from 'typebox';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { refuseUnknown, type Unknown } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import type { Sealed } from '../engine/sealed.ts';
import { flag, nothing, sealed, text, texts, topicsOf } from '../engine/topics.ts';
import { refuseWithoutAdmin } from './admins.ts';
import { groupRefs, namesOf, roleRefs } from './groups.ts';

// HTTP Basic separates username and password at the first colon.
const username = Type.String({
  description: 'Name to log in with, unique among accounts; no colon',
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f\\u007f:]*$',
});
export const passwordSchema = Type.String({
  description: 'Password: 8 characters to 1024 bytes',
  minLength: 8,
  maxLength: 1024,
  writeOnly: true,
});

const members = {
  provenance: name('Authentication provider that vouches for the account'),
  firstname: Type.String({ description: 'Name to greet with', maxLength: 256 }),
  email: Type.String({ description: 'E-mail address', maxLength: 320 }),
  inactive: Type.Boolean({ description: 'True if the account may not log in' }),
  memberOf: groupRefs('Groups that the account belongs to'),
  assignedRoles: roleRefs('Roles that the account has by itself'),
  externalGroups: Type.Array(name('Name of a group at the authentication provider'), {
    description: 'Groups at the authentication provider; group mappings make groups of the platform of them',
    maxItems: 500,
  }),
};

export const newAccountSchema = Type.Object(
  {
    username,
    password: Type.Optional(passwordSchema),
    type: Type.Optional(
      Type.Literal('service', {
        description: 'An account of scripts, workers or services: it has no password, only tokens. People have no type',
      }),
    ),
    ...Type.Partial(Type.Object(members)).properties,
  },
  { additionalProperties: false, title: 'NewAccount', description: 'New account' },
);
export const accountPatchSchema = Type.Partial(Type.Object({ username, password: passwordSchema, ...members }), {
  additionalProperties: false,
  title: 'AccountPatch',
  description: 'Changes of an account',
});
export type AccountInput = Static<typeof accountPatchSchema>;

const content = Type.Object({
  username: text,
  provenance: text,
  firstname: text,
  email: text,
  inactive: flag,
  memberOf: texts,
  assignedRoles: texts,
  externalGroups: texts,
});
export type AccountContent = SchemaData<typeof content>;

const topics = topicsOf({
  /** `password` is the sealed hash. */
  accountCreated: ['An account was created', Type.Object({ ...content.properties, password: sealed })],
  serviceAccountCreated: ['An account without a password was created, for scripts, workers or services', content],
  accountUpdated: ['Members of an account changed', Type.Partial(content)],
  accountPasswordSet: ['An account got a new password', Type.Object({ password: sealed })],
  accountDeleted: ['An account was deleted', nothing],
  /** `externalId`: the id at the provider. `takenOver`: an account that an admin had made for the provider. */
  accountProvisioned: [
    'An authentication provider vouched for an account for the first time, by a login',
    Type.Object({
      provenance: text,
      username: text,
      externalId: text,
      firstname: Type.Optional(text),
      email: Type.Optional(text),
      externalGroups: texts,
      takenOver: Type.Optional(flag),
    }),
  ],
  externalGroupsChanged: [
    'A login showed that an authentication provider says something else of an account',
    Type.Object({ externalGroups: texts, firstname: Type.Optional(text), email: Type.Optional(text) }),
  ],
});
export type AccountEvent = EventOf<typeof topics>;

export type AccountState = {
  readonly exists: boolean;
  readonly deleted: boolean;
  readonly isService: boolean;
  /** The id at the provider that vouches for the account; not set for a local account. */
  readonly externalId?: string;
  readonly content: AccountContent;
};

export const blank: AccountContent = {
  username: '',
  provenance: 'local',
  firstname: '',
  email: '',
  inactive: false,
  memberOf: [],
  assignedRoles: [],
  externalGroups: [],
};

/** The username of an account that a copy of the log has forgotten. */
export const forgottenName = '(forgotten)';

export const account = aggregate<AccountState, AccountEvent>({
  area: 'authorization',
  category: 'account',
  topics,
  initial: { exists: false, deleted: false, isService: false, content: blank },
  evolve: {
    accountCreated: (_, { password: __, ...content }) => ({ exists: true, deleted: false, isService: false, content }),
    serviceAccountCreated: (_, content) => ({ exists: true, deleted: false, isService: true, content }),
    accountUpdated: (state, changed) => ({ ...state, content: { ...state.content, ...changed } }),
    accountPasswordSet: (state) => state,
    accountDeleted: ({ externalId: _, ...state }) => ({ ...state, exists: false, deleted: true }),
    accountProvisioned: ({ content }, { externalId, takenOver, ...data }) => ({
      exists: true,
      deleted: false,
      isService: false,
      externalId,
      content: { ...(takenOver ? content : blank), memberOf: [], ...data },
    }),
    externalGroupsChanged: (state, data) => ({ ...state, content: { ...state.content, ...data } }),
  },
  names: ({ exists, content }) => (exists ? [{ kind: 'account', name: content.username }] : []),
});

/** The content of an account after the request. */
export const requested = (
  before: AccountContent,
  { password: _, memberOf, assignedRoles, externalGroups, ...rest }: AccountInput,
): AccountContent => ({
  ...before,
  ...rest,
  ...defined({
    memberOf: memberOf && namesOf(memberOf),
    assignedRoles: assignedRoles && namesOf(assignedRoles),
    externalGroups: externalGroups && namesOf(externalGroups),
  }),
});

/** `password` is the sealed hash of the new password. */
export type AccountRefs = {
  readonly password: Sealed | undefined;
  readonly unknown: Unknown;
  readonly adminRemains: boolean;
};

const passwordIn = ({ password }: Pick<AccountRefs, 'password'>): Sealed => {
  if (!password) throw new RequestError('invalid', 'An account needs a password', { path: '/password' });
  return password;
};

const refusePassword = ({ isService, externalId, content: { provenance } }: AccountState): void => {
  if (externalId !== undefined)
    throw new RequestError('conflict', `${provenance} has the password of this account`, { path: '/password' });
  if (isService)
    throw new RequestError('conflict', 'A service account has no password: make it a token', { path: '/password' });
};

/** The provider and the group mappings alone say what groups an account of a provider has. */
const refuseProvided = (content: AccountContent, input: AccountInput): void => {
  const [{ provenance }, after] = [content, requested(content, input)];
  for (const member of ['provenance', 'memberOf', 'externalGroups'] as const)
    if (!same(after[member], content[member]))
      throw new RequestError('conflict', `The groups of this account come from ${provenance} and its group mappings`, {
        path: `/${member}`,
      });
};

export const create = (
  _: AccountState,
  { type, ...input }: Static<typeof newAccountSchema>,
  { refs }: Context<AccountRefs>,
): readonly AccountEvent[] => {
  if (type === 'service' && input.password !== undefined)
    throw new RequestError('invalid', 'A service account has no password', { path: '/password' });
  refuseUnknown(refs.unknown);
  const password = type === 'service' ? undefined : passwordIn(refs);
  const data = requested(blank, input);
  return password
    ? [{ topic: 'accountCreated', data: { ...data, password } }]
    : [{ topic: 'serviceAccountCreated', data }];
};

export const update = (
  state: AccountState,
  input: AccountInput,
  { refs }: Context<AccountRefs>,
): readonly AccountEvent[] => {
  const { content } = state;
  if (refs.password) refusePassword(state);
  if (state.externalId !== undefined) refuseProvided(content, input);
  refuseUnknown(refs.unknown);
  refuseWithoutAdmin(refs);
  const changes = changesBetween(content, requested(content, input));
  const events: AccountEvent[] = [];
  if (changes) events.push({ topic: 'accountUpdated', data: changes.changed });
  if (refs.password) events.push({ topic: 'accountPasswordSet', data: { password: refs.password } });
  return events;
};

export const remove = (_: AccountState, __: unknown, { refs }: Context<AccountRefs>): readonly AccountEvent[] => {
  refuseWithoutAdmin(refs);
  return [{ topic: 'accountDeleted', data: {} }];
};

export const setPassword = (
  state: AccountState,
  _: unknown,
  { refs }: Context<Pick<AccountRefs, 'password'>>,
): readonly AccountEvent[] => {
  refusePassword(state);
  return [{ topic: 'accountPasswordSet', data: { password: passwordIn(refs) } }];
};

/** Creates the admin account of the first start. No event if the account exists or ever existed. */
export const provide = (
  { exists, deleted }: AccountState,
  { username }: { readonly username: string },
  { refs }: Context<Pick<AccountRefs, 'password'>>,
): readonly AccountEvent[] =>
  exists || deleted
    ? []
    : [{ topic: 'accountCreated', data: { ...blank, username, memberOf: ['admins'], password: passwordIn(refs) } }];

/** An account that a provider vouches for, as the provider knows it. */
export const provisionSchema = Type.Object({
  provenance: text,
  username: text,
  externalId: text,
  firstname: text,
  email: text,
  externalGroups: texts,
});
export type ProvisionInput = SchemaData<typeof provisionSchema>;

/** `isProvider`: the provider is there. `takenNames`: names in question that other accounts have. */
export type ProvisionRefs = Pick<AccountRefs, 'adminRemains'> & {
  readonly isProvider: boolean;
  readonly takenNames: readonly string[];
};

/** The names that an account of a provider may have, best first. */
export const namesFor = ({ provenance, username }: ProvisionInput): readonly string[] => [
  username,
  `${provenance}\\${username}`,
];

const freeName = (input: ProvisionInput, { takenNames }: ProvisionRefs): string => {
  const free = namesFor(input).find((name) => name.length <= 256 && !takenNames.includes(name));
  if (free === undefined)
    throw new RequestError('conflict', `Other accounts have the names that ${input.provenance} has for this account`);
  return free;
};

/** Makes the account of a person at their first login, and notes later what the provider says of them. */
export const provision = (
  state: AccountState,
  input: ProvisionInput,
  { refs }: Context<ProvisionRefs>,
): readonly AccountEvent[] => {
  const { provenance, externalId, firstname, email, externalGroups } = input;
  if (!refs.isProvider)
    throw new RequestError(
      'unauthenticated',
      `There is no authentication provider ${JSON.stringify(provenance)} any more`,
    );
  if (!state.exists) return [{ topic: 'accountProvisioned', data: { ...input, username: freeName(input, refs) } }];
  const { content } = state;
  if (content.provenance !== provenance || state.isService || (state.externalId ?? externalId) !== externalId)
    throw new RequestError('conflict', 'The account is that of another person');
  if (state.externalId === undefined) {
    refuseWithoutAdmin(refs);
    return [{ topic: 'accountProvisioned', data: { ...input, username: content.username, takenOver: true } }];
  }
  const { firstname: oldName, email: oldEmail, externalGroups: oldGroups } = content;
  const changes = changesBetween(
    { firstname: oldName, email: oldEmail, externalGroups: oldGroups },
    { firstname, email, externalGroups },
  );
  return changes ? [{ topic: 'externalGroupsChanged', data: { externalGroups, ...changes.changed } }] : [];
};

/** Takes an account of a provider back that was made beside the deletion of the provider. */
export const withdraw = (
  { exists, externalId }: AccountState,
  _: unknown,
  { refs: { isProvider } }: Context<Pick<ProvisionRefs, 'isProvider'>>,
): readonly AccountEvent[] =>
  exists && externalId !== undefined && !isProvider ? [{ topic: 'accountDeleted', data: {} }] : [];
