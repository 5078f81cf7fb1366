import type { Operations } from '@automation-platform/client';
import { useState } from 'preact/hooks';
import { textOf } from './fields.ts';
import { html } from './html.ts';
import { useLoaded } from './loading.ts';
import { asOf, goTo, linkTo, place, setQuery } from './location.ts';
import { Action, Time as At, codeOf, Facts, Json, Link, Section, Shown, Table } from './parts.ts';
import { call, isNow, may } from './platform.ts';

type Event = Operations['audit.getAuditEvents']['answer']['results'][number];
type Entry = Operations['audit.getAuditResource']['answer']['results'][number];
type Patch = Operations['audit.restoreResource']['answer']['patch'];

type FilterOf = {
  readonly name: 'topic' | 'source' | 'actor' | 'resource' | 'operation' | 'correlation' | 'since' | 'until';
  readonly label: string;
  readonly placeholder?: string;
};

const filters: readonly FilterOf[] = [
  { name: 'topic', label: 'Filter', placeholder: 'topic' },
  { name: 'actor', label: 'Actor', placeholder: 'id of the account' },
  { name: 'resource', label: 'Resource', placeholder: 'kind/id' },
];
const moreFilters: readonly FilterOf[] = [
  { name: 'source', label: 'Source', placeholder: '@platform/…' },
  { name: 'operation', label: 'Operation' },
  { name: 'correlation', label: 'Correlation' },
  { name: 'since', label: 'Since' },
  { name: 'until', label: 'Until' },
];
const isMoment = ({ name }: FilterOf): boolean => name === 'since' || name === 'until';
const pageSize = 50;

/** A moment of the address as the field of a date shows it, by the clock of the reader. */
const localTime = (moment: string): string => new Date(moment).toLocaleString('sv').replace(' ', 'T');

const FilterField = ({ filter }: { readonly filter: FilterOf }) => {
  const { name, label, placeholder = '' } = filter;
  const value = place.value.query[name] ?? '';
  const isDate = isMoment(filter) && (value === '' || !Number.isNaN(Date.parse(value))) && !/^\d+$/.test(value);
  const change = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void => {
    const text = currentTarget.value.trim();
    setQuery({ [name]: isDate && text !== '' ? new Date(text).toISOString() : text, cursor: undefined }, true);
  };
  return isDate
    ? html`<label>${label} <input type="datetime-local" step="1" value=${value && localTime(value)} onChange=${change} /></label>`
    : html`<label>${label} <input type="search" value=${value} onChange=${change} placeholder=${placeholder} /></label>`;
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

const fieldsOf = (list: readonly FilterOf[]) =>
  list.map((filter) => html`<${FilterField} key=${filter.name} filter=${filter} />`);

const Timeline = () => {
  const { query } = place.value;
  const isUsed = ({ name }: FilterOf): boolean => Boolean(query[name]);
  const active = [...filters, ...moreFilters].filter(isUsed);
  const terms = Object.fromEntries(active.map(({ name }) => [name, query[name]]));
  const loaded = useLoaded(
    async () =>
      (
        await call('audit.getAuditEvents', {
          query: {
            ...terms,
            // The past of the page ends at its moment.
            ...(asOf.value && { until: asOf.value }),
            ...(query.cursor && { cursor: query.cursor }),
            limit: pageSize,
          },
        })
      ).body,
    [JSON.stringify(query)],
    { when: () => query.cursor === undefined },
  );
  return html`<div class="list"><div class="tools">${fieldsOf(filters)}</div>
    <details open=${moreFilters.some(isUsed)}><summary>More filters</summary><div class="tools">${fieldsOf(moreFilters)}</div></details>
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
      <span class="actions">${may('operations-manager.testEvents') && isNow.value && html`<button type="button" onClick=${() => goTo(['triggers', 'test'], { position, source: event.source, topic: event.topic })}>Test it against triggers</button>`}<button type="button" onClick=${() => goTo(['now'], { asOf: position })}>Look at this moment</button></span></div>
      <${Facts} facts=${[
        ['At', html`<${At} at=${event.at} />`],
        ['By', event.actor?.username],
        ['Operation', event.operation],
        ['Position', event.position],
        [
          'Correlation',
          event.correlation &&
            html`<${Link} to=${['time']} query=${{ correlation: event.correlation }}>all events of it</${Link}>`,
        ],
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
