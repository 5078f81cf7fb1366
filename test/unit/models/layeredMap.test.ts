import assert from 'node:assert/strict';
import fc from 'fast-check';
import { empty, entriesIn, get, type Layers, withAll, withoutAll } from '../../../src/domain/engine/layeredMap.ts';

describe('a layered map', () => {
  it('is, after each addition, what a Map would be, and stays so', () => {
    const name = fc.constantFrom(...'abcdefghij', '__proto__', 'constructor', '');
    fc.assert(
      fc.property(fc.array(fc.array(fc.tuple(name, fc.nat(5)), { maxLength: 6 }), { maxLength: 12 }), (additions) => {
        const past: [Layers<number>, Map<string, number>][] = [[empty, new Map()]];
        for (const entries of additions) {
          const [layers, map] = past.at(-1)!;
          past.push([withAll(layers, entries), new Map([...map, ...entries])]);
        }
        for (const [layers, map] of past) {
          assert.equal(layers.size, map.size);
          for (const one of [...'abcdefghijk', '__proto__', 'constructor', ''])
            assert.equal(get(layers, one), map.get(one));
        }
      }),
    );
  });

  it('loses names, and is what a Map would be', () => {
    const name = fc.constantFrom(...'abcdefg');
    const step = fc.record({ put: fc.array(fc.tuple(name, fc.nat(5)), { maxLength: 6 }), gone: fc.array(name) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let layers: Layers<number> = empty;
        const map = new Map<string, number>();
        for (const { put, gone } of steps) {
          layers = withoutAll(withAll(layers, put), gone);
          for (const [one, value] of put) map.set(one, value);
          for (const one of gone) map.delete(one);
          assert.equal(layers.size, map.size);
          assert.deepEqual(new Map([...entriesIn(layers)].toSorted()), new Map([...map].toSorted()));
        }
      }),
    );
  });

  it('can grow in two ways from the same map', () => {
    const shared = withAll<number>(empty, [
      ['a', 1],
      ['b', 2],
    ]);
    const [one, other] = [
      withAll(shared, [['c', 3]]),
      withAll(shared, [
        ['c', 4],
        ['a', 5],
      ]),
    ];
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => get(one, name)),
      [1, 2, 3],
    );
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => get(other, name)),
      [5, 2, 4],
    );
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => get(shared, name)),
      [1, 2, undefined],
    );
  });

  it('has few layers, each more than twice as large as the next, however it is filled', () => {
    let [map, copied] = [empty as Layers<number>, 0];
    for (let n = 0; n < 20_000; n++) {
      const { layers } = map;
      map = withAll(map, [[String(n), n]]);
      copied += map.layers.at(-1)!.size;
      assert.ok(map.layers.length <= layers.length + 1);
      const sizes = map.layers.map(({ size }) => size);
      assert.ok(
        sizes.slice(1).every((size, i) => sizes[i]! > 2 * size),
        `layers of ${sizes.join(', ')}`,
      );
    }
    assert.ok(map.layers.length <= 15, `${map.layers.length} layers`);
    assert.ok(copied < 20_000 * 20, `${copied} entries copied`);
  });
});
