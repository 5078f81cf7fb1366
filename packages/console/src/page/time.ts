import type { Operations } from '@automation-platform/client';
import { useState } from 'preact/hooks';
import { textOf } from './fields.ts';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { asOf, goTo, linkTo, place, setQuery } from './location.ts';
import { Action, Time as At, codeOf, Facts, Json, Link, Section, Shown, Table } from './parts.ts';
import { call, may } from './platform.ts';

type Event = Operations['audit.getAuditEvents']['answer']['results'][number];
type Entry = Operations['audit.getAuditResource']['answer']['results'][number];
type Patch = Operations['audit.restoreResource']['answer']['patch'];

const filters = ['actor', 'resource', 'topic', 'operation'] as const;
const labels = { actor: 'Actor', resource: 'Resource', topic: 'Filter', operation: 'Operation' } as const;
const pageSize = 50;

const FilterField = ({ name }: { readonly name: (typeof filters)[number] }) => {
  const change = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void =>
    setQuery({ [name]: currentTarget.value.trim(), cursor: undefined }, true);
  return html`<label>${labels[name]} <input type="search" value=${place.value.query[name] ?? ''} onChange=${change} aria-label=${labels[name]} placeholder=${name === 'topic' ? 'topic' : ''} /></label>`;
};

const eventColumns = [
  { title: 'At', cell: (event: Event) => html`<${At} at=${event.at} />` },
  {
    title: 'Event',
    kind: 'wide',
    cell: (event: Event) => html`<a href=${linkTo(['time', 'event', String(event.position)])}>${event.topic}</a>`,
  },
  {
    title: 'Resource',
    kind: 'wide',
    cell: (event: Event) =>
      event.resource &&
      html`<${Link} to=${['time', event.resource.kind, event.resource.id]}>${event.resource.kind} ${event.resource.id}</${Link}>`,
  },
  { title: 'By', cell: (event: Event) => event.actor?.username },
  { title: 'Operation', cell: (event: Event) => event.operation },
  { title: 'Position', kind: 'number', cell: (event: Event) => event.position },
];

const Timeline = () => {
  const { query } = place.value;
  const terms = Object.fromEntries(filters.filter((name) => query[name]).map((name) => [name, query[name]]));
  const loaded = useLoaded(
    async () =>
      (
        await call('audit.getAuditEvents', {
          query: {
            ...terms,
            ...(asOf.value && { until: asOf.value }),
            ...(query.cursor && { cursor: query.cursor }),
            limit: pageSize,
          },
        })
      ).body,
    [JSON.stringify(query)],
    { when: () => query.cursor === undefined },
  );
  return html`<div class="list"><div class="tools"><${FilterField} name="topic" />${filters.filter((name) => name !== 'topic').map((name) => html`<${FilterField} key=${name} name=${name} />`)}</div>
    <${Shown} loaded=${loaded}>${({
      results,
      cursor,
    }: {
      readonly results: readonly Event[];
      readonly cursor: string | null;
    }) => html`<${Table} label="Events" rows=${results} keyOf=${(event: Event) => event.id} empty="No event fits." columns=${eventColumns} />
      <div class="pager">${query.cursor && html`<button type="button" onClick=${() => setQuery({ cursor: undefined }, true)}>Newest</button>`}
      ${cursor !== null && html`<button type="button" onClick=${() => setQuery({ cursor }, true)}>Earlier</button>`}</div>`}</${Shown}></div>`;
};

/** Changes of a document, a line each. */
const Difference = ({ patch }: { readonly patch: Patch }) =>
  html`<${Table} label="Differences" rows=${patch} keyOf=${(one: Patch[number]) => `${one.op} ${one.path}`} empty="Nothing differs."
    columns=${[
      { title: 'Change', cell: (one: Patch[number]) => one.op },
      { title: 'Member', cell: (one: Patch[number]) => codeOf(one.path || 'the whole') },
      {
        title: 'Value',
        kind: 'wide',
        cell: (one: Patch[number]) => html`<code class="code clip">${textOf(one.value)}</code>`,
      },
    ]} />`;

