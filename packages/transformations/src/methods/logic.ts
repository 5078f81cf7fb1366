import { type Method, method } from '../signatures.ts';
import { deeplyEqual, looselyEqual, primitiveOf } from '../values.ts';

type Ordered = string | number;

/** JavaScript's comparison: of two texts by their characters, of all else as numbers. */
const comparison = (holds: (a: Ordered, b: Ordered) => boolean): Method =>
  method('a: value, b: value -> boolean', ({ budget }, a, b) => {
    const [first, second] = [primitiveOf(a, budget), primitiveOf(b, budget)];
    return typeof first === 'string' && typeof second === 'string'
      ? holds(first, second)
      : holds(Number(first), Number(second));
  });

export const logic: Readonly<Record<string, Method>> = {
  'Conditional.ternary': method('condition: truth, yes: any, no: any -> any', ({ isTrue }, condition, yes, no) =>
    isTrue(condition) ? yes : no,
  ),
  'Equality.deepEquals': method('a: value, b: value -> boolean', ({ budget }, a, b) => deeplyEqual(a, b, budget)),
  'Equality.equality': method('a: value, b: value -> boolean', ({ budget }, a, b) => looselyEqual(a, b, budget)),
  'Equality.identity': method('a: value, b: value -> boolean', (_, a, b) => a === b),
  'Equality.inequality': method('a: value, b: value -> boolean', ({ budget }, a, b) => !looselyEqual(a, b, budget)),
  'Equality.nonidentity': method('a: value, b: value -> boolean', (_, a, b) => a !== b),
  'Logical.and': method('a: truth, b: any -> any', ({ isTrue }, a, b) => (isTrue(a) ? b : a)),
  'Logical.not': method('a: truth -> boolean', ({ isTrue }, a) => !isTrue(a)),
  'Logical.nullish': method('a: any, b: any -> any', (_, a, b) => a ?? b),
  'Logical.or': method('a: truth, b: any -> any', ({ isTrue }, a, b) => (isTrue(a) ? a : b)),
  'Relational.greaterThan': comparison((a, b) => a > b),
  'Relational.greaterThanOrEqual': comparison((a, b) => a >= b),
  'Relational.lessThan': comparison((a, b) => a < b),
  'Relational.lessThanOrEqual': comparison((a, b) => a <= b),
};
