import type { Operations } from '@automation-platform/client';
import { useState } from 'preact/hooks';
import { readVersion } from './edit.ts';
import { html, textOf } from './html.ts';
import { isOfPeople } from './live.ts';
import { useLoaded } from './loading.ts';
import {
  Action,
  AsNow,
  descriptions,
  Facts,
  Link,
  listQuery,
  rowsIn,
  Section,
  Shown,
  Status,
  Table,
  Time,
} from './parts.ts';
import { call, may, read } from './platform.ts';
import { groupNames, historyOf, idOf, type Kind, member, nameOf, roleNames } from './resource.ts';

type Account = Operations['authorization.getAccount']['answer'];
type Group = Operations['authorization.getGroup']['answer'];
type Role = Operations['authorization.getRole']['answer'];
type Mapping = Operations['group-mappings.getGroupMapping']['answer'];
type Provider = Operations['authorization.getProvider']['answer'];

const list = (names: readonly string[]): string => names.join(', ');

type Rights = Operations['authorization.getAccountRights']['answer'];
type Way = Rights['adminBy'][number];

const wayWords = (way: Way): string => {
  if (way.by === 'assigned') return 'assigned to the account';
  if (way.by === 'group') return `by the group ${way.group}`;
  return `by the group ${way.group}, which ${way.externalGroup} of ${way.provenance} is mapped to`;
};

const sourcesOf = (kind: string, found: Rights['roles']) => found.map((one) => ({ ...one, kind }));

const RightsOf = ({ row: { _id: id } }: { readonly row: Account }) => {
  const rights = useLoaded(async () => (await call('authorization.getAccountRights', { path: { id } })).body, [id], {
    when: isOfPeople,
  });
  type Source = Rights['roles'][number] & { readonly kind: string };
  return html`<${Section} title="Why the account may do what it may" tools=${html`<${AsNow} />`}><${Shown} loaded=${rights}>${({
    admin,
    adminBy,
    groups,
    roles,
    methods,
  }: Rights) => html`
    ${admin && html`<p>Admin: ${adminBy.map(wayWords).join('; ')}</p>`}
    <${Table} label="Rights" rows=${[...sourcesOf('role', roles), ...sourcesOf('group', groups)]} keyOf=${({ kind, name }: Source) => `${kind} ${name}`} empty="The account has no role, and is in no built-in group."
      columns=${[
        { title: 'Rights of', kind: 'wide', cell: ({ name }: Source) => name },
        { title: 'Kind', cell: ({ kind }: Source) => kind },
        { title: 'Way', kind: 'wide', cell: ({ ways }: Source) => ways.map(wayWords).join('; ') },
      ]} />
    <details><summary>All that it may call</summary>
      <${Facts} facts=${Object.entries(methods).map(([area, names]) => [area, list(names)])} /></details>`}</${Shown}></${Section}>`;
};

export const accounts: Kind<Account> = {
  at: ['people'],
  title: 'Accounts',
  one: 'account',
  empty: 'There is no account.',
  idOf,
  nameOf: ({ username }) => username,
  columns: [
    { title: 'State', cell: ({ inactive }) => html`<${Status} word=${inactive ? 'inactive' : 'active'} />` },
    { title: 'From', cell: ({ provenance }) => provenance },
    { title: 'Groups', kind: 'wide', cell: ({ memberOf }) => list(memberOf) },
  ],
  when: isOfPeople,
  reads: 'authorization.getAccounts',
  list: async (page, filter) =>
    rowsIn(await read('authorization.getAccounts', { query: listQuery(page, filter) })) as never,
  get: (id) => readVersion('authorization.getAccount', { path: { id } }),
  schema: async (isNew) => ({
    type: 'object',
    required: ['username'],
    properties: {
      username: member.text('User name'),
      ...(isNew && { password: member.text('Password') }),
      firstname: member.text('Name'),
      email: member.text('Mail'),
      inactive: { type: 'boolean', title: 'Inactive' },
      memberOf: member.texts('Groups', await groupNames()),
      assignedRoles: member.texts('Roles', await roleNames()),
    },
  }),
  create: {
    by: 'authorization.createAccount',
    does: async (body, headers) => (await call('authorization.createAccount', { headers, body })).body.data._id,
  },
  update: {
    by: 'authorization.updateAccount',
    does: (id, body, headers) => call('authorization.updateAccount', { path: { id }, headers, body }),
  },
  remove: {
    by: 'authorization.deleteAccount',
    does: (id) => call('authorization.deleteAccount', { path: { id } }),
  },
  facts: ({ _id, firstname, email, provenance, memberOf, externalGroups, inactive }) => [
    ['State', html`<${Status} word=${inactive ? 'inactive' : 'active'} />`],
    ['Name', firstname],
    ['Mail', email],
    ['From', provenance],
    ['Groups', list(memberOf)],
    ['External groups', list(externalGroups)],
    historyOf('account', _id),
  ],
  Parts: RightsOf,
  prefixes: ['/updates', '/user', '/account'],
};

