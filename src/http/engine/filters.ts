import { isObject } from '@automation-platform/json';
import type { Fault } from '../../domain/engine/requestError.ts';
import { checkJson } from '../../domain/engine/strictJson.ts';
import type { Where } from '../../projections/engine/port.ts';

/** The filter parameters of all lists, and the comparison that each makes. */
export const filterOps = { multiEquals: 'equals', multiStartsWith: 'startsWith', multiContains: 'contains' } as const;
type Name = keyof typeof filterOps;
const names = Object.keys(filterOps) as Name[];

/** One filter parameter as it was sent: `multiEquals[field]=text`, or without a field: `multiEquals=<JSON>`. */
export type Sent = { readonly filter: Name; readonly field: string | undefined; readonly text: string };

// Each condition costs one pass over all values of its field.
const mostConditions = 100;
const longestValue = 1000;
const flags: readonly unknown[] = [true, false, 'true', 'false'];

/** Parses a query parameter's name as a filter; undefined if it is none. */
export const filterOf = (parameter: string): Pick<Sent, 'filter' | 'field'> | undefined => {
  const [, filter, field] = /^(multiEquals|multiStartsWith|multiContains)(?:\[(.*)\])?$/s.exec(parameter) ?? [];
  return filter === undefined ? undefined : { filter: filter as Name, field };
};

/**
 * Combines the filters into one condition. In brackets, different fields are joined by AND, values of the same field by
 * OR. In JSON, the fields of an object are joined by AND, several objects (repeated or in an array) by OR. Different
 * filters are joined by AND. Errors are added to `faults`.
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

/**
 * Makes the condition for a filter, field and value. If something is wrong with them, it adds a fault and returns [].
 */
type Condition = (filter: Name, field: string, value: unknown) => readonly Where[];

/** Makes the conditions of one query, and limits their number. */
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
    return objects.length > 0 && objects.every(isObject) ? objects : undefined;
  } catch {
    return undefined;
  }
};
