import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { soundParse } from '../../../src/process/soundJson.ts';

/** Every program and thread: the modules that Node is started with. */
const entries = [
  'main.ts',
  'demo/main.ts',
  'store/sqlite/writer.ts',
  'store/sqlite/aheadWorker.ts',
  'projections/snapshots/snapshotWorker.ts',
  'projections/rebuild/foldWorker.ts',
  'southbound/engines/engine.ts',
];

/** The tree of a value without its names: what no reader of names can get wrong. */
type Node =
  | { readonly leaf: number | string }
  | { readonly items: readonly Node[] }
  | { readonly members: readonly (readonly [string, Node])[] };

const name = fc.oneof(
  fc.constantFrom('\\', '"', '\n', '\\n', '"\\', '\\"', 'a', 'a\\', 'a\n', 'a"', '1', '', '__proto__', 'name'),
  fc.string(),
);
const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.record({ leaf: fc.oneof(fc.integer(), fc.string(), fc.constant('\\":"')) }),
    fc.record({ items: fc.array(tie('node'), { maxLength: 3 }) }),
    fc.record({ members: fc.uniqueArray(fc.tuple(name, tie('node')), { maxLength: 4, selector: ([key]) => key }) }),
  ),
}));

/** A string of JSON, with escapes that it needs or with one for every character. */
const quoted = (text: string, all: boolean): string =>
  all
    ? `"${[...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`
    : JSON.stringify(text);

const textOf = (of: Node, all: boolean): string => {
  if ('leaf' in of) return typeof of.leaf === 'number' ? String(of.leaf) : quoted(of.leaf, all);
  if ('items' in of) return `[${of.items.map((item) => textOf(item, all)).join(' ,')}]`;
  return `{${of.members.map(([key, member]) => `${quoted(key, all)} :\n${textOf(member, all)}`).join(',')}}`;
};

const valueOf = (of: Node): unknown => {
  if ('leaf' in of) return of.leaf;
  if ('items' in of) return of.items.map(valueOf);
  return Object.fromEntries(of.members.map(([key, member]) => [key, valueOf(member)]));
};

const sameOrder = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

describe('reading JSON on a Node that misreads names', () => {
  // `JSON.parse` is the replacement where this Node needs it, and Node's own elsewhere.
  for (const [which, parse] of [
    ['the replacement', soundParse],
    ['JSON.parse of this process', JSON.parse],
  ] as const) {
    it(`${which} gives each member its name and its place`, () => {
      fc.assert(
        fc.property(node, fc.boolean(), (of, all) => {
          const value = parse(textOf(of, all));
          assert.deepEqual(value, valueOf(of));
          assert.ok(sameOrder(value, valueOf(of)));
        }),
        { numRuns: 2000 },
      );
    });

    it(`${which} is not misled by names that others had`, () => {
      for (const first of ['{"a":1,"\\\\":2}', '{"a":1,"b\\\\":2}']) parse(first);
      assert.deepEqual(Object.keys(parse('{"a":1,"\\n":2}') as object), ['a', '\n']);
      assert.deepEqual(Object.keys(parse('{"a":1,"\\"":2}') as object), ['a', '"']);
      assert.deepEqual(Object.keys(parse('{"a":1,"b\\t":2}') as object), ['a', 'b\t']);
    });

    it(`${which} lets the last of equal names count, however they are written`, () => {
      for (const [text, value] of [
        ['{"a":1,"\\u0061":2,"a":3}', { a: 3 }],
        ['{"\\n":1,"\\u000a":2}', { '\n': 2 }],
        ['{"\\n":1,"a":2,"\\n":3}', { '\n': 3, a: 2 }],
      ] as const)
        assert.ok(sameOrder(parse(text), value), text);
    });

    it(`${which} refuses what is no JSON`, () => {
      for (const text of [
        '',
        '{"a\\":1}',
        '{"a"\\u003a": 1,"}',
        '{"\\x":1}',
        '{"\\n":1',
        '{"\\n":1,}',
        '"\\',
        '["x" \\n ":1]',
      ])
        assert.throws(() => parse(text), SyntaxError, text);
    });

    it(`${which} calls a reviver as the standard says`, () => {
      const seen: string[] = [];
      const read = parse('{"\\n":{"b":1},"c":[2],"d":4}', function (this: unknown, key: string, value: unknown) {
        seen.push(key);
        return key === 'd' ? undefined : typeof value === 'number' ? value + 1 : value;
      });
      assert.deepEqual(read, { '\n': { b: 2 }, c: [3] });
      assert.deepEqual(seen, ['b', '\n', '0', 'c', 'd', '']);
    });
  }

  it('takes time in proportion to the text, and no stack for depth', () => {
    const length = 1_000_000;
    for (const text of [
      `{"\\n":"${'\\n'.repeat(length)}"}`,
      `{"${'\\n'.repeat(length)}":1}`,
      `["${'\\\\'.repeat(length)}"]`,
      `{${'"\\n":1,'.repeat(length / 10)}"a":1}`,
    ])
      soundParse(text);
    soundParse(`${'{"\\n":'.repeat(5000)}1${'}'.repeat(5000)}`);
  });

  for (const entry of entries) {
    it(`is seen to by ${entry} before anything else`, () => {
      const imports = readFileSync(new URL(`../../../src/${entry}`, import.meta.url), 'utf8').match(/^import .*$/gm)!;
      assert.match(imports[0]!, /^import '(\.\.?\/)+(process\/)?soundJson\.ts';$/);
    });
  }
});
