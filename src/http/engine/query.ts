import { checker } from '@automation-platform/bounded-schemas';
import { decoded, isObject } from '@automation-platform/json';
import { type TSchema, Type } from 'typebox';
import { defined } from '../../domain/engine/defined.ts';
import { type Fault, RequestError } from '../../domain/engine/requestError.ts';
import { checkJson } from '../../domain/engine/strictJson.ts';
import type { Collection } from '../../projections/engine/define.ts';
import type { Where } from '../../projections/engine/port.ts';
import type { ListRoute, Page, Route } from './route.ts';

/**
 * The fields by which a list can be sorted (the first is the default) and filtered. `order` is the default direction (1
 * if not set), `limit` the default limit (25 if not set).
 */
export type ListFields = {
  readonly sorts: readonly string[];
  readonly filters: readonly string[];
  readonly order?: 1 | -1;
  readonly limit?: number;
};

/** A query as routes get it: the declared parameters, converted to their types. */
export type Parsed = { readonly values: Readonly<Record<string, unknown>> };

export type ParsedList = Parsed & { readonly page: Page };

type Parameters = Readonly<Record<string, TSchema>>;

/** A query string as read: the parameters that it contains, and the condition of its filters. */
type Read = { readonly parameters: Readonly<Record<string, unknown>>; readonly where: Where | undefined };

/** The parameters that page and sort every list. */
export const pageParameters = ({ sorts, order = 1, limit = 25 }: ListFields): Record<string, TSchema> => ({
  skip: Type.Integer({ minimum: 0, default: 0, description: 'How many documents to leave out' }),
  limit: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: limit,
    description: 'How many documents to answer at most',
  }),
  sort: Type.Enum([...sorts], { default: sorts[0], description: 'The member to sort by' }),
  order: Type.Enum([1, -1], { default: order, description: '1 ascending, -1 descending' }),
});

/**
 * Makes the function that reads query strings by a route's declared parameters. It throws `invalid` and names each
 * parameter that is unknown, malformed, repeated, or against its schema.
 */
export const queryParser = (parameters: Parameters): ((querystring: string) => Parsed) => {
  const read = reader(parameters, undefined);
  const defaults = defaultsOf(parameters);
  return emptyOnce((querystring) => ({ values: { ...defaults, ...read(querystring).parameters } }));
};

/**
 * Makes the same function for a list, with the parameters and filters that all lists share. A declared parameter that
 * is also a filter field filters the list.
 */
export const listQueryParser = (parameters: Parameters, list: ListFields): ((querystring: string) => ParsedList) => {
  const all = { ...parameters, ...pageParameters(list) };
  const read = reader(all, list.filters);
  const defaults = defaultsOf(all);
  return emptyOnce((querystring) => {
    const { parameters, where } = read(querystring);
    const { skip, limit, sort, order, ...values } = { ...defaults, ...parameters } as Omit<Page, 'where'>;
    const narrowing = list.filters
      .filter((field) => Object.hasOwn(parameters, field))
      .map((field): Where => ({ field, op: 'equals', value: String(parameters[field]) }));
    return { values, page: defined({ skip, limit, sort, order, where: joined('all', [where, ...narrowing]) }) };
  });
};

/** Parses the empty query once, because most queries are empty. */
const emptyOnce = <T>(parse: (querystring: string) => T): ((querystring: string) => T) => {
  let empty: T | undefined;
  return (querystring) => {
    if (querystring !== '') return parse(querystring);
    empty ??= parse('');
    return empty;
  };
};

const defaultsOf = (parameters: Parameters): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([name, schema]) => ('default' in schema ? [[name, schema.default]] : [])),
  );

/**
 * Makes the function that reads and checks a query string. `filters` are the filter fields of a list; undefined if the
 * answer is not a list.
 */
const reader = (parameters: Parameters, filters: readonly string[] | undefined) => {
  const convert = new Map(Object.entries(parameters).map(([name, schema]) => [name, converter(schema)]));
  const check = checker(Type.Partial(Type.Object(parameters), { additionalProperties: false }));

  return (querystring: string): Read => {
    const faults: Fault[] = [];
    const given: Record<string, unknown> = {};
    const queryParameters: Sent[] = [];
    for (const [name, text] of pairsOf(querystring, faults)) {
      const filter = filters && filterOf(name);
      const converter = convert.get(name);
      if (filter) queryParameters.push({ ...filter, text });
      else if (!converter)
        faults.push({ message: `There is no query parameter ${JSON.stringify(name)} here`, path: name });
      else if (isList(parameters[name]))
        given[name] = [...((given[name] as unknown[] | undefined) ?? []), converter(text)];
      else if (Object.hasOwn(given, name)) faults.push({ message: `${name} is given more than once`, path: name });
      else given[name] = converter(text);
    }
    for (const { path, message } of check(given))
      faults.push({ message: `${path.slice(1)} ${message}`, path: path.slice(1) });
    const where = filters && whereOf(queryParameters, filters, faults);
    const [first] = faults;
    if (first) throw new RequestError('invalid', first.message, { faults: faults.slice(0, 20) });
    return { parameters: given, where };
  };
};

