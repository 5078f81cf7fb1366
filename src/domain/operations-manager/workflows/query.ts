import { isObject, own } from '@automation-platform/json';
import { isSealed } from '../../engine/sealed.ts';
import { type Comparing, equalValues } from './operators.ts';
import { refuse } from './refusals.ts';

/** One step of a query. */
type Step =
  | { readonly key: string; readonly ofEach: boolean }
  | { readonly values: 'each' | 'deep' }
  | {
      readonly key: string;
      readonly ofEach: boolean;
      readonly compare: '=' | '!=' | '~' | '!~';
      readonly value: string;
    };

const longest = 4096;
const mostSteps = 256;

const comparison = /^(\*?)([^=!~]*)(!=|!~|=|~)(.*)$/s;

const bracketed = (inside: string): Step => {
  if (inside === '*') return { values: 'each' };
  if (inside === '**') return { values: 'deep' };
  const [, star, key = '', compare, value = ''] = comparison.exec(inside) ?? [];
  if (compare === undefined)
    return inside.startsWith('*') ? { key: inside.slice(1), ofEach: true } : { key: inside, ofEach: false };
  const isPattern = compare.endsWith('~');
  if (isPattern && !/^\/.*\/$/s.test(value)) refuse(`The pattern of a query stands between slashes: ${inside}`);
  return {
    key: key.trim(),
    ofEach: star === '*',
    compare: compare as '=' | '!=' | '~' | '!~',
    value: isPattern ? value.slice(1, -1) : value,
  };
};

/** The end of a bracket. Within slashes a bracket is part of a pattern. */
const closing = (text: string, open: number): number => {
  const pattern = /^[^\]]*?~\s*\//.exec(text.slice(open, open + 512));
  const from = pattern ? text.indexOf('/]', open + pattern[0].length - 1) + 1 : open;
  const end = text.indexOf(']', from);
  return end < 0 || (pattern && from === 0) ? refuse('A bracket of the query is not closed') : end;
};

/** Reads a query. Throws `unprocessable` if it has no meaning. */
export const readQuery = (text: string): readonly Step[] => {
  if (text.length > longest) refuse(`A query has ${longest} characters at most`);
  const steps: Step[] = [];
  let at = 0;
  while (at < text.length) {
    if (steps.length === mostSteps) refuse(`A query has ${mostSteps} steps at most`);
    if (text[at] === '[') {
      const end = closing(text, at + 1);
      steps.push(bracketed(text.slice(at + 1, end).trim()));
      at = end + 1;
    } else if (text.startsWith(':', at)) {
      const [call, key = ''] =
        /^:get\(([^)]*)\)/.exec(text.slice(at)) ?? refuse('A query knows no function but :get(key)');
      steps.push({ key, ofEach: false });
      at += call.length;
    } else {
      const [word] = /^[^.[:]*/.exec(text.slice(at)) ?? [''];
      if (word.trim() !== '') steps.push({ key: word.trim(), ofEach: false });
      at += word.length;
      if (text[at] === '.') at++;
    }
  }
  return steps;
};

/** A member or item of a value; undefined if there is none. A sealed secret has none. */
export const partOf = (value: unknown, key: string): unknown => {
  if (Array.isArray(value)) return /^(0|[1-9]\d{0,8})$/.test(key) ? (value[Number(key)] as unknown) : undefined;
  return isObject(value) && !isSealed(value) ? own(value, key) : undefined;
};

const valuesOf = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  return isObject(value) && !isSealed(value) ? Object.values(value) : [];
};

const holds = (item: unknown, step: Extract<Step, { compare: string }>, { match, spend }: Comparing): boolean => {
  spend(1);
  const value = partOf(item, step.key);
  if (isSealed(value)) return refuse('A query cannot compare a secret');
  const negated = step.compare.startsWith('!');
  if (step.compare.endsWith('~'))
    return negated !== (value !== undefined && value !== null && !isObject(value) && match(step.value, String(value)));
  return negated !== equalValues(value, step.value, spend);
};

/** Looks for a query's value; undefined if there is none. `several`: a step may choose several values. */
export const queried = (value: unknown, text: string, comparing: Comparing): unknown => {
  let [current, several]: [unknown, boolean] = [value, false];
  for (const step of readQuery(text)) {
    if (isSealed(current)) return refuse('A query cannot look into a secret');
    if ('values' in step) {
      const values = valuesOf(current);
      const found = step.values === 'each' ? values : values.flat();
      comparing.spend(found.length);
      current = found;
      several = true;
    } else if ('compare' in step) {
      const items = valuesOf(current);
      current = step.ofEach
        ? items.filter((item) => holds(item, step, comparing))
        : items.find((item) => holds(item, step, comparing));
      several = step.ofEach;
    } else {
      const each: boolean = step.ofEach || (several && !/^\d+$/.test(step.key));
      if (each) {
        comparing.spend(valuesOf(current).length);
        current = valuesOf(current)
          .map((item) => partOf(item, step.key))
          .filter((item) => item !== undefined);
      } else current = partOf(current, step.key);
      several = each;
    }
  }
  return current;
};

/** The value with another one at the place that the query names; objects on the way are made. */
export const withValueAt = (value: unknown, keys: readonly string[], to: unknown): unknown => {
  const [key, ...rest] = keys;
  if (key === undefined) return to;
  if (key === '__proto__' || key.startsWith('$')) return refuse(`${key} cannot be a key`);
  if (isSealed(value)) return refuse('A secret cannot be changed in part');
  if (Array.isArray(value)) {
    if (!/^\d{1,6}$/.test(key) || Number(key) > value.length) return refuse(`A list has no item ${key}`);
    const items: unknown[] = [...(value as unknown[])];
    items[Number(key)] = withValueAt(items[Number(key)], rest, to);
    return items;
  }
  if (value !== undefined && value !== null && !isObject(value))
    return refuse(`${key} cannot be set in ${typeof value}`);
  return { ...value, [key]: withValueAt(isObject(value) ? own(value, key) : undefined, rest, to) };
};

/** The keys by which a query without choices names one place. Throws `unprocessable` if it may name several. */
export const placeOf = (text: string): readonly string[] =>
  readQuery(text).map((step) => {
    if ('values' in step || 'compare' in step || step.ofEach) return refuse('The query must name one place');
    return step.key;
  });
