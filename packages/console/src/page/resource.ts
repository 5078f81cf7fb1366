import type { Operations } from '@automation-platform/client';
import type { Members } from '@automation-platform/json';
import type { ComponentType } from 'preact';
import { Editor, type Version } from './edit.ts';
import { type Children, html } from './html.ts';
import type { PlatformEvent } from './live.ts';
import { useLoaded } from './loading.ts';
import { goTo, place } from './location.ts';
import {
  Action,
  type Column,
  Facts,
  Link,
  List,
  type Listed,
  pageQuery,
  type Rows,
  rowsIn,
  Section,
  Shown,
  say,
} from './parts.ts';
import { may, read } from './platform.ts';

type Headers = Readonly<Record<string, string>>;
type Name = keyof Operations;

/** Resources of a kind: a list, one of them, a new one. */
export type Kind<Row> = {
  /** The path of the list. Those of its resources are below it. */
  readonly at: readonly string[];
  readonly title: string;
  /** One of them, in a sentence. */
  readonly one: string;
  readonly empty: string;
  readonly idOf: (row: Row) => string;
  readonly nameOf: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
  /** Events after which the lists are stale. */
  readonly when: (event: PlatformEvent) => boolean;
  readonly reads: Name;
  readonly list: (page: ReturnType<typeof pageQuery>, filter: string | undefined) => Promise<Rows<Row>>;
  readonly get: (id: string) => Promise<Version>;
  readonly schema: (isNew: boolean) => Promise<Members>;
  readonly create?: { readonly by: Name; readonly does: (members: Members, headers: Headers) => Promise<string> };
  readonly update: {
    readonly by: Name;
    readonly does: (id: string, members: Members, headers: Headers) => Promise<unknown>;
  };
  readonly remove: { readonly by: Name; readonly does: (id: string) => Promise<unknown> };
  readonly facts?: (row: Row) => readonly (readonly [string, Children])[];
  /** Of one: shown before the form. */
  readonly Parts?: ComponentType<{ readonly row: Row }>;
  /** Of a new one: shown below the form. */
  readonly BelowNew?: ComponentType;
  readonly prefixes?: readonly string[];
};

type Props<Row> = { readonly kind: Kind<Row> };

/** The first hundred of a kind; none if the caller may not read them. */
export const firstRows = async <Row>({ reads, list }: Kind<Row>): Promise<readonly Row[]> =>
  may(reads) ? (await list({ skip: 0, limit: 100 }, undefined)).rows : [];

/** The list of a kind, of the page that the address says. */
export const ListOf = <Row>({ kind }: Props<Row>) => {
  const { filter } = place.value.query;
  const loaded = useLoaded(() => kind.list(pageQuery(), filter || undefined), [JSON.stringify(place.value.query)], {
    when: kind.when,
  });
  const name: Column<Row> = {
    title: kind.one[0]?.toUpperCase() + kind.one.slice(1),
    kind: 'wide',
    sort: 'name',
    cell: (row) => html`<${Link} to=${[...kind.at, kind.idOf(row)]}>${kind.nameOf(row)}</${Link}>`,
  };
  return html`<${List} label=${kind.title} loaded=${loaded} keyOf=${kind.idOf} empty=${kind.empty} columns=${[name, ...kind.columns]}
    tools=${kind.create && may(kind.create.by) && html`<${Link} isButton=${true} to=${[...kind.at, 'new']}>New ${kind.one}</${Link}>`} />`;
};

const Crumbs = <Row>({ kind }: Props<Row>) =>
  html`<p class="crumbs"><${Link} to=${kind.at}>All ${kind.title.toLowerCase()}</${Link}></p>`;

const unmade: Version = { item: {}, revision: undefined };

const NewOf = <Row>({ kind }: Props<Row>) => {
  const schema = useLoaded(() => kind.schema(true), []);
  const create = async (members: Members, headers: Headers): Promise<void> => {
    const id = await kind.create?.does(members, headers);
    goTo(id === undefined ? kind.at : [...kind.at, id]);
  };
  return html`<${Crumbs} kind=${kind} /><div class="title"><h2>New ${kind.one}</h2></div>
    <${Shown} loaded=${schema}>${(
      shape: Members,
    ) => html`<${Editor} label=${`New ${kind.one}`} schema=${shape} version=${unmade}
      operation=${kind.create?.by} send=${create} saved=${() => undefined} says=${`The ${kind.one} is made.`} prefixes=${kind.prefixes} />`}</${Shown}>
    ${kind.BelowNew && html`<${kind.BelowNew} />`}`;
};

