import assert from 'node:assert/strict';
import { type Following, type NearCache, nearCache } from '../../../src/projections/redis/nearCache.ts';
import { contractCollections, thing } from '../../support/readStore.contract.ts';

const restOf = (id: string, revision: number): string => {
  const { text: _, ...rest } = thing(id, { revision });
  return JSON.stringify(rest);
};

describe('a near copy', () => {
  let answer: Promise<Following | null>;
  let copy: NearCache;
  const revisionOf = (id: string): number | undefined => copy.collections.of('things').get(id)?.revision;
  const position = (): number => copy.at()!.position;

  beforeEach(async () => {
    const pages: Record<string, readonly [string, readonly string[]]> = {
      0: ['17', ['things/1', restOf('1', 1), 'others/1', restOf('1', 7)]],
      17: ['0', ['things/a/b', restOf('a/b', 2), 'things/1', restOf('1', 1)]],
    };
    copy = nearCache(contractCollections, { scan: async (cursor) => pages[cursor]!, follow: () => answer });
    await copy.load({ epoch: 'e', position: 10, event: 'e10' });
  });

  it('takes over all that is there', () => {
    assert.deepEqual([revisionOf('1'), revisionOf('a/b'), revisionOf('2')], [1, 2, undefined]);
    assert.equal(copy.collections.of('others').get('1')?.revision, 7);
    assert.deepEqual(copy.at(), { epoch: 'e', position: 10, event: 'e10' });
  });
  it('follows step by step', async () => {
    answer = Promise.resolve([
      '30',
      'e30',
      [
        ['20-0', ['from', '10']],
        ['20-1', ['things/1', restOf('1', 5)]],
        ['20-2', ['things/2', restOf('2', 0)]],
        ['30-0', ['from', '20']],
        ['30-1', ['things/a/b', '']],
      ],
    ]);
    assert.equal(await copy.follow(), true);
    assert.deepEqual([revisionOf('1'), revisionOf('a/b'), revisionOf('2')], [5, undefined, 0]);
    assert.deepEqual(copy.at(), { epoch: 'e', position: 30, event: 'e30' });
  });
  it('forgets a part that is removed, before what is written to it again', async () => {
    answer = Promise.resolve([
      '20',
      'e20',
      [
        ['20-0', ['from', '10']],
        ['20-1', ['children/p/1', restOf('p/1', 1)]],
        ['20-2', ['children/q/1', restOf('q/1', 1)]],
      ],
    ]);
    assert.equal(await copy.follow(), true);
    answer = Promise.resolve([
      '30',
      'e30',
      [
        ['30-0', ['from', '20']],
        ['30-1', ['children/p', '*']],
        ['30-2', ['children/p/2', restOf('p/2', 3)]],
      ],
    ]);
    assert.equal(await copy.follow(), true);
    const children = copy.collections.of('children');
    assert.deepEqual(
      ['p/1', 'p/2', 'q/1'].map((id) => children.get(id)?.revision),
      [undefined, 3, 1],
    );
  });
  const gaps: Record<string, Following | null> = {
    'the notices begin after a later step': [
      '30',
      '',
      [
        ['30-0', ['from', '20']],
        ['30-1', ['things/1', '']],
      ],
    ],
    'the notices begin within a step': ['20', '', [['20-1', ['things/1', '']]]],
    'the notices end before the position': ['30', '', [['20-0', ['from', '10']]]],
    'a step in between is missing': [
      '40',
      '',
      [
        ['20-0', ['from', '10']],
        ['40-0', ['from', '30']],
      ],
    ],
    'the beginning of a step in between is missing': [
      '30',
      '',
      [
        ['20-0', ['from', '10']],
        ['30-1', ['things/1', '']],
      ],
    ],
    'there are no notices': ['20', '', []],
    'the store is at an earlier position': ['5', '', []],
    'the store is another': null,
  };
  for (const [gap, following] of Object.entries(gaps)) {
    it(`stays as it is when ${gap}`, async () => {
      answer = Promise.resolve(following);
      assert.equal(await copy.follow(), false);
      assert.deepEqual([revisionOf('1'), position()], [1, 10]);
    });
  }
  it('does not go back when it was advanced while it asked', async () => {
    answer = Promise.resolve([
      '20',
      'e20',
      [
        ['20-0', ['from', '10']],
        ['20-1', ['things/1', restOf('1', 2)]],
      ],
    ]);
    const following = copy.follow();
    copy.advance(copy.at()!, [{ collection: 'things', id: '1', entry: thing('1', { revision: 3 }) }], {
      position: 30,
      event: 'e30',
    });
    await following;
    assert.deepEqual([revisionOf('1'), position()], [3, 30]);
  });
  it('has nothing to follow before it was loaded', async () => {
    const empty = nearCache(contractCollections, { scan: async () => ['0', []], follow: () => assert.fail('asked') });
    assert.equal(await empty.follow(), false);
  });
});