const Restoring = ({
  kind,
  id,
  position,
}: {
  readonly kind: string;
  readonly id: string;
  readonly position: number;
}) => {
  const [patch, setPatch] = useState<Patch>();
  const ask = (dryRun: boolean) => async (): Promise<void> => {
    const { body } = await call('audit.restoreResource', { body: { kind, id, position, dryRun } });
    setPatch(dryRun ? body.patch : undefined);
  };
  return html`<div class="actions"><${Action} label="Dry run" about=${`Shows what a restore to position ${position} would change`} operation="audit.restoreResource" does=${ask(true)} />
    <${Action} label="Restore" kind="main" about=${`Restores the resource as it was at position ${position}`} disabled=${patch === undefined} operation="audit.restoreResource" does=${ask(false)} says="The resource is restored." /></div>
    ${patch && html`<p>A restore would change this:</p><${Difference} patch=${patch} />`}`;
};

const History = ({ kind, id }: { readonly kind: string; readonly id: string }) => {
  const loaded = useLoaded(
    async () => (await call('audit.getAuditResource', { path: { kind, id }, query: { limit: 100 } })).body.results,
    [kind, id],
    { when: ({ resource }) => resource?.id === id },
  );
  return html`<p class="crumbs"><${Link} to=${['time']}>All events</${Link}></p><div class="title"><h2>${kind} ${id}</h2></div>
    <${Shown} loaded=${loaded}>${(entries: readonly Entry[]) =>
      entries.map(
        (
          entry,
        ) => html`<${Section} key=${entry.id} title=${`${entry.topic}, position ${entry.position}`} tools=${html`<span class="quiet"><${At} at=${entry.at} /> ${entry.actor?.username}</span>`}>
      <${Difference} patch=${entry.patch} />
      ${may('audit.restoreResource') && html`<${Restoring} kind=${kind} id=${id} position=${entry.position} />`}
    </${Section}>`,
      )}</${Shown}>`;
};

type Traced = Operations['audit.getAuditTrace']['answer']['results'][number];

const Tree = ({ events }: { readonly events: readonly Traced[] }) => html`<ul>
  ${events.map(
    (
      event,
    ) => html`<li key=${event.id}><a href=${linkTo(['time', 'event', String(event.position)])}>${event.topic}</a> <span class="quiet">${event.resource?.kind} ${event.resource?.id}</span>
    ${event.children.length > 0 && html`<${Tree} events=${event.children as readonly Traced[]} />`}</li>`,
  )}
</ul>`;

/** One event: the search by its moment finds it. */
const OneEvent = ({ position }: { readonly position: string }) => {
  const loaded = useLoaded(async () => {
    const { body } = await call('audit.getAuditEvents', { query: { until: position, limit: 1 } });
    const [event] = body.results;
    const trace = event?.correlation
      ? (await call('audit.getAuditTrace', { path: { correlation: event.correlation } })).body.results
      : [];
    return { event, trace };
  }, [position]);
  return html`<p class="crumbs"><${Link} to=${['time']}>All events</${Link}></p>
    <${Shown} loaded=${loaded}>${({ event, trace }: { readonly event?: Event; readonly trace: readonly Traced[] }) =>
      event &&
      html`<div class="title"><h2>${event.topic}</h2>
      <span class="actions"><button type="button" onClick=${() => goTo(['now'], { asOf: position })}>Look at this moment</button></span></div>
      <${Facts} facts=${[
        ['At', html`<${At} at=${event.at} />`],
        ['By', event.actor?.username],
        ['Operation', event.operation],
        ['Position', event.position],
        [
          'Resource',
          event.resource &&
            html`<${Link} to=${['time', event.resource.kind, event.resource.id]}>${event.resource.kind} ${event.resource.id}</${Link}>`,
        ],
      ]} />
      <${Section} title="Data"><${Json} value=${event.data} label="Data" /></${Section}>
      <${Section} title="Causes and effects"><${Tree} events=${trace} /></${Section}>`}</${Shown}>`;
};

/** The log: events, and the histories of resources. */
export const Time = () => {
  const [, kind, id] = place.value.path;
  if (!may('audit.getAuditEvents')) return html`<p class="empty">Your roles do not allow you to see the log.</p>`;
  if (kind === undefined || id === undefined) return html`<${Timeline} />`;
  return kind === 'event' ? html`<${OneEvent} position=${id} />` : html`<${History} kind=${kind} id=${id} />`;
};