/** True for a parameter that may be given several times. */
const isList = (schema: (TSchema & { readonly type?: string }) | undefined): boolean => schema?.type === 'array';

/**
 * Makes the function that converts a text to the schema's type. A text that does not look like the type, or would lose
 * digits, stays a text, so that the check reports it.
 */
const converter = (
  schema: TSchema & {
    readonly type?: string;
    readonly const?: unknown;
    readonly enum?: readonly unknown[];
    readonly anyOf?: readonly TSchema[];
    readonly items?: TSchema;
  },
): ((text: string) => unknown) => {
  if (schema.anyOf?.[0]) return converter(schema.anyOf[0]);
  if (schema.items) return converter(schema.items);
  switch (schema.type ?? typeof (schema.const ?? schema.enum?.[0])) {
    case 'integer':
    case 'number':
      return (text) => (/^-?(0|[1-9]\d{0,15})(\.\d{1,15})?$/.test(text) && isSafe(Number(text)) ? Number(text) : text);
    case 'boolean':
      return (text) => (text === 'true' || text === 'false' ? text === 'true' : text);
    default:
      return (text) => text;
  }
};

const isSafe = (number: number): boolean => Math.abs(number) <= Number.MAX_SAFE_INTEGER;

const pairsOf = (querystring: string, faults: Fault[]): readonly (readonly [name: string, text: string])[] =>
  querystring
    .split('&')
    .filter((pair) => pair !== '')
    .flatMap((pair) => {
      const at = pair.indexOf('=');
      const [name, text] =
        at < 0 ? [formDecoded(pair), ''] : [formDecoded(pair.slice(0, at)), formDecoded(pair.slice(at + 1))];
      if (name !== undefined && text !== undefined && name.length <= 256) return [[name, text] as const];
      faults.push({
        message:
          'The query has a malformed percent-encoding, a control character, or a name of more than 256 characters',
        path: name?.slice(0, 256) ?? 'query',
      });
      return [];
    });

/** The text of a query parameter without its percent-encoding; undefined if it is malformed. */
export const formDecoded = (text: string): string | undefined => {
  if (/^[\w.~:-]*$/.test(text)) return text;
  // Other characters than ASCII must be percent-encoded: only then is it certain that they are UTF-8.
  if (/[^\u0020-\u007e]/.test(text)) return undefined;
  const plain = decoded(text.replaceAll('+', ' '));
  return plain !== undefined && /[\u0000-\u001f\u007f]/.test(plain) ? undefined : plain;
};

/** The filter parameters of all lists, and the comparison that each makes. */
export const filterOps = { multiEquals: 'equals', multiStartsWith: 'startsWith', multiContains: 'contains' } as const;
type Name = keyof typeof filterOps;
const names = Object.keys(filterOps) as Name[];

/** One filter parameter as it was sent: `multiEquals[field]=text`, or without a field: `multiEquals=<JSON>`. */
type Sent = { readonly filter: Name; readonly field: string | undefined; readonly text: string };

// Each condition costs one pass over all values of its field.
const mostConditions = 100;
const longestValue = 1000;
const flags: readonly unknown[] = [true, false, 'true', 'false'];

/** Parses a query parameter's name as a filter; undefined if it is none. */
const filterOf = (parameter: string): Pick<Sent, 'filter' | 'field'> | undefined => {
  const [, filter, field] = /^(multiEquals|multiStartsWith|multiContains)(?:\[(.*)\])?$/s.exec(parameter) ?? [];
  return filter === undefined ? undefined : { filter: filter as Name, field };
};

/**
 * Combines the filters into one condition. In brackets, different fields are joined by AND, values of the same field by
 * OR. In JSON, the fields of an object are joined by AND, several objects (repeated or in an array) by OR. Different
 * filters are joined by AND. Errors are added to `faults`.
 */
