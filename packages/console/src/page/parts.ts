import type { Operations } from '@automation-platform/client';
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Children, html } from './html.ts';
import type { Loaded } from './loading.ts';
import { linkTo, place, setQuery } from './location.ts';
import { CallRefused, hasEnded, isNow, may, wordsOf } from './platform.ts';

/** A sentence about what has just happened; it goes away by itself. */
const message = signal('');
let messageTimer: ReturnType<typeof setTimeout> | undefined;

export const say = (text: string): void => {
  clearTimeout(messageTimer);
  message.value = text;
  messageTimer = setTimeout(() => {
    message.value = '';
  }, 8000);
};

export const Message = () =>
  html`<div role="status" class="message" data-shown=${message.value !== ''}>${message.value}</div>`;

export const Failure = ({ error, children }: { readonly error?: unknown; readonly children?: Children }) =>
  error === undefined && !children
    ? null
    : html`<div role="alert" class="failure">${error === undefined ? '' : wordsOf(error)}${children}</div>`;

const two = (number: number): string => String(number).padStart(2, '0');

/** A time as people read it: today's by the clock alone, unless the day is wanted. */
const timeText = (date: Date, hasDay: boolean): string => {
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return !hasDay && date.toDateString() === new Date().toDateString() ? clock : `${day} ${clock.slice(0, 5)}`;
};

type TimeProps = {
  readonly at: string | number | null | undefined;
  readonly otherwise?: string;
  readonly hasDay?: boolean;
};

export const Time = ({ at, otherwise = '', hasDay = false }: TimeProps) => {
  const date = at === null || at === undefined ? undefined : new Date(at);
  if (!date || Number.isNaN(date.getTime())) return html`<span class="quiet">${otherwise}</span>`;
  return html`<time datetime=${date.toISOString()} title=${date.toISOString()}>${timeText(date, hasDay)}</time>`;
};

export const duration = (ms: number | null | undefined): string => {
  if (ms === null || ms === undefined) return '';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
};

const tones: Readonly<Record<string, string>> = {
  complete: 'good',
  done: 'good',
  success: 'good',
  up: 'good',
  active: 'good',
  pass: 'good',
  enabled: 'good',
  verified: 'good',
  answers: 'good',
  fires: 'good',
  running: 'busy',
  waiting: 'wait',
  claimed: 'wait',
  paused: 'wait',
  retrying: 'busy',
  review: 'wait',
  degraded: 'wait',
  warning: 'wait',
  incomplete: 'wait',
  unverified: 'wait',
  draft: 'quiet',
  error: 'bad',
  blocked: 'bad',
  failure: 'bad',
  fail: 'bad',
  refused: 'bad',
  failed: 'bad',
  'does not answer': 'bad',
  missed: 'bad',
};