const One = <Row>({ kind, id }: Props<Row> & { readonly id: string }) => {
  const reload = () => kind.get(id);
  const loaded = useLoaded(reload, [id], { when: kind.when });
  const schema = useLoaded(() => kind.schema(false), []);
  const remove = async (): Promise<void> => {
    await kind.remove.does(id);
    say(`The ${kind.one} is deleted.`);
    goTo(kind.at);
  };
  const save = (members: Members, headers: Headers) => kind.update.does(id, members, headers);
  return html`<${Crumbs} kind=${kind} />
    <${Shown} loaded=${loaded}>${(version: Version) => {
      const row = version.item as unknown as Row;
      const name = kind.nameOf(row);
      return html`<div class="title"><h2>${name}</h2>
          <span class="actions"><${Action} label="Delete" kind="grave" about=${`Deletes the ${kind.one} ${name}`} operation=${kind.remove.by} does=${remove} /></span></div>
        ${kind.facts && html`<${Facts} facts=${kind.facts(row)} />`}
        ${kind.Parts && html`<${kind.Parts} row=${row} />`}
        <${Section} title="Change"><${Shown} loaded=${schema}>${(
          shape: Members,
        ) => html`<${Editor} label=${`Change ${name}`} schema=${shape} version=${version}
          operation=${kind.update.by} send=${save} reload=${reload} saved=${loaded.again} says=${`The ${kind.one} is saved.`} prefixes=${kind.prefixes} />`}</${Shown}></${Section}>`;
    }}</${Shown}>`;
};

/** The view of a kind, by the address. */
export const Resources = <Row>({ kind }: Props<Row>) => {
  const id = place.value.path[kind.at.length];
  if (!may(kind.reads))
    return html`<p class="empty">Your roles do not allow you to see ${kind.title.toLowerCase()}.</p>`;
  if (id === undefined) return html`<${ListOf} kind=${kind} />`;
  return id === 'new' && kind.create ? html`<${NewOf} kind=${kind} />` : html`<${One} kind=${kind} id=${id} />`;
};

/** Links between the lists of a view. */
export const Tabs = ({ tabs }: { readonly tabs: readonly (readonly [title: string, path: readonly string[]])[] }) => {
  const now = place.value.path;
  const isAbove = (path: readonly string[]): boolean => path.every((part, n) => part === now[n]);
  const depth = Math.max(...tabs.map(([, path]) => (isAbove(path) ? path.length : 0)));
  return html`<ul class="tabs">${tabs.map(
    ([title, path]) =>
      html`<li key=${title}><${Link} to=${path} isHere=${path.length === depth && isAbove(path)}>${title}</${Link}></li>`,
  )}</ul>`;
};

export const idOf = ({ _id }: { readonly _id: string }): string => _id;
export const nameOf = ({ name }: { readonly name: string }): string => name;

/** The first names of a list, to choose from; none if the caller may not read it. */
const firstNames = async (
  operation: Name,
  load: (page: { readonly limit: number; readonly sort: 'name' }) => Promise<Listed<{ readonly name: string }>>,
): Promise<readonly string[]> =>
  may(operation) ? rowsIn(await load({ limit: 100, sort: 'name' })).rows.map(nameOf) : [];

export const groupNames = () =>
  firstNames('authorization.getGroups', (query) => read('authorization.getGroups', { query }));
export const roleNames = () =>
  firstNames('authorization.getRoles', (query) => read('authorization.getRoles', { query }));
export const workflowNames = () =>
  firstNames('operations-manager.getWorkflows', (query) => read('operations-manager.getWorkflows', { query }));

/** The fact that leads to the changes of a resource. */
export const historyOf = (kind: string, id: string): readonly [string, Children] => [
  'History',
  may('audit.getAuditResource') && html`<${Link} to=${['time', kind, id]}>its changes</${Link}>`,
];

const text = (title: string, more: object = {}) => ({ type: 'string', title, ...more });
const texts = (title: string, examples: readonly string[] = [], more: object = {}) => ({
  type: 'array',
  title,
  items: { type: 'string', examples },
  ...more,
});

/** Members of forms. */
export const member = { text, texts };
