import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { seed } from '../../../../test/support/sample.ts';
import { methods, planTransformation, type RunOptions, runTransformation } from '../../src/index.ts';

const options: RunOptions = { now: 1_600_000_000_123, random: () => 0.25, query: (value, text) => ({ value, text }) };

const item = { name: 'item', $id: 'item' };
const tests = { id: 'isLarge', name: 'isLarge', incoming: [item], outgoing: [{ $id: 'is' }], functions: [] };
const wire = (from: object, to: object) => ({ type: 'assign', id: Math.random(), from, to });
const fn = (name: string, incoming: readonly string[], steps: readonly object[]) => ({
  ...tests,
  id: name,
  name,
  incoming: incoming.map(($id) => ({ $id })),
  outgoing: [{ $id: 'is' }],
  steps,
});
const callOf = (library: string, method: string, args: readonly unknown[], ...inputs: readonly string[]) => [
  { id: 1, type: 'method', library, method, args },
  ...inputs.map((name, i) =>
    wire({ location: 'incoming', name, ptr: '' }, { location: 'method', name: 1, ptr: `/args/${i}/value` }),
  ),
  wire({ location: 'method', name: 1, ptr: '/return' }, { location: 'outgoing', name: 'is', ptr: '' }),
];
const functions = [
  fn('isLarge', ['item'], callOf('Relational', 'greaterThan', [null, 3], 'item')),
  fn('double', ['item'], callOf('Math', 'multiply', [null, 2], 'item')),
  fn('sum', ['sum', 'item'], callOf('Math', 'add', [null, null], 'sum', 'item')),
  fn('compare', ['a', 'b'], callOf('Math', 'subtract', [null, null], 'a', 'b')),
];

/** A step that makes a pattern, to be the argument of another. */
const patternStep = ({ source, flags }: RegExp, i: number) => ({
  id: 10 + i,
  type: 'declaration',
  library: 'RegExp',
  method: 'new RegExp',
  args: [source, flags],
});

/** A document of one step whose arguments come in, but for patterns and names of functions. */
const documentOf = (name: string, args: readonly unknown[]) => {
  const [library, method] = name.split('.', 2);
  const type = method!.startsWith('new ') ? 'declaration' : method === 'switch' ? 'context' : 'method';
  const named = methods.get(name)!.takes.map(({ type }) => type === 'function');
  return {
    name: 'one',
    incoming: args.map((_, i) => ({ $id: `a${i}` })),
    outgoing: [{ $id: 'out' }],
    functions,
    steps: [
      { id: 1, type, library, method, args: args.map((arg, i) => (named[i] ? arg : null)) },
      ...args.flatMap((arg, i) => {
        const to = { location: type, name: 1, ptr: `/args/${i}/value` };
        if (named[i]) return [];
        if (!(arg instanceof RegExp)) return [wire({ location: 'incoming', name: `a${i}`, ptr: '' }, to)];
        return [patternStep(arg, i), wire({ location: 'declaration', name: 10 + i, ptr: '/return' }, to)];
      }),
      wire({ location: type, name: 1, ptr: '/return' }, { location: 'outgoing', name: 'out', ptr: '' }),
    ],
  };
};

const run = (name: string, args: readonly unknown[], more: Partial<RunOptions> = {}) => {
  const { plan, faults } = planTransformation(documentOf(name, args));
  assert.deepEqual(faults, []);
  const incoming = Object.fromEntries(args.map((arg, i) => [`a${i}`, arg]));
  return runTransformation(plan!, incoming, { ...options, ...more });
};

const text = fc.oneof(fc.string({ maxLength: 8 }), fc.stringMatching(/^[ab ,.$&A]{0,8}$/));
const small = fc.integer({ min: -4, max: 9 });
const number = fc.oneof(small, fc.double({ noNaN: true, noDefaultInfinity: true }));
const json = fc.jsonValue({ maxDepth: 2 });
const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const list = fc.array(scalar, { maxLength: 6 });
const ints = fc.array(small, { maxLength: 6 });
const object = fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'toString')), json, {
  maxKeys: 4,
});
const date = fc.date({ noInvalidDate: true });
const pattern = fc.constantFrom(/a/g, /[ab]+/g, /(b)|,/, /\s*/g, /^a|.$/gim, /x?/);

// biome-ignore lint/suspicious/noExplicitAny: each row knows the types of its own values.
type Row = readonly [args: readonly fc.Arbitrary<any>[], oracle: (...args: any[]) => unknown];

