import { exactText, exactValue, isObject, type Members } from '@automation-platform/json';
import { type TSchema, Type } from 'typebox';
import { noInput } from '../../commands/engine/define.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { takesAsOf } from '../engine/asOf.ts';
import { resultsWithMessage } from '../engine/envelopes.ts';
import { formDecoded } from '../engine/query.ts';
import type { ActionRoute, Call, ListRoute, Route } from '../engine/route.ts';
import { serveRoute } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';

/** The row of ours with this name. */
export const rowNamed = (rows: readonly Route[], name: string): Route => {
  const row = rows.find((one) => one.name === name);
  if (!row) throw new Error(`There is no row ${name}`);
  return row;
};

/** The schema of a row's body. */
export const bodyOf = ({ body = noInput }: Route): TSchema => body;

/** A row as other programs say it. */
type Theirs = Pick<ActionRoute, 'method' | 'path' | 'answer'> & {
  readonly description?: string;
  readonly body?: TSchema;
  readonly query?: NonNullable<ActionRoute['query']>;
  readonly list?: NonNullable<ActionRoute['list']>;
  readonly empty?: true;
  /** The call as our row takes it. */
  readonly ask?: (call: Call) => Partial<Call>;
  /** Their answer, made of ours; undefined: nothing is answered. Both may have the marks of packages/json. */
  readonly tell: (ours: Members, call: Call) => unknown;
};

/** A row at an address of other programs. A row of ours does the work: with its method, its rights and its records. */
export const leadingTo = (row: Route, { ask, tell, body = noInput, ...theirs }: Theirs): ActionRoute => {
  const { name, access, summary, large, exact } = row;
  const serves = new WeakMap<Service, ReturnType<typeof serveRoute>>();
  const serveOf = (service: Service): ReturnType<typeof serveRoute> => {
    const serve = serves.get(service) ?? serveRoute(row, service);
    serves.set(service, serve);
    return serve;
  };
  return {
    name,
    access,
    summary,
    alias: true,
    ...(large && { large }),
    ...(exact !== undefined && { exact: '*' }),
    ...(takesAsOf(row) && { reads: true }),
    ...(body !== noInput && { body }),
    ...theirs,
    run: async (call, service) => {
      const { body: ours, position, replayed, exported } = await serveOf(service)({ ...call, ...ask?.(call) }, service);
      const theirAnswer = tell(exactValue(String(ours)) as Members, call);
      const text = theirAnswer === undefined ? undefined : exactText(theirAnswer);
      return defined({ status: theirs.empty && 204, text, position, replayed, exported });
    },
  };
};

/** A body that holds the document of our row in a member. */
export const within = (member: string, document: TSchema) => ({
  body: Type.Object({ [member]: document }, { additionalProperties: false }),
  ask: ({ body }: Call): Partial<Call> => ({ body: (body as Members)[member] }),
});

/** The document within the envelope of our rows. */
export const dataIn = ({ data }: Members): Members => data as Members;

const filters: Readonly<Record<string, string>> = {
  equals: 'multiEquals',
  contains: 'multiContains',
  'starts-with': 'multiStartsWith',
  startsWith: 'multiStartsWith',
};

const shownParameters = {
  include: Type.String({ description: 'The members to answer, by commas' }),
  exclude: Type.String({ description: 'The members to leave out, by commas' }),
};

/** The filters of `queryOf` in words. */
export const filtersToo =
  'Filters are equals[field]=text, contains[field] and starts-with[field], too, with the fields of multiEquals; or ' +
  'equals=text&equalsField=field.';

const membersIn = (text: string): ReadonlySet<string> => new Set(text.split(',').map((name) => name.trim()));

/** The members of documents that a query asks for. */
type Shown = { readonly include?: ReadonlySet<string>; readonly exclude?: ReadonlySet<string> };

type Pair = { readonly word: string | undefined; readonly text: string };

