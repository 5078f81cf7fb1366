import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  blockSize,
  type SortedList,
  sortedList,
  sortKey,
  unknown,
  valueKey,
} from '../../../src/projections/index/sorted.ts';
import { anyCharacter } from '../../support/anyText.ts';

describe('a sorted list', () => {
  /**
   * Everything that must hold of the list for these keys; each item is its key's upper-case, and derived are a block's
   * items.
   */
  const holds = (list: SortedList<string, string>, keys: ReadonlySet<string>): void => {
    const sorted = [...keys].sort();
    assert.deepEqual(
      list.blocks.flatMap(({ keys }) => keys),
      sorted,
    );
    assert.ok(
      list.blocks.every(
        ({ keys, items }) =>
          (keys.length > 0 || list.blocks.length === 1) && keys.length <= blockSize && keys.length === items.length,
      ),
    );
    const counts = list.counts('letters');
    assert.equal(counts.length, list.blocks.length);
    for (const [at, block] of list.blocks.entries()) {
      block.derived ??= block.items.join();
      assert.equal(block.derived, block.items.join());
      if (counts[at] === unknown) counts[at] = block.derived.length;
      assert.equal(counts[at], block.derived.length);
    }
    for (const key of [...sorted, 'k', '']) assert.equal(list.has(key), keys.has(key));
    for (const [from, to] of [
      [0, 25],
      [sorted.length - 25, sorted.length + 5],
      [-5, 5],
      [700, 1300],
      [sorted.length, sorted.length + 1],
    ] as const) {
      assert.deepEqual(
        list.slice(from, to),
        sorted.slice(Math.max(0, from), Math.max(0, to)).map((key) => key.toUpperCase()),
      );
    }
  };

  it('stays in order and in blocks through thousands of changes', () => {
    const step = fc.tuple(fc.nat(2), fc.nat(40), fc.integer({ min: 1, max: 900 }));
    fc.assert(
      fc.property(fc.nat(3000), fc.array(step, { maxLength: 8 }), (size, steps) => {
        const keys = new Set(Array.from({ length: size }, (_, n) => `k${(n * 7919) % 3001}`));
        const list = sortedList<string, string>([...keys].map((key) => [key, key.toUpperCase()]));
        holds(list, keys);
        for (const [kind, start, count] of steps) {
          for (let n = 0; n < count; n++) {
            const key = kind === 0 ? `k${start}x${n}` : `k${start * 50 + n}`;
            if (kind < 2 && !keys.has(key)) {
              list.insert(key, key.toUpperCase());
              keys.add(key);
            }
            if (kind === 2 && keys.has(key)) {
              list.remove(key);
              keys.delete(key);
            }
          }
          holds(list, keys);
        }
        for (const key of [...keys].reverse()) list.remove(key);
        holds(list, new Set());
        for (const key of keys) list.insert(key, key.toUpperCase());
        holds(list, keys);
      }),
      { numRuns: 30 },
    );
  });
  it('joins blocks that have become sparse', () => {
    const keys = Array.from({ length: 4000 }, (_, n) => String(n).padStart(4, '0'));
    const list = sortedList<string, number>(keys.map((key) => [key, key]));
    for (const key of keys) if (Number(key) % 20 > 0) list.remove(key);
    assert.ok(list.blocks.length <= 3, `${list.blocks.length} blocks for 200 items`);
  });
  for (const [which, from, to] of [
    ['first', 0, 300],
    ['last', 384, 385],
  ] as const) {
    it(`joins the ${which} block to its neighbour when it has become sparse`, () => {
      const keys = Array.from({ length: 500 }, (_, n) => String(n).padStart(3, '0'));
      const list = sortedList<string, string>(keys.map((key) => [key, key]));
      holds(list, new Set(keys));
      for (const key of keys.slice(from, to)) list.remove(key);
      assert.equal(list.blocks.length, 1);
      holds(list, new Set([...keys.slice(0, from), ...keys.slice(to)]));
    });
  }
  it('finds all keys that begin with something', () => {
    const keys = Array.from({ length: 2000 }, (_, n) => `${n % 3}-${n}`);
    const list = sortedList<string, number>(keys.map((key) => [key, key]));
    for (const prefix of ['0', '1-', '2-1999', '3', '', '1-1'])
      assert.deepEqual(list.startingWith(prefix), keys.filter((key) => key.startsWith(prefix)).sort());
  });
  it('forgets what was derived from a block only when its items change', () => {
    const list = sortedList<string, number>(
      Array.from({ length: 1000 }, (_, n) => [String(n).padStart(3, '0'), 'item']),
    );
    const derived = () => list.blocks.map((block) => block.derived);
    const derive = () =>
      list.blocks.forEach((block) => {
        block.derived = 1;
      });
    derive();
    list.replace('005', 'another', true);
    assert.deepEqual(derived(), [1, 1, 1]);
    list.replace('005', 'different', false);
    assert.deepEqual(derived(), [undefined, 1, 1]);
    derive();
    list.insert('999x', 'new');
    assert.deepEqual(derived(), [1, 1, undefined]);
    derive();
    list.remove('400');
    assert.deepEqual(derived(), [1, undefined, 1]);
  });
  it('refuses to remove or replace what is not there', () => {
    const list = sortedList<string, number>([['a', 'a']]);
    assert.throws(() => list.remove('b'));
    assert.throws(() => list.replace('A', 'a', true));
    assert.throws(() => sortedList<string, number>().remove('a'));
  });
});

describe('sort keys', () => {
  const bytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
  const sign = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom(
        '\0',
        '\x01',
        'a',
        'A',
        '\x7f',
        '\x80',
        'ÿ',
        'İ',
        '\uD7FF',
        '\uE000',
        '\uFFFF',
        '😀',
        '\u{10FFFF}',
      ),
      anyCharacter,
    ),
    maxLength: 4,
  });

  it('order by lower-cased value, value and id, each by UTF-8 bytes', () => {
    fc.assert(
      fc.property(text, text, text, text, (value, id, otherValue, otherId) => {
        const expected =
          bytes(value.toLowerCase(), otherValue.toLowerCase()) || bytes(value, otherValue) || bytes(id, otherId);
        assert.equal(sign(sortKey(value, id), sortKey(otherValue, otherId)), expected);
      }),
      { numRuns: 3000 },
    );
  });
  it('begin with the key of their value and of no other', () => {
    fc.assert(
      fc.property(text, text, text, (value, id, other) => {
        assert.equal(sortKey(value, id).startsWith(valueKey(other)), value === other);
      }),
      { numRuns: 3000 },
    );
  });
});