const further = (name: string) => fc.constant(name);
const plainMath = (name: keyof Math): Row => [[number], Math[name] as () => unknown];
const textRow = (name: string, ...more: fc.Arbitrary<unknown>[]): Row => [
  [text, ...more],
  (one, ...args) => one[name](...args),
];
const listRow = (name: string, ...more: fc.Arbitrary<unknown>[]): Row => [
  [list, ...more],
  (one, ...args) => [...one][name as 'slice'](...args),
];
const dateRow = (name: string): Row => [[date], (one) => one[name]()];
const isLarge = (one: number) => one > 3;
const testRow = (name: string): Row => [[ints, further('isLarge')], (one) => one[name](isLarge)];
const operator = (run: (a: unknown, b: unknown) => unknown, arbitrary: fc.Arbitrary<unknown> = scalar): Row => [
  [arbitrary, arbitrary],
  run,
];
// biome-ignore-start lint/suspicious/noDoubleEquals: these are the operators that documents name.
// biome-ignore-start lint/suspicious/noExplicitAny: as above.
const rows: Readonly<Record<string, Row>> = {
  'Array.concat': [[list, fc.oneof(list, scalar), scalar], (one, ...more) => one.concat(...more)],
  'Array.every': testRow('every'),
  'Array.fill': listRow('fill', json, small, small),
  'Array.filter': testRow('filter'),
  'Array.find': testRow('find'),
  'Array.findIndex': testRow('findIndex'),
  'Array.flat': [[fc.array(json), fc.integer({ min: 0, max: 2 })], (one, depth) => one.flat(depth)],
  'Array.flatMap': [[ints, further('double')], (one) => one.flatMap((n: number) => n * 2)],
  'Array.from': [[fc.oneof(list, text)], Array.from],
  'Array.getIndex': [[list, small], (one, at) => one[at]],
  'Array.includes': listRow('includes', scalar, small),
  'Array.indexOf': listRow('indexOf', scalar, small),
  'Array.isArray': [[json], Array.isArray],
  'Array.join': [[fc.array(json), text], (one, by) => one.map((x: any) => textOf(x ?? '')).join(by)],
  'Array.lastIndexOf': listRow('lastIndexOf', scalar, small),
  'Array.length': [[list], (one) => one.length],
  'Array.map': [[ints, further('double')], (one) => one.map((n: number) => n * 2)],
  'Array.pop': [[list], (one) => ({ value: one.at(-1), array: one.slice(0, -1) })],
  'Array.push': [[list, json, json], (one, ...more) => [...one, ...more]],
  'Array.reduce': [[ints, further('sum'), number], (one, _, b) => one.reduce((x: number, y: number) => x + y, b)],
  'Array.reduceRight': [
    [fc.array(text), further('sum'), text],
    (one, _, b) => one.reduceRight((x: string, y: string) => x + y, b),
  ],
  'Array.reverse': listRow('reverse'),
  'Array.setIndex': [
    [fc.array(scalar, { minLength: 5 }), fc.integer({ min: 0, max: 4 }), json],
    (one, at, to) => one.with(at, to),
  ],
  'Array.shift': [[list], (one) => ({ value: one[0], array: one.slice(1) })],
  'Array.slice': listRow('slice', small, small),
  'Array.some': testRow('some'),
  'Array.sort': [
    [ints, fc.constantFrom('compare', null)],
    (one, by) => one.toSorted(by ? (a: any, b: any) => a - b : undefined),
  ],
  'Array.splice': [
    [list, small, small, scalar],
    (one, ...args: [number, number, unknown]) => {
      const array = [...one];
      return { spliced: array.splice(...args), array };
    },
  ],
  'Array.toString': [[list], String],
  'Array.unshift': [[list, json], (one, more) => [more, ...one]],
  'String.charAt': textRow('charAt', small),
  'String.charCodeAt': textRow('charCodeAt', small),
  'String.concat': textRow('concat', scalar, scalar),
  'String.endsWith': textRow('endsWith', text, small),
  'String.includes': textRow('includes', text, small),
  'String.indexOf': textRow('indexOf', text, small),
  'String.lastIndexOf': textRow('lastIndexOf', text, small),
  'String.length': [[text], (one) => one.length],
  'String.match': textRow('match', pattern),
  'String.padEnd': textRow('padEnd', small, text),
  'String.padStart': textRow('padStart', small, text),
  'String.repeat': textRow('repeat', fc.nat(5)),
  'String.replace': textRow('replace', fc.oneof(text, pattern), text),
  'String.replaceAll': textRow('replaceAll', text, text),
  'String.search': textRow('search', pattern),
  'String.slice': textRow('slice', small, small),
  'String.split': textRow('split', fc.oneof(text, pattern), small),
  'String.startsWith': textRow('startsWith', text, small),
  'String.substring': textRow('substring', small, small),
  'String.toLowerCase': textRow('toLowerCase'),
  'String.toString': textRow('toString'),
  'String.toUpperCase': textRow('toUpperCase'),
  'String.trim': textRow('trim'),
  'String.trimEnd': textRow('trimEnd'),
  'String.trimStart': textRow('trimStart'),
  'Object.assign': [[object, object], (...all) => Object.fromEntries(all.flatMap((one) => Object.entries(one)))],
  'Object.deleteProperty': [
    [object, text],
    (one, name) => Object.fromEntries(Object.entries(one).filter(([n]) => n !== name)),
  ],
  'Object.entries': [[object], Object.entries],
  'Object.fromEntries': [[fc.array(fc.tuple(text, json))], Object.fromEntries],
  'Object.getProperty': [
    [object, fc.constantFrom('__proto__', 'constructor', 'a')],
    (one, name) => (Object.hasOwn(one, name) ? one[name] : undefined),
  ],
  'Object.hasOwnProperty': [[object, fc.constantFrom('__proto__', 'toString', 'a')], Object.hasOwn],
  'Object.keys': [[object], Object.keys],
  'Object.optional chaining': [
    [fc.oneof(scalar, fc.constant({ a: { b: 1 } })), fc.constant('a'), fc.constant('b')],
    (one, a, b) => one?.[a]?.[b],
  ],
  'Object.setProperty': [
    [object, fc.constantFrom('__proto__', 'a'), json],
    (one, name, to) => Object.fromEntries([...Object.entries(one), [name, to]]),
  ],
  'Object.values': [[object], Object.values],
  'Math.abs': plainMath('abs'),
  'Math.add': operator((a: any, b: any) => a + b),
  'Math.cbrt': plainMath('cbrt'),
  'Math.ceil': plainMath('ceil'),
  'Math.divide': operator((a: any, b: any) => a / b),
  'Math.exponentiation': operator((a: any, b: any) => a ** b),
  'Math.floor': plainMath('floor'),
  'Math.log': plainMath('log'),
  'Math.log10': plainMath('log10'),
  'Math.log2': plainMath('log2'),
  'Math.max': [[number, number, number], Math.max],
  'Math.min': [[number, number, number], Math.min],
  'Math.multiply': operator((a: any, b: any) => a * b),
  'Math.pow': operator((a: any, b: any) => a ** b),
  'Math.random': [[], () => 0.25],
  'Math.remainder': operator((a: any, b: any) => a % b),
  'Math.round': plainMath('round'),
  'Math.sign': plainMath('sign'),
  'Math.sqrt': plainMath('sqrt'),
  'Math.subtract': operator((a: any, b: any) => a - b),
  'Math.trunc': plainMath('trunc'),
  'Number.isFinite': [[scalar], Number.isFinite],
  'Number.isInteger': [[scalar], Number.isInteger],
  'Number.isNaN': [[scalar], Number.isNaN],
  'Number.parseFloat': [[text], Number.parseFloat],
  'Number.parseInt': [[text, fc.integer({ min: 2, max: 36 })], Number.parseInt],
  'Number.toFixed': [[number, fc.nat(20)], (one, count) => one.toFixed(count)],
  'Number.toPrecision': [[number, fc.integer({ min: 1, max: 20 })], (one, count) => one.toPrecision(count)],
  'Number.toString': [[number, fc.integer({ min: 2, max: 36 })], (one, radix) => one.toString(radix)],
  'Conditional.ternary': [[scalar, json, json], (is, yes, no) => (is ? yes : no)],
  'Conditional.switch': [[scalar], (one) => one],
  'Equality.deepEquals': [[json, json], (a, b) => JSON.stringify(a) === JSON.stringify(b)],
  'Equality.equality': operator((a, b) => a == b),
  'Equality.identity': operator((a, b) => a === b),
  'Equality.inequality': operator((a, b) => a != b),
  'Equality.nonidentity': operator((a, b) => a !== b),
  'Logical.and': operator((a, b) => a && b),
  'Logical.not': [[scalar], (a) => !a],
  'Logical.nullish': operator((a, b) => a ?? b),
  'Logical.or': operator((a, b) => a || b),
  'Relational.greaterThan': operator((a: any, b: any) => a > b),
  'Relational.greaterThanOrEqual': operator((a: any, b: any) => a >= b),
  'Relational.lessThan': operator((a: any, b: any) => a < b),
  'Relational.lessThanOrEqual': operator((a: any, b: any) => a <= b),
  ...Object.fromEntries(
    [
      'getDate',
      'getDay',
      'getFullYear',
      'getHours',
      'getMilliseconds',
      'getMinutes',
      'getMonth',
      'getSeconds',
      'getTime',
      'valueOf',
      'toDateString',
      'toString',
      'toTimeString',
      'toUTCString',
      'toISOString',
    ].map((name) => [`Date.${name}`, dateRow(name)]),
  ),
  'Date.now': [[], () => options.now],
  'Date.parse': [
    [
      fc.oneof(
        text,
        date.map((one) => one.toISOString()),
      ),
    ],
    Date.parse,
  ],
  'JSON.parse': [[json.map((one) => JSON.stringify(one))], JSON.parse],
  'JSON.stringify': [[json, fc.constantFrom(null, ['a']), fc.constantFrom(0, 2, '  ')], JSON.stringify as any],
  'JSON.type of': [[json], (one) => (one === null ? 'null' : Array.isArray(one) ? 'array' : typeof one)],
  'RegExp.exec': [[pattern, text], (one, on) => new RegExp(one).exec(on)],
  'RegExp.test': [[pattern, text], (one, on) => new RegExp(one).test(on)],
  'WorkFlowEngine.query': [[fc.boolean(), text, json], (_, query, value) => ({ value, text: query })],
  'Array.new Array': [[json, json], (...all) => all],
  'Boolean.new Boolean': [[scalar], Boolean],
  'Date.new Date': [[fc.integer({ min: 1000, max: 3000 }), small, small], (y, m, d) => new Date(y, m, d)],
  'Null.new Null': [[], () => null],
  'Number.new Number': [[scalar], Number],
  'Object.new Object': [[object], (one) => one],
  'RegExp.new RegExp': [
    [fc.constantFrom('a+', '[^b]', '\\s*,'), fc.constantFrom('', 'g', 'im')],
    (a, b) => String(new RegExp(a, b)),
  ],
  'Set.new Set': [[list], (one) => [...new Set(one)]],
  'String.new String': [[fc.oneof(text, number, fc.boolean())], String],
  'String.templateLiteral': [[text, number], (a, b) => `${a}${b}`],
};
// biome-ignore-end lint/suspicious/noDoubleEquals: as above.
// biome-ignore-end lint/suspicious/noExplicitAny: as above.