const whereOf = (parameters: readonly Sent[], fields: readonly string[], faults: Fault[]): Where | undefined => {
  const condition = conditions(fields, faults);
  return joined(
    'all',
    names.map((name) => {
      const some = parameters.filter(({ filter }) => filter === name);
      const bracketed = some.filter(({ field }) => field !== undefined);
      if (bracketed.length === 0) return inJson(name, some, condition, faults);
      if (bracketed.length < some.length)
        faults.push({ message: `${name} is either in brackets or in JSON, not both`, path: name });
      return inBrackets(name, bracketed, condition);
    }),
  );
};

/**
 * Makes the condition for a filter, field and value. If something is wrong with them, it adds a fault and returns [].
 */
type Condition = (filter: Name, field: string, value: unknown) => readonly Where[];

/** Makes the conditions of one query, and limits their number. */
const conditions = (fields: readonly string[], faults: Fault[]): Condition => {
  let recordCount = 0;
  return (filter, field, value) => {
    const path = `${filter}[${field.slice(0, 256)}]`;
    let fault = fields.includes(field)
      ? faultOf({ filter, field, value, path })
      : `${path} is no filter here; fields are ${fields.join(', ')}`;
    if (fault === undefined && field !== 'deprecated') {
      recordCount++;
      if (recordCount > mostConditions) fault = `There may be ${mostConditions} conditions at most`;
    }
    if (fault === undefined) return [{ field, op: filterOps[filter], value: String(value) }];
    faults.push({ message: fault, path });
    return [];
  };
};

type Given = { readonly filter: Name; readonly field: string; readonly value: unknown; readonly path: string };

/** The reason why a value cannot be compared with a field; undefined if it can. */
const faultOf = ({ filter, field, value, path }: Given): string | undefined => {
  if (field === 'deprecated') {
    if (filter === 'multiEquals' && flags.includes(value)) return undefined;
    return 'deprecated goes with multiEquals only, and is true or false';
  }
  if (typeof value !== 'string') return `${path} must be a text`;
  return value.length > longestValue ? `${path} may have ${longestValue} characters at most` : undefined;
};

const inBrackets = (filter: Name, some: readonly Sent[], condition: Condition): Where | undefined => {
  const named = [...new Set(some.map(({ field = '' }) => field))];
  return joined(
    'all',
    named.map((name) =>
      joined(
        'any',
        some.filter(({ field }) => field === name).flatMap(({ text }) => condition(filter, name, text)),
      ),
    ),
  );
};

const inJson = (filter: Name, some: readonly Sent[], condition: Condition, faults: Fault[]): Where | undefined => {
  const objects = some.flatMap(({ text }) => {
    const found = objectsOf(text);
    if (!found) faults.push({ message: `${filter} must be a JSON object or an array of them`, path: filter });
    return found ?? [];
  });
  const alternatives = objects.map((object) =>
    joined(
      'all',
      Object.entries(object).flatMap(([field, value]) => condition(filter, field, value)),
    ),
  );
  // An object without fields matches every document, so the whole alternative has no condition.
  return alternatives.includes(undefined) ? undefined : joined('any', alternatives);
};

/** Joins several conditions into one and leaves out undefined ones. */
const joined = (how: 'all' | 'any', conditions: readonly (Where | undefined)[]): Where | undefined => {
  const some = conditions.filter((condition) => condition !== undefined);
  if (some.length < 2) return some[0];
  return how === 'all' ? { all: some } : { any: some };
};

const objectsOf = (text: string): readonly object[] | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    checkJson(text);
    const objects = Array.isArray(value) ? value : [value];
    return objects.length > 0 && objects.every(isObject) ? objects : undefined;
  } catch {
    return undefined;
  }
};

/** The fields of a route that describe its list. */
type Listing = Pick<ListRoute, 'query' | 'order' | 'limit'> & { readonly list: Pick<Collection, 'sorts' | 'filters'> };

/** True if the route answers a list. */
export const isListing = (route: Route): route is Route & Listing => 'list' in route && route.list !== undefined;

/** The sort fields, filter fields and defaults of a route's list. */
export const listFieldsOf = ({ list, order, limit }: Listing): ListFields =>
  defined({ sorts: Object.keys(list.sorts), filters: Object.keys(list.filters), order, limit });

/** The parser of a route's query parameters. */
export const queryOf = ({ query = {} }: Pick<Route, 'query'>) => queryParser(query);

/** The parser of a list route's query parameters. */
export const listQueryOf = (route: Listing) => listQueryParser(route.query ?? {}, listFieldsOf(route));