/** A filter of other programs: `equals[field]=text`, or `equals=text` beside `equalsField=field`. */
const filterOf = ({ word = '', text }: Pair, pairs: readonly Pair[]): string | undefined => {
  const fields = pairs.filter((pair) => pair.word === `${word}Field`);
  const [, inBrackets, field] = /^([a-z-]+)\[(.*)\]$/s.exec(word) ?? [];
  const filter = fields.length === 1 ? word : inBrackets;
  if (filter === undefined || !Object.hasOwn(filters, filter)) return undefined;
  return `${filters[filter]}[${fields[0] ? fields[0].text : encodeURIComponent(field ?? '')}]=${text}`;
};

/** True for `equalsField` beside `equals`. */
const isField = ({ word = '' }: Pair, pairs: readonly Pair[]): boolean =>
  pairs.some((pair) => `${pair.word}Field` === word && filterOf(pair, pairs) !== undefined);

/**
 * The query of a list in our words, and the members to show. `more` are parameters of a row: each gives our words for its
 * value.
 */
export const queryOf = (
  querystring: string,
  more: Readonly<Record<string, (value: string) => string>> = {},
): { readonly querystring: string; readonly members: Shown } => {
  const members: { -readonly [K in keyof Shown]: Shown[K] } = {};
  const pairs = querystring.split('&').map((pair) => {
    const [name = '', ...rest] = pair.split('=');
    return { pair, word: formDecoded(name), text: rest.join('=') };
  });
  const ours = pairs.flatMap(({ pair, ...one }) => {
    const { word, text } = one;
    const value = formDecoded(text);
    if (word === undefined || value === undefined) return [pair];
    const filter = filterOf(one, pairs);
    if (filter !== undefined || isField(one, pairs)) return filter ?? [];
    if (word === 'include' || word === 'exclude') {
      members[word] = membersIn(value);
      return [];
    }
    return Object.hasOwn(more, word) ? [more[word]?.(value) ?? ''].filter((one) => one !== '') : [pair];
  });
  return { querystring: ours.join('&'), members };
};

const part = (document: Members, { include, exclude }: Shown): Members =>
  include || exclude
    ? Object.fromEntries(
        Object.entries(document).filter(([name]) => (include?.has(name) ?? true) && !exclude?.has(name)),
      )
    : document;

/** The page of a list that our row answers. */
export type Page = {
  readonly documents: readonly Members[];
  readonly skip: number;
  readonly limit: number;
  readonly total: number;
};

/**
 * A row that lists whole documents. `list` and `get` are our rows; `more` is as in `queryOf`, with the schemas of these
 * parameters.
 */
export const listingBy = (
  list: Route,
  get: Route,
  {
    more = {},
    tell,
    ...theirs
  }: Pick<Theirs, 'method' | 'path' | 'answer' | 'query'> & {
    readonly more?: Readonly<Record<string, (value: string) => string>>;
    readonly tell: (page: Page, call: Call) => unknown;
  },
): ActionRoute => {
  const { outline: _, ...whole } = list as ListRoute;
  const envelope = resultsWithMessage('');
  const row: Route = { ...whole, envelope, ...('get' in get && get.join && { join: get.join }) };
  return leadingTo(row, {
    ...theirs,
    ...('list' in list && list.list && { list: list.list }),
    query: { ...theirs.query, ...shownParameters },
    description: `Whole documents. ${filtersToo}`,
    ask: ({ querystring }) => ({ querystring: queryOf(querystring, more).querystring }),
    tell: ({ data, metadata }, call) => {
      const { members } = queryOf(call.querystring, more);
      const documents = (data as readonly unknown[]).filter(isObject).map((document) => part(document, members));
      return tell({ ...(metadata as Pick<Page, 'skip' | 'limit' | 'total'>), documents }, call);
    },
  });
};

/** Throws `invalid` for the value of a flag that is neither true nor false. */
export const flag = (name: string, value: string): boolean => {
  if (value !== 'true' && value !== 'false')
    throw new RequestError('invalid', `${name} must be true or false`, { path: name });
  return value === 'true';
};