/** A text that no member of an object decides. */
const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map((one) => textOf(one ?? '')).join(',');
  return typeof value === 'object' && value !== null ? '[object Object]' : String(value);
};

/** A value as JSON makes it; `{}` where it has no text. */
const jsonOf = (value: unknown): unknown => {
  const out = Object.fromEntries(value === undefined ? [] : [['out', value]]);
  return JSON.parse(JSON.stringify(out));
};

const numRuns = process.env.SOAK_ROUNDS === undefined ? 10 : 1000;

describe('methods of transformations', () => {
  it('are all compared', () => {
    assert.deepEqual(Object.keys(rows).sort(), [...methods.keys()].sort());
  });

  for (const [name, [args, oracle]] of Object.entries(rows))
    it(`${name} gives what JavaScript gives`, () => {
      fc.assert(
        fc.property(fc.tuple(...args), (given) => {
          const ran = run(name, given);
          assert.deepEqual(ran, { outgoing: jsonOf(oracle(...given)) });
        }),
        { seed, numRuns },
      );
    });

  it('move a secret, or fail', () => {
    const sealed = { $sealed: 'a sealed text', tag: 'a label' };
    const isSealed = (one: unknown): boolean => Object.hasOwn(Object(one), '$sealed');
    for (const [name, [args]] of Object.entries(rows)) {
      const [sample] = fc.sample(fc.tuple(...args), { seed, numRuns: 1 });
      for (const [i, one] of sample!.entries())
        for (const secret of [sealed, Array.isArray(one) ? [sealed] : { inner: sealed }]) {
          if (methods.get(name)!.takes[i]?.type === 'function') continue;
          const ran = run(name, sample!.with(i, secret), { isSealed });
          const out = JSON.stringify(ran).replaceAll(JSON.stringify(sealed), 'null');
          assert.doesNotMatch(out, /\$sealed|a sealed text|a label/, name);
          const type = (methods.get(name)!.takes[i] ?? methods.get(name)!.takes.at(-1)!).type;
          if (secret === sealed && type !== 'any') assert.ok('error' in ran, `${name} ${i}`);
        }
    }
  });

  it('stand on the page with their types', () => {
    const page = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const table = [...methods].map(([name, { takes, gives }]) => {
      const written = takes.map((one) => `${one.rest ? '...' : ''}${one.name}${one.optional ? '?' : ''}: ${one.type}`);
      return `| \`${name}\` | ${written.join(', ').replaceAll('|', ' or ')} | ${gives} |`;
    });
    const missing = table.filter((row) => !page.includes(row));
    assert.deepEqual(missing, [], `Rows of the README:\n${table.join('\n')}`);
  });
});