export const groups: Kind<Group> = {
  at: ['people', 'groups'],
  title: 'Groups',
  one: 'group',
  empty: 'There is no group.',
  idOf,
  nameOf,
  columns: [
    { title: 'From', cell: ({ provenance }) => provenance },
    { title: 'Roles', kind: 'wide', cell: ({ assignedRoles }) => list(assignedRoles) },
    { title: 'Member of', cell: ({ memberOf }) => list(memberOf) },
    descriptions,
  ],
  when: isOfPeople,
  reads: 'authorization.getGroups',
  list: async (page, filter) => rowsIn(await read('authorization.getGroups', { query: listQuery(page, filter) })),
  get: (id) => readVersion('authorization.getGroup', { path: { id } }),
  schema: async () => ({
    type: 'object',
    required: ['name'],
    properties: {
      name: member.text('Name'),
      description: member.text('Description'),
      assignedRoles: member.texts('Roles', await roleNames()),
      memberOf: member.texts('Member of', await groupNames(), {
        description: 'Members of this group belong to these groups as well.',
      }),
    },
  }),
  create: {
    by: 'authorization.createGroup',
    does: async (body, headers) => (await call('authorization.createGroup', { headers, body })).body.data._id,
  },
  update: {
    by: 'authorization.updateGroup',
    does: (id, body, headers) => call('authorization.updateGroup', { path: { id }, headers, body }),
  },
  remove: { by: 'authorization.deleteGroup', does: (id) => call('authorization.deleteGroup', { path: { id } }) },
  prefixes: ['/updates', '/group'],
};

/** A method in one line, such as `operations-manager getJobs`. */
const lineOf = ({ provenance, name }: { readonly provenance: string; readonly name: string }): string =>
  `${provenance} ${name}`;
const methodsIn = (lines: unknown): readonly { readonly provenance: string; readonly name: string }[] =>
  (Array.isArray(lines) ? lines : []).map((line) => {
    const [provenance = '', name = ''] = textOf(line).trim().split(/\s+/);
    return { provenance, name };
  });
const withMethods = (members: Readonly<Record<string, unknown>>): object =>
  'allowedMethods' in members ? { ...members, allowedMethods: methodsIn(members.allowedMethods) } : members;

export const roles: Kind<Role> = {
  at: ['people', 'roles'],
  title: 'Roles',
  one: 'role',
  empty: 'There is no role.',
  idOf,
  nameOf,
  columns: [{ title: 'Methods', kind: 'number', cell: ({ allowedMethods }) => allowedMethods.length }, descriptions],
  when: isOfPeople,
  reads: 'authorization.getRoles',
  list: async (page, filter) => rowsIn(await read('authorization.getRoles', { query: listQuery(page, filter) })),
  get: async (id) => {
    const { item, revision } = await readVersion('authorization.getRole', { path: { id } });
    return { item: { ...item, allowedMethods: (item as unknown as Role).allowedMethods.map(lineOf) }, revision };
  },
  schema: async () => {
    const methods = may('authorization.getMethods')
      ? (await call('authorization.getMethods', { query: { limit: 1000 } })).body.results.map(lineOf)
      : [];
    return {
      type: 'object',
      required: ['name'],
      properties: {
        name: member.text('Name'),
        description: member.text('Description'),
        allowedMethods: member.texts('Methods', methods, {
          description: 'Each is an area and an operation, such as operations-manager getJobs.',
        }),
      },
    };
  },
  create: {
    by: 'authorization.createRole',
    does: async (members, headers) =>
      (await call('authorization.createRole', { headers, body: { allowedMethods: [], ...withMethods(members) } })).body
        .data._id,
  },
  update: {
    by: 'authorization.updateRole',
    does: (id, members, headers) =>
      call('authorization.updateRole', { path: { id }, headers, body: withMethods(members) }),
  },
  remove: { by: 'authorization.deleteRole', does: (id) => call('authorization.deleteRole', { path: { id } }) },
  prefixes: ['/updates', '/role'],
};

