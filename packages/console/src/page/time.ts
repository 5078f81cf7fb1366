import type { Operations } from '@automation-platform/client';
import { applyPatch, isObject, type PatchedMember, type PatchOperation } from '@automation-platform/json';
import { useState } from 'preact/hooks';
import { Difference } from './difference.ts';
import { html, textOf } from './html.ts';
import { useLoaded } from './loading.ts';
import { asOf, goTo, linkTo, momentTime, place, setQuery } from './location.ts';
import { Action, Time as At, Facts, Filter, Json, Link, Section, Shown, Table } from './parts.ts';
import { call, findEvents, isNow, may } from './platform.ts';

type Event = Operations['audit.getAuditEvents']['answer']['results'][number];
type Entry = Operations['audit.getAuditResource']['answer']['results'][number];

type FilterOf = {
  readonly name:
    | 'topicContains'
    | 'topic'
    | 'source'
    | 'actor'
    | 'resource'
    | 'operation'
    | 'requestId'
    | 'correlation'
    | 'since'
    | 'until';
  readonly label: string;
  readonly placeholder?: string;
};

const filters: readonly FilterOf[] = [
  { name: 'topicContains', label: 'Filter', placeholder: 'part of a topic' },
  { name: 'actor', label: 'Actor', placeholder: 'id of the account' },
  { name: 'resource', label: 'Resource', placeholder: 'kind/id' },
];
const moreFilters: readonly FilterOf[] = [
  { name: 'topic', label: 'Topic' },
  { name: 'source', label: 'Source', placeholder: '@platform/…' },
  { name: 'operation', label: 'Operation' },
  { name: 'requestId', label: 'Request' },
  { name: 'correlation', label: 'Correlation' },
  { name: 'since', label: 'Since' },
  { name: 'until', label: 'Until' },
];
const isMoment = ({ name }: FilterOf): boolean => name === 'since' || name === 'until';
const pageSize = 50;

/** A moment of the address as the field of a date shows it, by the clock of the reader. */
const localTime = (moment: string): string => new Date(moment).toLocaleString('sv').replace(' ', 'T');

const FilterField = ({ filter }: { readonly filter: FilterOf }) => {
  const { name, label } = filter;
  const value = place.value.query[name] ?? '';
  const isDate = isMoment(filter) && (value === '' || !Number.isNaN(Date.parse(value))) && !/^\d+$/.test(value);
  const change = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }): void => {
    const text = currentTarget.value.trim();
    setQuery({ [name]: text && new Date(text).toISOString(), cursor: undefined }, true);
  };
  return isDate
    ? html`<label>${label} <input type="datetime-local" step="1" value=${value && localTime(value)} onChange=${change} /></label>`
    : html`<${Filter} ...${filter} />`;
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

/** The ways to the earlier page and back to the newest one. */
const Pages = ({ earlier }: { readonly earlier: string | null }) =>
  html`<div class="pager">${place.value.query.cursor && html`<button type="button" onClick=${() => setQuery({ cursor: undefined }, true)}>Newest</button>`}
    ${earlier !== null && html`<button type="button" onClick=${() => setQuery({ cursor: earlier }, true)}>Earlier</button>`}</div>`;

const Timeline = () => {
  const { query } = place.value;
  const isUsed = ({ name }: FilterOf): boolean => Boolean(query[name]);
  const active = [...filters, ...moreFilters].filter(isUsed);
  const terms = Object.fromEntries(active.map(({ name }) => [name, query[name]]));
  const loaded = useLoaded(
    async () => findEvents({ ...terms, ...(query.cursor && { cursor: query.cursor }), limit: pageSize }),
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
      <${Pages} earlier=${cursor} />`}</${Shown}></div>`;
};

type RestoringProps = {
  readonly kind: string;
  readonly id: string;
  readonly position: number;
  /** The document as it is now. */
  readonly document: unknown;
};

const Restoring = ({ kind, id, position, document }: RestoringProps) => {
  const [patch, setPatch] = useState<readonly PatchOperation[]>();
  const ask = (dryRun: boolean) => async (): Promise<void> => {
    const { body } = await call('audit.restoreResource', { body: { kind, id, position, dryRun } });
    setPatch(dryRun ? body.patch : undefined);
  };
  return html`<div class="actions"><${Action} label="Dry run" about=${`Shows what a restore to position ${position} would change`} operation="audit.restoreResource" does=${ask(true)} />
    <${Action} label="Restore" kind="main" about=${`Restores the resource as it was at position ${position}`} disabled=${patch === undefined} operation="audit.restoreResource" does=${ask(false)} says="The resource is restored." /></div>
    ${patch && html`<p>A restore would change this:</p><${Difference} members=${applyPatch(document, patch).members} />`}`;
};

type Version = { readonly entry: Entry; readonly document: unknown; readonly members: readonly PatchedMember[] };

/** The versions of a resource, the newest first: the document after each event. It is not known after an event that is not among them. */
const versionsOf = (entries: readonly Entry[]): readonly Version[] => {
  const versions: Version[] = [];
  for (const entry of entries.toReversed()) {
    const former = versions.at(-1);
    const isNext = former?.entry.revision === entry.revision - 1;
    versions.push({ entry, ...applyPatch(isNext ? former.document : undefined, entry.patch) });
  }
  return versions.toReversed();
};

/** True up to the moment that the page shows. */
const isBefore = ({ entry: { position, at } }: Version): boolean => {
  if (asOf.value === undefined) return true;
  const time = momentTime.value;
  return time === undefined ? position <= Number(asOf.value) : at !== null && Date.parse(at) <= time;
};

const nameIn = ({ document }: Version): string => {
  const { name, username } = isObject(document) ? document : {};
  return textOf(name ?? username);
};

const History = ({ kind, id }: { readonly kind: string; readonly id: string }) => {
  const { cursor } = place.value.query;
  const loaded = useLoaded(
    async () => {
      const query = { limit: 100, ...(cursor && { cursor }) };
      const { body } = await call('audit.getAuditResource', { path: { kind, id }, query });
      return { versions: versionsOf(body.results).filter(isBefore), cursor: body.cursor };
    },
    [kind, id, cursor],
    { when: ({ resource }) => resource?.id === id },
  );
  return html`<p class="crumbs"><${Link} to=${['time']}>All events</${Link}></p>
    <${Shown} loaded=${loaded}>${({ versions, cursor: earlier }: NonNullable<typeof loaded.value>) => html`
      <div class="title"><h2>${kind} ${versions.map(nameIn).find((name) => name !== '') ?? id}</h2><code class="code quiet">${id}</code></div>
      ${versions.map(
        ({
          entry,
          members,
        }) => html`<${Section} key=${entry.id} title=${`${entry.topic}, position ${entry.position}`} tools=${html`<span class="quiet"><${At} at=${entry.at} /> ${entry.actor?.username}</span>`}>
        <${Difference} members=${members} />
        ${may('audit.restoreResource') && html`<${Restoring} kind=${kind} id=${id} position=${entry.position} document=${cursor ? undefined : versions[0]?.document} />`}
      </${Section}>`,
      )}
      <${Pages} earlier=${earlier} />`}</${Shown}>`;
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
