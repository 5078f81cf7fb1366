import type { Operations } from '@automation-platform/client';
import { useState } from 'preact/hooks';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { place } from './location.ts';
import { Action, Facts, Link, List, pageQuery, Section, Shown, Status, Table, Time } from './parts.ts';
import { call, may, read } from './platform.ts';

type Account = Operations['authorization.getAccounts']['answer']['results'][number];
type Token = Operations['authorization.getTokens']['answer']['results'][number];
type Rights = Operations['authorization.getAccountRights']['answer'];
type Way = Rights['adminBy'][number];

const isOfPeople = ({ resource }: { readonly resource: { readonly kind: string } | null }): boolean =>
  /account|group|role|token|mapping/i.test(resource?.kind ?? '');

const AccountList = () => {
  const { filter } = place.value.query;
  const loaded = useLoaded(
    async () => {
      const { results, total } = await read('authorization.getAccounts', {
        query: { ...pageQuery(), ...(filter && { multiContains: { name: filter } }) } as object,
      });
      return { rows: results, total };
    },
    [JSON.stringify(place.value.query)],
    { when: isOfPeople },
  );
  return html`<${List} label="Accounts" loaded=${loaded} keyOf=${(account: Account) => account._id}
    columns=${[
      {
        title: 'Account',
        kind: 'wide',
        cell: (account: Account) => html`<${Link} to=${['people', account._id]}>${account.username}</${Link}>`,
      },
      {
        title: 'State',
        cell: (account: Account) => html`<${Status} word=${account.inactive ? 'inactive' : 'active'} />`,
      },
      { title: 'From', cell: (account: Account) => account.provenance },
      { title: 'Groups', kind: 'wide', cell: (account: Account) => account.memberOf.join(', ') },
    ]} />`;
};

const Tokens = () => {
  const loaded = useLoaded(() => read('authorization.getTokens', { query: { limit: 100 } }), [], { when: isOfPeople });
  const [name, setName] = useState('');
  const [text, setText] = useState('');
  const create = async (): Promise<void> => {
    setText('');
    const { body } = await call('authorization.createToken', { body: { name } });
    setText(body.data.token ?? '');
    setName('');
    loaded.again();
  };
  const revoke = (id: string) => async (): Promise<void> => {
    await call('authorization.deleteToken', { path: { id } });
    loaded.again();
  };
  return html`<${Section} title="Tokens">
    <div class="tools"><label>Name of the token <input value=${name} onInput=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => setName(currentTarget.value)} autocomplete="off" /></label>
      <${Action} label="Create token" kind="main" disabled=${name.trim() === ''} operation="authorization.createToken" does=${create} says="The token is made." /></div>
    ${text !== '' && html`<p role="status">Copy it now, it is not shown again: <code class="code">${text}</code></p>`}
    <${Shown} loaded=${loaded}>${({
      results,
    }: {
      readonly results: readonly Token[];
    }) => html`<${Table} label="Tokens" rows=${results} keyOf=${(token: Token) => token.id} empty="There is no token."
      columns=${[
        { title: 'Token', kind: 'wide', cell: (token: Token) => token.name },
        { title: 'Account', cell: (token: Token) => token.account },
        { title: 'Expires', cell: (token: Token) => html`<${Time} at=${token.expires} />` },
        { title: 'Last used', cell: (token: Token) => token.lastUsed?.day ?? 'never' },
        {
          title: 'Change',
          cell: (token: Token) =>
            html`<${Action} label="Revoke" about=${`Revokes ${token.name}`} kind="grave" operation="authorization.deleteToken" does=${revoke(token.id)} says="The token is revoked." />`,
        },
      ]} />`}</${Shown}>
  </${Section}>`;
};

const wayWords = (way: Way): string => {
  if (way.by === 'assigned') return 'assigned to the account';
  if (way.by === 'group') return `by the group ${way.group}`;
  return `by the group ${way.group}, which ${way.externalGroup} of ${way.provenance} is mapped to`;
};

const OneAccount = ({ id }: { readonly id: string }) => {
  const account = useLoaded(() => read('authorization.getAccount', { path: { id } }), [id], { when: isOfPeople });
  const rights = useLoaded(async () => (await call('authorization.getAccountRights', { path: { id } })).body, [id], {
    when: isOfPeople,
  });
  type Role = Rights['roles'][number];
  return html`<p class="crumbs"><${Link} to=${['people']}>All accounts</${Link}></p>
    <${Shown} loaded=${account}>${(answer: unknown) => {
      const one = ((answer as { readonly data?: Account }).data ?? answer) as Account;
      return html`<div class="title"><h2>${one.username}</h2><${Status} word=${one.inactive ? 'inactive' : 'active'} /></div>
        <${Facts} facts=${[['Name', one.firstname], ['Mail', one.email], ['From', one.provenance], ['Groups', one.memberOf.join(', ')], ['External groups', one.externalGroups.join(', ')]]} />`;
    }}</${Shown}>
    <${Section} title="Why the account may do what it may"><${Shown} loaded=${rights}>${({
      admin,
      adminBy,
      roles,
    }: Rights) => html`
      ${admin && html`<p>Admin: ${adminBy.map(wayWords).join('; ')}</p>`}
      <${Table} label="Roles" rows=${roles} keyOf=${(role: Role) => role.name} empty="The account has no role."
        columns=${[
          { title: 'Role', cell: (role: Role) => role.name },
          { title: 'Way', kind: 'wide', cell: (role: Role) => role.ways.map(wayWords).join('; ') },
        ]} />`}</${Shown}></${Section}>`;
};

/** Accounts, their rights and tokens. */
export const People = () => {
  const [, id] = place.value.path;
  if (id !== undefined) return html`<${OneAccount} id=${id} />`;
  return html`${may('authorization.getAccounts') ? html`<${AccountList} />` : html`<p class="empty">Your roles do not allow you to see accounts.</p>`}
    ${may('authorization.getTokens') && html`<${Tokens} />`}`;
};
