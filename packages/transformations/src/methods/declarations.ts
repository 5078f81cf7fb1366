import { fail } from '../budget.ts';
import { type Method, method } from '../signatures.ts';
import { itemsIn, joined, numberOf, primitiveOf, textOf } from '../values.ts';

const read = (text: string): unknown => {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return fail('value: the text is no JSON');
  }
};

/** The values that `new` makes. A missing one counts as empty. */
export const declarations: Readonly<Record<string, Method>> = {
  'Array.new Array': method('...items: any -> list', ({ budget, polymorphIndex }, ...items: unknown[]) => {
    if (polymorphIndex !== 1) return items;
    const length = numberOf(items[0] ?? 0, budget);
    if (!Number.isInteger(length) || length < 0) return fail('items: a list has no such length');
    budget.make(length);
    return Array.from({ length }, () => null);
  }),
  'Boolean.new Boolean': method('value?: truth -> boolean', ({ isTrue }, value) => isTrue(value)),
  'Date.new Date': method('...parts: value -> date', ({ budget, now }, ...all: unknown[]) => {
    const parts = all.slice(0, all.findLastIndex((part) => part !== null && part !== undefined) + 1);
    const [year = now, month = 0, ...rest] = parts.map((part) => primitiveOf(part, budget) ?? 0);
    if (parts.length <= 1) return new Date(typeof year === 'boolean' ? Number(year) : year);
    const [day = 1, hours = 0, minutes = 0, seconds = 0, ms = 0] = rest.map(Number);
    return new Date(Number(year), Number(month), day, hours, minutes, seconds, ms);
  }),
  'Null.new Null': method(' -> null', () => null),
  'Number.new Number': method('value?: value -> number', ({ budget }, value = 0) => numberOf(value, budget)),
  'Object.new Object': method('value?: any -> object', (_, value) => {
    const object = typeof value === 'string' ? read(value) : value;
    return object ?? {};
  }),
  'RegExp.new RegExp': method(
    'source?: text|pattern, flags?: text -> pattern',
    ({ pattern }, source = '(?:)', flags) =>
      source instanceof RegExp ? pattern(source.source, flags ?? source.flags) : pattern(source, flags ?? ''),
  ),
  'Set.new Set': method('items?: values -> set', ({ budget }, items) => {
    budget.make(itemsIn(items).length);
    return new Set(itemsIn(items));
  }),
  'String.new String': method('value?: value -> text', ({ budget }, value = '') => textOf(value, budget)),
  'String.templateLiteral': method('...parts: value -> text', ({ budget }, ...parts) => joined(parts, '', budget)),
  'Conditional.switch': method('value: value -> any', (_, value) => value),
};