/** A mapping has no id: its provider and its external group are its name. */
const mappingId = ({ provenance, externalGroup }: Mapping): string => JSON.stringify([provenance, externalGroup]);
const mappingPath = (id: string) => {
  const [provenance = '', externalGroup = ''] = JSON.parse(id) as readonly string[];
  return { provenance, externalGroup };
};

/** The accounts that have an external group, so a mapping of it gives them its groups. */
const Gain = ({ provenance, externalGroup }: { readonly provenance: string; readonly externalGroup: string }) => {
  const loaded = useLoaded(
    () =>
      read('authorization.getAccounts', {
        query: { multiEquals: { provenance, externalGroups: externalGroup }, limit: 25 },
      }),
    [provenance, externalGroup],
    { when: isOfPeople },
  );
  type Found = Operations['authorization.getAccounts']['answer'];
  return html`<${Section} title="Accounts that gain by it"><${Shown} loaded=${loaded}>${({
    results,
    total,
  }: Found) => html`
    <p role="status">${total === 1 ? '1 account has' : `${total.toLocaleString('en')} accounts have`} the external group ${externalGroup} of ${provenance}.</p>
    ${
      total > 0 &&
      html`<${Table} label="Accounts that gain by it" rows=${results} keyOf=${idOf}
      columns=${[
        {
          title: 'Account',
          kind: 'wide',
          cell: (one: Found['results'][number]) => html`<${Link} to=${['people', one._id]}>${one.username}</${Link}>`,
        },
        { title: 'Groups now', kind: 'wide', cell: (one: Found['results'][number]) => list(one.memberOf) },
      ]} />`
    }`}</${Shown}></${Section}>`;
};

/** Before a mapping is made: who would gain by it. */
const WhoGains = () => {
  const [asked, ask] = useState({ provenance: '', externalGroup: '' });
  const [typed, type] = useState(asked);
  const put =
    (name: 'provenance' | 'externalGroup') =>
    ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
      type({ ...typed, [name]: currentTarget.value.trim() });
  return html`<${Section} title="Who would gain">
    <form class="tools" onSubmit=${(event: Event) => {
      event.preventDefault();
      ask(typed);
    }}>
      <label>Provider of the people <input value=${typed.provenance} onInput=${put('provenance')} autocomplete="off" /></label>
      <label>Their external group <input value=${typed.externalGroup} onInput=${put('externalGroup')} autocomplete="off" /></label>
      <button disabled=${typed.provenance === '' || typed.externalGroup === ''}>Show</button>
    </form>
    ${asked.externalGroup !== '' && html`<${Gain} ...${asked} />`}
  </${Section}>`;
};

