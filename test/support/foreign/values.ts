import { exactValue, inOrder, type Members } from '@automation-platform/json';
import fc from 'fast-check';

/*
 * Parts of documents that other installations have published. Values have the marks of exactJson.ts where JavaScript
 * would write a number or an order of members differently.
 */

export const text = fc.string({ unit: 'grapheme', maxLength: 30 });
export const word = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_ -]{0,18}[a-z]$/);

/** Names are never used twice: documents of former runs are there still. */
let count = 0;
export const name = fc.tuple(word, fc.constant(0)).map(([first]) => `${first} ${++count}`);
export const objectId = fc.constant(0).map(() => `5${(++count).toString(16).padStart(23, '0')}`);

/** Numbers as people write them: JavaScript would write some of them differently. */
const number = fc.oneof(
  { weight: 6, arbitrary: fc.integer() },
  { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((one) => !Object.is(one, -0)) },
  fc.constantFrom('1.0', '-0', '2.50', '1e3', '1E-7').map(exactValue),
);

/** Integers that JavaScript cannot hold. Only members that the service does not know may have them. */
const hugeInteger = fc.constantFrom('12345678901234567890', '-9007199254740993').map(exactValue);

/** Names of members that hold no secret, and some that JavaScript would reorder. */
const memberName = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.stringMatching(/^[a-z_$@][A-Za-z0-9_:. -]{0,12}[0-9]$/).filter((one) => one !== '__proto__'),
  },
  fc.constantFrom('10', '2', 'toString', 'constructor', '', 'a.b', 'ä', '😀', 'a/b~c', 'valueOf'),
);

const jsonWith = (...scalars: readonly fc.Arbitrary<unknown>[]): fc.Arbitrary<unknown> =>
  fc.letrec<{ value: unknown; object: Members }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(fc.constant(null), fc.boolean(), text, ...scalars),
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc
      .uniqueArray(fc.tuple(memberName, tie('value')), { maxLength: 4, selector: ([first]) => first })
      .map(inOrder),
  })).value;

/** JSON of any kind, for members that the service knows and keeps as they are. */
export const json = jsonWith(number);
/** JSON of any kind, for members that the service does not know. */
export const unknownJson = jsonWith(number, hugeInteger);

export const object = json.map((value) => ({ inside: value }) as Members);

/** A user: a name, or an object as older documents have it. */
export const person = fc.oneof(
  word,
  fc.record({
    _id: objectId,
    username: word,
    firstname: text,
    email: fc.constant(''),
    provenance: fc.constant('Local AAA'),
    inactive: fc.boolean(),
  }),
);

const milliseconds = fc.integer({ min: 1_500_000_000_000, max: 1_700_000_000_000 });
export const epoch = milliseconds;
export const time = milliseconds.map((ms) => new Date(ms).toISOString());

/** Nothing, or one member. */
export const maybe = (member: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<Members> =>
  fc.option(
    value.map((one) => ({ [member]: one })),
    { nil: {} },
  );
export const always = (member: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<Members> =>
  value.map((one) => ({ [member]: one }));

/** A few members that no schema names. */
const unheardOf = fc
  .uniqueArray(fc.tuple(memberName, unknownJson), { maxLength: 3, selector: ([first]) => first })
  .map((entries) => entries.map(([first, value]) => ({ [first]: value }) as Members));

/** One object of the given members and some unknown ones, in any order. */
export const documentOf = (...members: readonly fc.Arbitrary<Members>[]): fc.Arbitrary<Members> =>
  fc.tuple(fc.tuple(...members), unheardOf, fc.infiniteStream(fc.nat())).map(([given, others, order]) => {
    const entries = new Map([...others, ...given].flatMap((one) => Object.entries(one)));
    const sorted = [...entries].map((entry) => [entry, order.next().value as number] as const);
    return inOrder(sorted.sort(([, a], [, b]) => a - b).map(([entry]) => entry));
  });
