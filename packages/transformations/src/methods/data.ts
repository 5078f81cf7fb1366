import { type Budget, fail } from '../budget.ts';
import type { LinearPattern } from '../patterns.ts';
import { type Method, method } from '../signatures.ts';
import { asJson, deeper, itemsIn, textOf } from '../values.ts';

/** How many characters of white space an indented JSON text has, about. */
const indentation = (value: unknown, budget: Budget, level = 0): number => {
  budget.spend(1);
  return itemsIn(value).reduce<number>(
    (sum, one) => sum + level + 1 + indentation(one, budget, deeper(level)),
    level + 1,
  );
};

const stringified = (value: unknown, names: unknown, space: unknown, budget: Budget): unknown => {
  if (value === undefined) return undefined;
  const json = asJson(value, budget);
  const width = typeof space === 'string' ? Math.min(space.length, 10) : Math.min(Number(space) || 0, 10);
  if (width > 0) budget.make(width * indentation(json, budget));
  const only = Array.isArray(names) ? names.map((one) => textOf(one, budget)) : null;
  const text = JSON.stringify(json, only, typeof space === 'string' ? space : width);
  budget.make(text.length);
  return text;
};

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
};

export const data: Readonly<Record<string, Method>> = {
  'JSON.parse': method('text: text, reviver?: value -> any', ({ budget }, text: string) => {
    budget.make(text.length);
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      return fail((error as Error).message);
    }
  }),
  'JSON.stringify': method('value: value, names?: value, space?: value -> text', ({ budget }, value, names, space) =>
    stringified(value, names, space, budget),
  ),
  'JSON.type of': method('value: value -> text', (_, value) => typeOf(value)),
  'RegExp.exec': method('pattern: pattern, text: text -> list', (_, pattern: LinearPattern, text: string) => {
    const match = pattern.find(text, 0);
    return match && [...match];
  }),
  'RegExp.test': method(
    'pattern: pattern, text: text -> boolean',
    (_, pattern: LinearPattern, text: string) => pattern.find(text, 0) !== null,
  ),
  'WorkFlowEngine.query': method(
    'passOnNull: value, query: text, value: any -> any',
    ({ query }, _passOnNull, text: string, value) => query(value, text) ?? null,
  ),
};
