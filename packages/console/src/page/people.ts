import type { Operations } from '@automation-platform/client';
import { useState } from 'preact/hooks';
import { html } from './html.ts';
import { isOfPeople } from './live.ts';
import { useLoaded } from './loading.ts';
import { place } from './location.ts';
import { Action, codeOf, Link, Section, Shown, Table, Time } from './parts.ts';
import { accounts, groups, mappings, providers, roles } from './peopleKinds.ts';
import { call, may, read } from './platform.ts';
import { Resources, Tabs } from './resource.ts';

type Token = Operations['authorization.getTokens']['answer']['results'][number];

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
    ${text !== '' && html`<p role="status">Copy it now, it is not shown again: ${codeOf(text)}</p>`}
    <${Shown} loaded=${loaded}>${({
      results,
    }: {
      readonly results: readonly Token[];
    }) => html`<${Table} label="Tokens" rows=${results} keyOf=${(token: Token) => token.id} empty="There is no token."
      columns=${[
        {
          title: 'Token',
          kind: 'wide',
          cell: (token: Token) => html`<${Link} to=${['time', 'token', token.id]}>${token.name}</${Link}>`,
        },
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

const kinds = [accounts, groups, roles, mappings, providers] as const;
const tabs = kinds.map(({ title, at }) => [title, at] as const);

/** Accounts, their rights and tokens; groups, roles, mappings and providers. */
export const People = () => {
  const { path } = place.value;
  const kind = kinds.find(({ at }) => at[1] !== undefined && at[1] === path[1]) ?? accounts;
  return html`<${Tabs} tabs=${tabs} /><${Resources} kind=${kind} />
    ${path.length === 1 && may('authorization.getTokens') && html`<${Tokens} />`}`;
};
