import type { Fault } from '../../domain/engine/requestError.ts';
import type { Where } from '../../projections/engine/port.ts';
import { checkJson } from './strictJson.ts';

/** The filter parameters of all lists, and how each compares. */
export const filterOps = { multiEquals: 'equals', multiStartsWith: 'startsWith', multiContains: 'contains' } as const;
type Name = keyof typeof filterOps;
const names = Object.keys(filterOps) as Name[];

/** One filter parameter as it was sent: `multiEquals[field]=text`, or without field `multiEquals=<JSON>`. */
export type Sent = { readonly filter: Name; readonly field: string | undefined; readonly text: string };

// Each costs a pass over the names.
const mostConditions = 100;
const longestValue = 1000;
const flags: readonly unknown[] = [true, false, 'true', 'false'];

/** Which filter a query parameter belongs to, if any. */
export const filterOf = (parameter: string): Pick<Sent, 'filter' | 'field'> | undefined => {
  const [, filter, field] = /^(multiEquals|multiStartsWith|multiContains)(?:\[(.*)\])?$/s.exec(parameter) ?? [];
  return filter === undefined ? undefined : { filter: filter as Name, field };
};

/**
 * What the filters together ask for. Brackets: different fields AND, one field again OR. JSON: fields of an object AND,
 * objects (repeated, or in an array) OR. Different filters AND. Whatever is wrong goes to `faults`.
 */
export const whereOf = (sent: readonly Sent[], fields: readonly string[], faults: Fault[]): Where | undefined => {
  const condition = conditions(fields, faults);
  return joined(
    'all',
    names.map((name) => {
      const some = sent.filter(({ filter }) => filter === name);
      const bracketed = some.filter(({ field }) => field !== undefined);
      if (bracketed.length === 0) return inJson(name, some, condition, faults);
      if (bracketed.length < some.length)
        faults.push({ message: `${name} is either in brackets or in JSON, not both`, path: name });
      return inBrackets(name, bracketed, condition);
    }),
  );
};

/** The condition that a filter makes of a field and a value; none when something is wrong with them. */
type Condition = (filter: Name, field: string, value: unknown) => readonly Where[];

/** Makes the conditions of one query, and counts them. */
const conditions = (fields: readonly string[], faults: Fault[]): Condition => {
  let made = 0;
  return (filter, field, value) => {
    const path = `${filter}[${field.slice(0, 256)}]`;
    let fault = fields.includes(field)
      ? faultOf({ filter, field, value, path })
      : `${path} is no filter here; fields are ${fields.join(', ')}`;
    if (fault === undefined && field !== 'deprecated') {
      made++;
      if (made > mostConditions) fault = `There may be ${mostConditions} conditions at most`;
    }
    if (fault === undefined) return [{ field, op: filterOps[filter], value: String(value) }];
    faults.push({ message: fault, path });
    return [];
  };
};

type Given = { readonly filter: Name; readonly field: string; readonly value: unknown; readonly path: string };

/** Why a value cannot be compared with a field. */
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
  // An object without fields asks for nothing: everything fits.
  return alternatives.includes(undefined) ? undefined : joined('any', alternatives);
};

/** One condition of several; undefined ones are left out. */
export const joined = (how: 'all' | 'any', conditions: readonly (Where | undefined)[]): Where | undefined => {
  const some = conditions.filter((condition) => condition !== undefined);
  if (some.length < 2) return some[0];
  return how === 'all' ? { all: some } : { any: some };
};

const objectsOf = (text: string): readonly object[] | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    checkJson(text);
    const objects = Array.isArray(value) ? value : [value];
    return objects.length > 0 &&
      objects.every((item) => typeof item === 'object' && item !== null && !Array.isArray(item))
      ? objects
      : undefined;
  } catch {
    return undefined;
  }
};