export const mappings: Kind<Mapping> = {
  at: ['people', 'mappings'],
  title: 'Mappings',
  one: 'mapping',
  empty: 'No external group is mapped to groups of the platform.',
  idOf: mappingId,
  nameOf: ({ externalGroup }) => externalGroup,
  columns: [
    { title: 'Provider', cell: ({ provenance }) => provenance },
    { title: 'Groups of the platform', kind: 'wide', cell: ({ platformGroups }) => list(platformGroups) },
  ],
  when: isOfPeople,
  reads: 'group-mappings.getGroupMappings',
  list: async (page, filter) =>
    rowsIn(await read('group-mappings.getGroupMappings', { query: listQuery(page, filter) })) as never,
  get: (id) => readVersion('group-mappings.getGroupMapping', { path: mappingPath(id) }),
  schema: async (isNew) => ({
    type: 'object',
    required: ['provenance', 'externalGroup', 'platformGroups'],
    properties: {
      ...(isNew && {
        provenance: member.text('Provider'),
        externalGroup: member.text('External group'),
      }),
      platformGroups: member.texts('Groups of the platform', await groupNames()),
    },
  }),
  create: {
    by: 'group-mappings.createGroupMapping',
    does: async (members, headers) =>
      mappingId((await call('group-mappings.createGroupMapping', { headers, body: members as Mapping })).body.data),
  },
  update: {
    by: 'group-mappings.updateGroupMapping',
    does: (id, members, headers) =>
      call('group-mappings.updateGroupMapping', {
        path: mappingPath(id),
        headers,
        body: { updates: members as { readonly platformGroups: readonly string[] } },
      }),
  },
  remove: {
    by: 'group-mappings.deleteGroupMapping',
    does: (id) => call('group-mappings.deleteGroupMapping', { path: mappingPath(id) }),
  },
  facts: ({ provenance, platformGroups }) => [
    ['Provider', provenance],
    ['Groups of the platform', list(platformGroups)],
  ],
  Parts: ({ row }) => html`<${Gain} ...${row} />`,
  BelowNew: WhoGains,
  prefixes: ['/updates'],
};

/** Asks the provider about a person. Nothing is stored. */
const TestOf = ({ row: { name } }: { readonly row: Provider }) => {
  type Result = Operations['authorization.testProvider']['answer'];
  const [username, setUsername] = useState('');
  const [found, setFound] = useState<Result>();
  const test = async (): Promise<void> => {
    setFound(undefined);
    setFound((await call('authorization.testProvider', { path: { name }, body: { username } })).body);
  };
  return html`<${Section} title="Ask about a person">
    <div class="tools"><label>User name <input value=${username} onInput=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => setUsername(currentTarget.value)} autocomplete="off" /></label>
      <${Action} label="Test" disabled=${username.trim() === ''} operation="authorization.testProvider" does=${test} /></div>
    ${found && html`<p role="status">${found.found ? `The provider knows ${found.username ?? username}. External groups: ${list(found.externalGroups) || 'none'}. Groups of the platform: ${list(found.platformGroups) || 'none'}.` : 'The provider does not know this person.'}</p>`}
  </${Section}>`;
};

export const providers: Kind<Provider> = {
  at: ['people', 'providers'],
  title: 'Providers',
  one: 'provider',
  empty: 'Nobody logs in by a directory or by single sign-on.',
  idOf: nameOf,
  nameOf,
  columns: [
    { title: 'Kind', cell: ({ type }) => (type === 'ldap' ? 'directory' : 'single sign-on') },
    { title: 'State', cell: ({ enabled }) => html`<${Status} word=${enabled ? 'enabled' : 'disabled'} />` },
    { title: 'Order', kind: 'number', cell: ({ order }) => order },
    { title: 'Changed', cell: ({ lastUpdated }) => html`<${Time} at=${lastUpdated} />` },
  ],
  when: isOfPeople,
  reads: 'authorization.getProviders',
  list: async (page, filter) => rowsIn(await read('authorization.getProviders', { query: listQuery(page, filter) })),
  get: (name) => readVersion('authorization.getProvider', { path: { name } }),
  schema: async (isNew) => ({
    type: 'object',
    required: ['name', 'type', 'properties'],
    properties: {
      ...(isNew && {
        name: member.text('Name'),
        type: member.text('Kind', { enum: ['ldap', 'oidc'], enumNames: ['directory', 'single sign-on'] }),
      }),
      enabled: { type: 'boolean', title: 'Enabled' },
      order: { type: 'integer', title: 'Order', description: 'The least is asked first.' },
      properties: {
        type: 'json',
        title: 'Properties',
        description: 'As JSON. A secret that stays ******** is kept.',
      },
    },
  }),
  create: {
    by: 'authorization.createProvider',
    does: async (members, headers) =>
      (await call('authorization.createProvider', { headers, body: members as never })).body.data.name,
  },
  update: {
    by: 'authorization.updateProvider',
    does: (name, body, headers) => call('authorization.updateProvider', { path: { name }, headers, body }),
  },
  remove: {
    by: 'authorization.deleteProvider',
    does: (name) => call('authorization.deleteProvider', { path: { name } }),
  },
  Parts: TestOf,
};