/** A word of the platform as people read it: `notSent` is "not sent". */
export const spoken = (word: string): string =>
  word.replace(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`);

type StatusProps = { readonly word: string | null | undefined; readonly tone?: string | undefined };

/** A word of the platform, with the colour of its meaning. */
export const Status = ({ word, tone }: StatusProps) =>
  word ? html`<span class="status ${tone ?? tones[word.toLowerCase()] ?? 'quiet'}">${spoken(word)}</span>` : null;

export type Column<Row> = {
  readonly title: string;
  readonly cell: (row: Row) => Children;
  /** The name by which the platform sorts, if it does. */
  readonly sort?: string;
  readonly kind?: 'number' | 'wide' | 'narrow';
};

type TableProps<Row> = {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly empty?: Children;
  readonly isMarked?: (row: Row) => boolean;
};

const sorting = (column: string): 'ascending' | 'descending' | undefined => {
  const { sort, order } = place.value.query;
  if (sort !== column) return undefined;
  return order === '-1' ? 'descending' : 'ascending';
};

const HeadCell = ({
  title,
  sort,
  kind = '',
}: {
  readonly title: string;
  readonly sort?: string;
  readonly kind?: string;
}) => {
  if (sort === undefined) return html`<th scope="col" class=${kind}>${title}</th>`;
  const now = sorting(sort);
  const turn = () => setQuery({ sort, order: now === 'ascending' ? -1 : 1, skip: undefined }, true);
  return html`<th scope="col" class=${kind} aria-sort=${now ?? 'none'}>
    <button type="button" class="sort" onClick=${turn}>${title}</button>
  </th>`;
};

export const Table = <Row>({ label, columns, rows, keyOf, empty = 'Nothing here.', isMarked }: TableProps<Row>) =>
  rows.length === 0
    ? html`<p class="empty">${empty}</p>`
    : html`<div class="scroll" role="group" tabindex="0" aria-label=${label}>
        <table>
          <thead>
            <tr>
              ${columns.map((column) => html`<${HeadCell} key=${column.title} ...${{ title: column.title, sort: column.sort, kind: column.kind }} />`)}
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              (row) => html`<tr key=${keyOf(row)} class=${isMarked?.(row) ? 'marked' : ''}>
                ${columns.map((column) => html`<td key=${column.title} class=${column.kind ?? ''}>${column.cell(row)}</td>`)}
              </tr>`,
            )}
          </tbody>
        </table>
      </div>`;

/** Text that the person types; the address has it when they pause. */
export const Filter = ({
  name = 'filter',
  label = 'Filter',
  placeholder = '',
}: {
  readonly name?: string;
  readonly label?: string;
  readonly placeholder?: string;
}) => {
  const filter = place.value.query[name] ?? '';
  const [text, setText] = useState(filter);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(filter);
  useEffect(() => {
    if (filter !== latest.current) setText(filter);
    latest.current = filter;
  }, [filter]);
  const type = (event: { readonly currentTarget: HTMLInputElement }): void => {
    const { value } = event.currentTarget;
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      latest.current = value.trim();
      setQuery({ [name]: value.trim(), skip: undefined, cursor: undefined });
    }, 250);
  };
  return html`<label class="filter"><span>${label}</span><input type="search" value=${text} onInput=${type} placeholder=${placeholder} autocomplete="off" /></label>`;
};

const pageSize = 25;

type PagerProps = { readonly total: number; readonly count: number };

const Pager = ({ total, count }: PagerProps) => {
  const skip = Number(place.value.query.skip ?? 0) || 0;
  if (total === 0) return null;
  if (total <= count && skip === 0)
    return html`<p class="pager quiet">${total === 1 ? '1 row' : `${total.toLocaleString('en')} rows`}</p>`;
  const to = (value: number) => () => setQuery({ skip: value > 0 ? value : undefined }, true);
  return html`<div class="pager">
    <span class="quiet">${(skip + 1).toLocaleString('en')} to ${(skip + count).toLocaleString('en')} of ${total.toLocaleString('en')}</span>
    <button type="button" disabled=${skip === 0} onClick=${to(skip - pageSize)}>Previous page</button>
    <button type="button" disabled=${skip + count >= total} onClick=${to(skip + pageSize)}>Next page</button>
  </div>`;
};

/** The query of a list, from the address. */
export const pageQuery = (preset: { readonly sort?: string; readonly order?: 1 | -1 } = {}) => {
  const { skip, sort, order } = place.value.query;
  return {
    skip: Math.max(0, Number(skip ?? 0) || 0),
    limit: pageSize,
    ...(sort ? { sort, order: (order === '-1' ? -1 : 1) as 1 | -1 } : preset),
  };
};

export type Rows<Row> = { readonly rows: readonly Row[]; readonly total: number };

/** The query of a list: a page, and the resources whose names have the filter in them. */
export const listQuery = (page: object = pageQuery(), filter = place.value.query.filter): object => ({
  ...page,
  ...(filter && { multiContains: { name: filter } }),
});

/** An answer with a list: of `operations-manager` and its like, or of the other areas. */
export type Listed<Row> =
  | { readonly data: readonly Row[]; readonly metadata: object }
  | { readonly results: readonly Row[]; readonly total: number };

/** The rows and their number in an answer. */
export const rowsIn = <Row>(answer: Listed<Row>): Rows<Row> => {
  if ('results' in answer) return { rows: answer.results, total: answer.total };
  const { data, metadata } = answer;
  return { rows: data, total: Number((metadata as { readonly total?: number }).total ?? data.length) };
};

type Described = { readonly description?: string | null | undefined };

/** The column of what people say of a resource. */
export const descriptions: Column<Described> = {
  title: 'Description',
  kind: 'wide',
  cell: ({ description }) => html`<span class="clip">${description}</span>`,
};

type ListProps<Row> = Omit<TableProps<Row>, 'rows'> & {
  readonly loaded: Loaded<Rows<Row>>;
  readonly tools?: Children;
  readonly filter?: boolean;
};

export const List = <Row>({ loaded, tools, filter = true, empty, ...table }: ListProps<Row>) => {
  const isFiltered = Boolean(place.value.query.filter);
  return html`<div class="list" aria-busy=${loaded.isLoading}>
    <div class="tools">${filter && html`<${Filter} />`}${tools}</div>
    <${Failure} error=${loaded.error} />
    ${!loaded.value && loaded.isLoading && html`<${Loading} />`}
    ${
      loaded.value &&
      html`<${Table} ...${table} rows=${loaded.value.rows} empty=${isFiltered ? 'Nothing fits the filter.' : empty} />
      <${Pager} total=${loaded.value.total} count=${loaded.value.rows.length} />`
    }
  </div>`;
};

export const Loading = () => html`<p class="loading" role="status">Loading</p>`;

/** The loaded value, or why there is none. */
export const Shown = <T>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<T>;
  readonly children: (value: T) => Children;
}) => {
  if (loaded.value !== undefined)
    return html`<div class="stack" aria-busy=${loaded.isLoading}><${Failure} error=${loaded.error} />${children(loaded.value)}</div>`;
  return loaded.error === undefined ? html`<${Loading} />` : html`<${Failure} error=${loaded.error} />`;
};

type ActionProps = {
  readonly label: string;
  /** Says more to those who cannot see what the button stands beside. */
  readonly about?: string;
  readonly operation: keyof Operations;
  readonly does: () => Promise<unknown>;
  /** Said when it is done. */
  readonly says?: string;
  readonly kind?: 'main' | 'grave';
  readonly disabled?: boolean;
};

/** Why the caller cannot do it now; undefined: nothing is against it. */
export const reasonAgainst = (operation: keyof Operations): string | undefined => {
  if (hasEnded.value) return 'Your login has ended.';
  if (!isNow.value) return 'Nothing can be changed in the past. Go back to now.';
  return may(operation) ? undefined : 'Your roles do not allow this.';
};

/** A button that changes something. It says why it cannot, or why it did not. */
export const Action = ({ label, about, operation, does, says, kind, disabled = false }: ActionProps) => {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const reason = reasonAgainst(operation);
  const act = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await does();
      if (says) say(says);
    } catch (fault) {
      setError(fault);
    } finally {
      setBusy(false);
    }
  };
  return html`<span class="action">
    <button type="button" class=${kind ?? ''} disabled=${disabled || isBusy || reason !== undefined} title=${reason ?? ''} aria-busy=${isBusy} aria-description=${about ?? reason} onClick=${act}>${label}</button>
    <${Failure} error=${error}>${isStale(error) && ' Somebody else has changed it meanwhile.'}</${Failure}>
  </span>`;
};

const isStale = (error: unknown): boolean => error instanceof CallRefused && error.status === 412;

const mostJson = 20_000;

/** A JSON value, as text. */
export const Json = ({ value, label }: { readonly value: unknown; readonly label: string }) => {
  const [isWhole, setWhole] = useState(false);
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  const isLong = text.length > mostJson && !isWhole;
  return html`<div class="json">
    <pre tabindex="0" role="group" aria-label=${label}>${isLong ? `${text.slice(0, mostJson)}…` : text}</pre>
    ${isLong && html`<button type="button" onClick=${() => setWhole(true)}>Show all ${text.length.toLocaleString('en')} characters</button>`}
  </div>`;
};

/** A text that is read by its signs, such as a line of a configuration. */
export const codeOf = (text: string | null) => html`<code class="code">${text}</code>`;

/** Pairs of a name and a value. */
export const Facts = ({ facts }: { readonly facts: readonly (readonly [string, Children])[] }) =>
  html`<dl class="facts">
    ${facts
      .filter(([, value]) => value !== null && value !== undefined && value !== '' && value !== false)
      .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;

export const Section = ({
  title,
  children,
  tools,
}: {
  readonly title: string;
  readonly children?: Children;
  readonly tools?: Children;
}) => html`<section aria-label=${title}><header><h2>${title}</h2>${tools}</header>${children}</section>`;

/** Says of a part of an earlier moment that it has no past. */
export const AsNow = () => (isNow.value ? null : html`<span class="quiet">as it is now</span>`);

export const Link = ({
  to,
  query,
  isHere = false,
  isButton = false,
  children,
}: {
  readonly to: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  /** True if it leads to what is shown. */
  readonly isHere?: boolean;
  /** True if it looks like a button. */
  readonly isButton?: boolean;
  readonly children?: Children;
}) =>
  html`<a class=${isButton ? 'button' : undefined} href=${linkTo(to, query)} aria-current=${isHere ? 'page' : undefined}>${children}</a>`;

export const Progress = ({ share, label }: { readonly share: number | null | undefined; readonly label: string }) =>
  share === null || share === undefined
    ? null
    : html`<span class="progress"><progress max="1" value=${share} aria-label=${label}></progress> ${Math.round(share * 100)} %</span>`;
