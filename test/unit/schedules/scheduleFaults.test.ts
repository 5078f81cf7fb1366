import assert from 'node:assert/strict';
import type { Repetition } from '../../../src/domain/operations-manager/repetition.ts';
import { lastMoment, scheduleFault } from '../../../src/domain/operations-manager/scheduleFaults.ts';

const of = (unit: string, quantity: number) => ({ unit, quantity });
const execute = { action: 'execute', duration: of('hour', 1) } as const;
const wait = { action: 'wait', duration: of('hour', 1) } as const;
const hourly = { type: 'repeating', ...execute } as const;
const repeating = (...components: readonly Repetition[]): Repetition => ({ type: 'repeating', components });
const inTurn = (...components: readonly Repetition[]): Repetition => ({ components });
const [start, end] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];

const deep = (levels: number): Repetition => (levels === 1 ? execute : inTurn(deep(levels - 1)));
const wide = (nodes: number): Repetition => inTurn(...Array.from({ length: nodes - 1 }, () => execute));

/** What is refused: the tree, the path below /repeat, words of the sentence. */
const refused: readonly (readonly [what: string, tree: Repetition, path: string, words: RegExp])[] = [
  ['another unit', { ...execute, duration: of('fortnight', 1) }, '', /not in "fortnight"/],
  [
    'another unit in a component',
    inTurn(execute, { ...wait, duration: of('month', 1) }),
    '/components/1',
    /not in "month"/,
  ],
  ['a unit that is no text', { ...execute, duration: { unit: null, quantity: 1 } }, '', /not in null/],
  ['a unit that is a long text', { ...execute, duration: of('x'.repeat(1000), 1) }, '', /not in "x{39}$/],
  ['the name of a member that every object has', { ...execute, duration: of('toString', 1) }, '', /not in "toString"/],
  ['a part of a minute', inTurn({ ...execute, duration: of('minute', 1.5) }), '/components/0', /minutes must be whole/],
  ['a part of a millisecond', { ...execute, duration: of('second', 1.0005) }, '', /at most three decimals/],
  ['a duration below a second', { ...hourly, duration: of('second', 0.999) }, '', /0 or at least a second/],
  ['a duration over 5,200 weeks', { ...hourly, duration: of('week', 5201) }, '', /at most 5,200 weeks/],
  ['a duration over 5,200 weeks, in seconds', { ...hourly, duration: of('second', 1e300) }, '', /at most 5,200 weeks/],
  ['a count of 0', inTurn(execute, { ...execute, count: 0 }), '/components/1', /from 1 to 1,000,000/],
  ['a count below 0', { ...execute, count: -1 }, '', /from 1 to 1,000,000/],
  ['a count over 1,000,000', { ...execute, count: 1_000_001 }, '', /from 1 to 1,000,000/],
  ['a count of 2^53', { ...execute, count: 2 ** 53 }, '', /from 1 to 1,000,000/],
  ['a count of a repeating node', inTurn({ ...hourly, count: 2 }), '/components/0', /repeating node has no count/],
  ['passes that take no time', { type: 'repeating', action: 'execute' }, '', /takes time/],
  ['passes of no time without end', repeating({ action: 'execute' }, { action: 'wait' }), '', /takes time/],
  ['several passes of no time', inTurn({ action: 'execute', count: 2 }), '/components/0', /takes time/],
  ['passes that never end', repeating(hourly), '', /its pass ends/],
  ['several passes that never end', { count: 2, components: [wait, hourly] }, '', /its pass ends/],
  [
    'passes that never end, two levels below',
    inTurn(wait, repeating(inTurn(hourly))),
    '/components/1',
    /its pass ends/,
  ],
  ['a repeating node that only waits', { type: 'repeating', ...wait }, '', /needs an instant/],
  ['a repeating node without an instant', inTurn(execute, repeating(wait)), '/components/1', /needs an instant/],
  [
    'a repeating node whose instants are cut',
    inTurn({ ...repeating(wait, execute), duration: of('hour', 1) }),
    '/components/0',
    /needs an instant/,
  ],
  ['a node behind one that never ends', inTurn(hourly, execute), '/components/1', /never reached/],
  ['a node behind two levels that never end', inTurn(inTurn(wait, hourly), execute), '/components/1', /never reached/],
  [
    'a node that is never reached, though its parent ends',
    { ...repeating(hourly, execute), duration: of('day', 1) },
    '/components/1',
    /never reached/,
  ],
  [
    'a node that is never reached, before the pass that never ends',
    repeating(hourly, execute, wait),
    '/components/1',
    /never reached/,
  ],
  ['a start in a loop', repeating({ start, components: [execute] }), '/components/0', /neither start nor end/],
  [
    'an end in a loop, two levels below',
    { count: 2, components: [wait, inTurn({ end, components: [execute] })] },
    '/components/1/components/0',
    /neither start nor end/,
  ],
  [
    'an end in a loop that ends',
    { type: 'repeating', end, components: [{ end, components: [execute] }] },
    '/components/0',
    /neither start nor end/,
  ],
  ['an end before the start', { start: end, end: start, components: [execute] }, '', /must come after/],
  ['an end at the start', inTurn({ start, end: start, components: [execute] }), '/components/0', /must come after/],
  ['no instant: an empty node', {}, '', /no instant/],
  ['no instant: a wait', wait, '', /no instant/],
  ['no instant: all are cut', { ...inTurn(wait, execute), duration: of('hour', 1) }, '', /no instant/],
  ['no instant, whatever the end is', { start, end, components: [wait] }, '', /no instant/],
  ['17 levels', deep(17), '/components/0'.repeat(16), /16 levels/],
  ['1,001 nodes', wide(1001), '/components/999', /1000 nodes/],
  [
    'a node that ends too late',
    inTurn(execute, { ...wait, duration: of('week', 5200), count: 3000 }),
    '/components/1',
    /8.64e15/,
  ],
];

const fine: readonly (readonly [what: string, tree: Repetition])[] = [
  ['a leaf that runs once', { action: 'execute' }],
  ['a duration of a second', { ...hourly, duration: of('second', 1) }],
  ['seconds with three decimals', { ...hourly, duration: of('second', 1.001) }],
  ['a duration of 0 weeks', inTurn({ ...execute, duration: of('week', 0) })],
  ['a duration of 5,200 weeks', { ...hourly, duration: of('week', 5200) }],
  ['a count of 1,000,000', { ...execute, count: 1_000_000 }],
  ['one pass of no time', inTurn({ type: 'terminating', count: 1, action: 'execute' })],
  ['passes that would never end, but are cut', { ...repeating(hourly), duration: of('day', 1) }],
  ['a node behind one that never ends, but is cut', inTurn({ ...inTurn(hourly), duration: of('day', 1) }, execute)],
  ['a node behind one with an end', inTurn({ type: 'repeating', end, components: [execute] }, execute)],
  ['passes with several nodes without an instant', inTurn(execute, { ...wait, count: 3 })],
  ['start and end where there is one pass', { start, end, components: [{ start, components: [execute] }] }],
  ['an end that has passed', { end: '1969-01-01T00:00:00Z', components: [execute] }],
  ['16 levels', deep(16)],
  ['1,000 nodes', wide(1000)],
  [
    'a node that would end too late, but is cut',
    { ...inTurn(execute, { ...wait, duration: of('week', 5200), count: 3000 }), duration: of('day', 1) },
  ],
];

describe('A schedule is refused', () => {
  for (const [what, repeat, path, words] of refused)
    it(`with ${what}`, () => {
      const fault = scheduleFault({ firstRunAt: 0, repeat }, '/schedule');
      assert.equal(fault?.path, `/schedule/repeat${path}`);
      assert.match(fault.message, words);
    });

  it('with an interval below a second or over 5,200 weeks', () => {
    const pathOf = (repeatInterval: number, more = {}) =>
      scheduleFault({ firstRunAt: 0, repeatInterval, ...more })?.path;
    assert.equal(pathOf(1), '/repeatInterval');
    assert.equal(pathOf(999), '/repeatInterval');
    assert.equal(pathOf(1000), undefined);
    assert.equal(pathOf(5200 * 604_800_000), undefined);
    assert.equal(pathOf(5200 * 604_800_000 + 1), '/repeatInterval');
    assert.equal(pathOf(5201 * 604_800_000, { repeatUnit: 'week', repeatFrequency: 5201 }), '/repeatFrequency');
  });

  it('with a node that ends too late because of the first run or the start', () => {
    const tree = inTurn({ ...execute, count: 2 });
    assert.equal(scheduleFault({ firstRunAt: lastMoment - 7_200_000, repeat: tree }), undefined);
    assert.equal(scheduleFault({ firstRunAt: lastMoment - 7_199_999, repeat: tree })?.path, '/repeat/components/0');
    assert.equal(scheduleFault({ firstRunAt: lastMoment, repeat: hourly }), undefined, 'one that never ends');
  });
});

describe('A schedule is not refused', () => {
  for (const [what, repeat] of fine)
    it(`with ${what}`, () => assert.equal(scheduleFault({ firstRunAt: 0, repeat }), undefined));
});
