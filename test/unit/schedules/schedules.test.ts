import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type { Repetition } from '../../../src/domain/operations-manager/repetition.ts';
import { lastMoment, type Schedule, scheduleFault } from '../../../src/domain/operations-manager/scheduleFaults.ts';
import { decide, sequenceOf, upcoming } from '../../../src/domain/operations-manager/schedules.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { processorTime } from '../../support/processorTime.ts';
import { passLength, walked } from '../../support/slowSchedules.ts';

/** `npm run soak` tries 100,000 trees, `npm test` the first 10,000. */
const batches = process.env.SOAK_ROUNDS ? 10 : 1;
const trees = process.env.SOAK_ROUNDS ? 10_000 : 300;

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const week = 7 * day;

const of = (unit: string, quantity: number) => ({ unit, quantity });
const execute = (unit: string, quantity: number) => ({ action: 'execute', duration: of(unit, quantity) }) as const;
const wait = (unit: string, quantity: number) => ({ action: 'wait', duration: of(unit, quantity) }) as const;
const repeating = (...components: readonly Repetition[]) => ({ type: 'repeating', components }) as const;
const at = (text: string): number => Date.parse(`2026-${text}Z`);
const midnight = at('01-05T00:00');
const minutes = (...list: readonly number[]) => list.map((one) => midnight + one * minute);

/** A worked example: its words in docs/schedules.md, the schedule, all instants or the first ones. */
type Example = {
  readonly words: string;
  readonly schedule: Schedule;
  readonly instants: readonly number[];
  /** Whether there are no others. */
  readonly all?: true;
};

const examples: readonly Example[] = [
  {
    words: 'once 01-05 08:00 -> that; then null',
    schedule: { firstRunAt: at('01-05T08:00') },
    instants: [at('01-05T08:00')],
    all: true,
  },
  {
    words: 'daily from 2026-03-28 07:00 -> 28th, 29th, 30th 07:00 (Berlin: 08:00, then 09:00)',
    schedule: { firstRunAt: at('03-28T07:00'), repeatInterval: day },
    instants: [at('03-28T07:00'), at('03-29T07:00'), at('03-30T07:00')],
  },
  {
    words: 'repeating[execute 1 h] from 00:30 -> 00:30, 01:30',
    schedule: { firstRunAt: at('01-05T00:30'), repeat: repeating(execute('hour', 1)) },
    instants: minutes(30, 90),
  },
  {
    words: 'terminating, count 3, execute 10 min -> 00:00, 00:10, 00:20, null',
    schedule: { firstRunAt: midnight, repeat: { type: 'terminating', count: 3, ...execute('minute', 10) } },
    instants: minutes(0, 10, 20),
    all: true,
  },
  {
    words: 'repeating[count 5 execute 1 day; wait 2 days] from Monday 06:00 -> Mon..Fri, Mon',
    schedule: {
      firstRunAt: at('01-05T06:00'),
      repeat: repeating({ count: 5, ...execute('day', 1) }, wait('day', 2)),
    },
    instants: ['05', '06', '07', '08', '09', '12'].map((date) => at(`01-${date}T06:00`)),
  },
  {
    words: 'repeating, duration 1 day [wait 8 h; count 2 execute 5 h] -> 08:00, 13:00, next day 08:00',
    schedule: {
      firstRunAt: midnight,
      repeat: { ...repeating(wait('hour', 8), { count: 2, ...execute('hour', 5) }), duration: of('day', 1) },
    },
    instants: [at('01-05T08:00'), at('01-05T13:00'), at('01-06T08:00')],
  },
  {
    words: 'repeating, duration 1 h [repeating execute 25 min] -> 00, 25, 50, 60, 85',
    schedule: {
      firstRunAt: midnight,
      repeat: { ...repeating({ type: 'repeating', ...execute('minute', 25) }), duration: of('hour', 1) },
    },
    instants: minutes(0, 25, 50, 60, 85),
  },
  {
    words: 'repeating, end 01-07 00:00 [execute 1 day] from 01-05 -> 5th, 6th, null',
    schedule: { firstRunAt: midnight, repeat: { ...repeating(execute('day', 1)), end: '2026-01-07T00:00:00Z' } },
    instants: [at('01-05T00:00'), at('01-06T00:00')],
    all: true,
  },
  {
    words: 'repeating, start 02-01T12:00+01:00 [execute 1 week] from 01-05 -> 02-01 11:00, 02-08 11:00',
    schedule: {
      firstRunAt: midnight,
      repeat: { ...repeating(execute('week', 1)), start: '2026-02-01T12:00:00+01:00' },
    },
    instants: [at('02-01T11:00'), at('02-08T11:00')],
  },
  {
    words: 'repeating[execute 0; execute 0; wait 2 h] -> 00:00, 02:00',
    schedule: {
      firstRunAt: midnight,
      repeat: repeating(execute('second', 0), execute('second', 0), wait('hour', 2)),
    },
    instants: minutes(0, 120),
  },
  {
    words: 'execute[wait 1 h; repeating, end 03:00 [execute 1 h]; execute 0] -> 00, 01, 02, 03, null',
    schedule: {
      firstRunAt: midnight,
      repeat: {
        action: 'execute',
        components: [
          wait('hour', 1),
          { ...repeating(execute('hour', 1)), end: '2026-01-05T03:00:00Z' },
          execute('hour', 0),
        ],
      },
    },
    instants: minutes(0, 60, 120, 180),
    all: true,
  },
];

/** What is decided at times of the day, one after the other, and what stands afterwards. */
const decisions = (schedule: Schedule, processMissedRuns: 'none' | 'last', times: readonly number[]) => {
  const sequence = sequenceOf(schedule);
  let through = midnight - minute;
  let lastIntervalStart: number | null = null;
  return times.map((now) => {
    const decided = decide(sequence, { through, now, enabled: true, processMissedRuns });
    through = decided?.through ?? through;
    lastIntervalStart = decided?.run ?? lastIntervalStart;
    return {
      run: decided?.run ?? null,
      missed: decided?.missed?.count ?? 0,
      nextRunAt: sequence.next(through),
      lastIntervalStart,
    };
  });
};

const twelfth =
  'hourly, looked at 00:00, 01:00, 05:30 (was down), 02:00 (clock back), 06:00: `none` runs 00, 01, -, -, 06 (4 missed at 05:30, nextRunAt 06:00); `last` runs 00, 01, 05 (late by 30 min, 3 missed), -, 06; lastIntervalStart follows';

describe('The worked examples of schedules', () => {
  for (const { words, schedule, instants, all } of examples)
    it(words, () => {
      assert.equal(scheduleFault(schedule), undefined);
      const found = upcoming(sequenceOf(schedule), midnight - minute, all ? 1000 : instants.length);
      assert.deepEqual(found, instants);
      assert.deepEqual(walked(schedule, instants.at(-1)!), instants, 'walked');
    });

  it(twelfth, () => {
    const hourly = { firstRunAt: midnight, repeatInterval: hour };
    const times = minutes(0, 60, 330, 120, 360);
    const [h0, h1, h5, h6, h7] = minutes(0, 60, 300, 360, 420);
    assert.deepEqual(decisions(hourly, 'none', times), [
      { run: h0, missed: 0, nextRunAt: h1, lastIntervalStart: h0 },
      { run: h1, missed: 0, nextRunAt: minutes(120)[0], lastIntervalStart: h1 },
      { run: null, missed: 4, nextRunAt: h6, lastIntervalStart: h1 },
      { run: null, missed: 0, nextRunAt: h6, lastIntervalStart: h1 },
      { run: h6, missed: 0, nextRunAt: h7, lastIntervalStart: h6 },
    ]);
    assert.deepEqual(decisions(hourly, 'last', times), [
      { run: h0, missed: 0, nextRunAt: h1, lastIntervalStart: h0 },
      { run: h1, missed: 0, nextRunAt: minutes(120)[0], lastIntervalStart: h1 },
      { run: h5, missed: 3, nextRunAt: h6, lastIntervalStart: h5 },
      { run: null, missed: 0, nextRunAt: h6, lastIntervalStart: h5 },
      { run: h6, missed: 0, nextRunAt: h7, lastIntervalStart: h6 },
    ]);
  });

  it('are in the documentation, word for word', () => {
    const page = readFileSync(new URL('../../../docs/schedules.md', import.meta.url), 'utf8').replaceAll('\n    ', ' ');
    [...examples.map(({ words }) => words), twelfth].forEach((words, i) => {
      assert.ok(page.includes(`${i + 1}. ${words}.\n`), `docs/schedules.md lacks: ${i + 1}. ${words}.`);
    });
  });
});

const unbounded = fc.record({
  length: fc.option(fc.constantFrom(0, 0, 1, 1, 1.5, 2, 3, 5, 10), { nil: undefined, freq: 3 }),
  times: fc.constantFrom(1, 1, 2, 3, Infinity, Infinity),
  executing: fc.boolean(),
  start: fc.option(fc.nat(20), { nil: undefined, freq: 3 }),
  end: fc.option(fc.nat(40), { nil: undefined, freq: 3 }),
});
type Drawn = {
  readonly length: number | undefined;
  readonly times: number;
  readonly executing: boolean;
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly components: readonly Drawn[];
};
const leaf = unbounded.map((node): Drawn => ({ ...node, components: [] }));
/** Trees of at most this many levels. */
const drawnOf = (levels: number): fc.Arbitrary<Drawn> =>
  levels === 1
    ? leaf
    : fc.oneof(
        { weight: 1, arbitrary: leaf },
        {
          weight: 2,
          arbitrary: fc
            .tuple(unbounded, fc.array(drawnOf(levels - 1), { minLength: 1, maxLength: 4 }))
            .map(([node, components]) => ({ ...node, components })),
        },
      );

const base = midnight + 1;
const time = (seconds: number): string => new Date(base + seconds * 1000).toISOString();
const endless = (node: Repetition): boolean =>
  !node.end && (node.type === 'repeating' || (!node.duration && (node.components ?? []).some(endless)));
const executes = (node: Repetition): boolean => node.action === 'execute' || (node.components ?? []).some(executes);
const takesTime = ({ duration, components = [] }: Repetition): boolean =>
  duration ? duration.quantity > 0 : components.some(takesTime);

/** The tree that was drawn, without most of what is refused. */
const treeOf = ({ length, times, executing, start, end, components }: Drawn, looped = false): Repetition => {
  const bounded = !looped && components.length > 0 && (start !== undefined || end !== undefined);
  const below = looped || times > 1;
  const reached: Repetition[] = [];
  for (const component of components) {
    reached.push(treeOf(component, below));
    if (endless(reached.at(-1)!)) break;
  }
  const inTurn = components.length > 0 ? { components: reached } : {};
  const type = times === Infinity ? ({ type: 'repeating' } as const) : {};
  if (bounded)
    return {
      ...type,
      ...inTurn,
      ...(start === undefined ? {} : { start: time(start) }),
      ...(end === undefined || end <= (start ?? -1) ? {} : { end: time(end) }),
    };
  const lasts = times > 1 && (length === 0 || (length === undefined && reached.some(endless))) ? 7 : length;
  const node: Repetition = {
    ...type,
    ...inTurn,
    ...(executing || (times === Infinity && !reached.some(executes)) ? { action: 'execute' } : {}),
    ...(times > 1 && times < Infinity ? { count: times } : {}),
    ...(lasts === undefined ? {} : { duration: of('second', lasts) }),
  };
  return times > 1 && !takesTime(node) ? { ...node, duration: of('second', 2) } : node;
};
const schedules = drawnOf(4)
  .map((one): Schedule => ({ firstRunAt: base, repeat: treeOf(one) }))
  .filter((schedule) => scheduleFault(schedule) === undefined);

describe('The instants of a schedule', () => {
  const areWalked = (seed: number): void => {
    const reach = 90_000;
    let several = 0;
    fc.assert(
      fc.property(schedules, fc.nat(reach), fc.nat(reach), (schedule, one, other) => {
        const all = walked(schedule, base + reach);
        if (all.length > 3) several++;
        const { next, latest, countBetween } = sequenceOf(schedule);
        let after = base - 1;
        all.forEach((instant, i) => {
          assert.equal(next(after), instant);
          assert.equal(latest(instant), instant);
          assert.equal(latest(instant - 1), all[i - 1] ?? null);
          assert.equal(countBetween(base - 1, instant), i + 1);
          after = instant;
        });
        const further = next(after);
        assert.ok(further === null || further > base + reach, `${further}`);
        const [from, to] = [base - 5 + Math.min(one, other), base - 5 + Math.max(one, other)];
        assert.equal(next(from), all.find((instant) => instant > from) ?? further);
        assert.equal(latest(to), all.findLast((instant) => instant <= to) ?? null);
        assert.equal(countBetween(from, to), all.filter((instant) => instant > from && instant <= to).length);
        assert.equal(countBetween(to, from), 0);
      }),
      { numRuns: trees, seed },
    );
    assert.ok(several > trees / 3, `Only ${several} trees have more than three instants`);
  };
  for (let batch = 1; batch <= batches; batch++)
    it(`are those of a walk through every pass: ${trees} random trees, ${batch} of ${batches}`, () => areWalked(batch));

  it('are those of a walk in far futures', () => {
    const futures = process.env.SOAK_ROUNDS ? 1000 : 100;
    let far = 0;
    fc.assert(
      fc.property(schedules, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(20_000), (schedule, part, within) => {
        const { repeat } = schedule;
        fc.pre(repeat?.type === 'repeating' && repeat.start === undefined && repeat.end === undefined);
        const length = passLength(repeat);
        const passes = Math.floor(((lastMoment - base) / length) * part * 0.999_999);
        const from = base + length + within;
        const near = walked(schedule, from + 3 * length);
        const { next, countBetween, latest } = sequenceOf(schedule);
        const later = passes * length;
        const first = near.find((instant) => instant > from)!;
        assert.equal(next(from + later), first + later);
        assert.equal(latest(first + later), first + later);
        const inPass = near.filter((instant) => instant > from && instant <= from + length).length;
        assert.equal(countBetween(from, from + later), inPass * passes);
        far++;
      }),
      { numRuns: futures, seed: 61 },
    );
    assert.equal(far, futures);
  });

  it('end with the last moment that a time can say', () => {
    const hourly = sequenceOf({ firstRunAt: 0, repeatInterval: hour });
    const last = lastMoment - (lastMoment % hour);
    assert.deepEqual([hourly.latest(Infinity), hourly.next(last - 1), hourly.next(last)], [last, last, null]);
    const once = sequenceOf({ firstRunAt: lastMoment });
    assert.deepEqual([once.next(lastMoment - 1), once.next(lastMoment)], [lastMoment, null]);
  });

  itInSoak('are found in time for the nodes of the tree, however many have passed', () => {
    const tenYears: Schedule = {
      firstRunAt: 0,
      repeat: repeating(
        { count: 9, ...repeatedDays(365) },
        { ...repeatedDays(365), count: 1 },
        execute('second', 0),
        wait('day', 2),
      ),
    };
    const hourly: Schedule = { firstRunAt: 0, repeatInterval: hour };
    for (const [name, schedule] of Object.entries({
      'an hourly schedule of 1970': hourly,
      'a minute inside a ten-year tree': tenYears,
    })) {
      assert.equal(scheduleFault(schedule), undefined);
      const ask = (moment: number, i: number): void => {
        const { next, countBetween } = sequenceOf(schedule);
        next(moment + i * 977);
        countBetween(i, moment + i * 977);
      };
      const timeAt = (moment: number): number => {
        const spent = processorTime();
        for (let i = 0; i < 3_000; i++) ask(moment, i);
        return spent();
      };
      timeAt(0);
      const [soon, late] = [timeAt(0), timeAt(midnight)];
      assert.ok(late < 10 * soon, `${late} ms after half a century, ${soon} ms at its beginning`);
      const each = Array.from({ length: 3_000 }, (_, i) => {
        const began = performance.now();
        ask(midnight, i);
        return (performance.now() - began) * 1000;
      }).sort((a, b) => a - b);
      const median = each[each.length / 2] ?? NaN;
      process.stderr.write(`    ${name}: next and count after half a century take ${median.toFixed(1)} us\n`);
      if (process.env.SOAK_ROUNDS) assert.ok(median < 100, `${median} us`);
    }
  });

  it('are none where the schedule has a fault', () => {
    const { next, latest, countBetween } = sequenceOf({ firstRunAt: 0, repeat: {} });
    assert.deepEqual([next(-1), latest(1), countBetween(-1, 1)], [null, null, 0]);
  });
});

/** Days with an execute in every minute of an hour. */
const repeatedDays = (count: number): Repetition => ({
  components: [
    { count, duration: of('day', 1), components: [wait('hour', 3), { count: 60, ...execute('minute', 1) }] },
  ],
});

describe('A decision on a schedule', () => {
  const sequence = sequenceOf({ firstRunAt: midnight, repeatInterval: hour });
  const through = midnight;
  const due = midnight + hour;

  it('runs an instant that is due for a minute at most, with either policy', () => {
    for (const processMissedRuns of ['none', 'last'] as const)
      for (const late of [0, 1, minute])
        assert.deepEqual(decide(sequence, { through, now: due + late, enabled: true, processMissedRuns }), {
          run: due,
          missed: null,
          through: due,
        });
  });

  it('runs a later one only if the policy is last', () => {
    const now = due + minute + 1;
    assert.deepEqual(decide(sequence, { through, now, enabled: true, processMissedRuns: 'none' }), {
      run: null,
      missed: { count: 1, first: due, last: due },
      through: due,
    });
    assert.deepEqual(decide(sequence, { through, now, enabled: true, processMissedRuns: 'last' }), {
      run: due,
      missed: null,
      through: due,
    });
  });

  it('counts all that is missed as one, with the first and the last', () => {
    const now = midnight + 5.5 * hour;
    assert.deepEqual(decide(sequence, { through, now, enabled: true, processMissedRuns: 'none' }), {
      run: null,
      missed: { count: 5, first: due, last: midnight + 5 * hour },
      through: midnight + 5 * hour,
    });
    assert.deepEqual(decide(sequence, { through, now, enabled: true, processMissedRuns: 'last' }), {
      run: midnight + 5 * hour,
      missed: { count: 4, first: due, last: midnight + 4 * hour },
      through: midnight + 5 * hour,
    });
  });

  it('is none while nothing is due, while the clock is back, and while the trigger is disabled', () => {
    const none = { through, enabled: true, processMissedRuns: 'last' } as const;
    assert.equal(decide(sequence, { ...none, now: due - 1 }), undefined);
    assert.equal(decide(sequence, { ...none, now: midnight - week }), undefined);
    assert.equal(decide(sequence, { ...none, now: due + week, enabled: false }), undefined);
    assert.equal(decide(sequenceOf({ firstRunAt: 0, repeat: {} }), { ...none, now: due }), undefined);
  });

  it('never decides on an instant twice, whenever it is made', () => {
    fc.assert(
      fc.property(
        schedules,
        fc.array(fc.integer({ min: -20_000, max: 200_000 }), { maxLength: 20 }),
        fc.constantFrom('none', 'last'),
        (schedule, times, processMissedRuns) => {
          const sequence = sequenceOf(schedule);
          let settled = base - minute;
          let decided = 0;
          for (const now of times) {
            const done = decide(sequence, { through: settled, now: base + now, enabled: true, processMissedRuns });
            if (!done) continue;
            const { run, missed } = done;
            decided += (run === null ? 0 : 1) + (missed?.count ?? 0);
            assert.ok(missed === null || missed.first > settled);
            assert.equal(done.through, Math.max(run ?? 0, missed?.last ?? 0));
            settled = done.through;
          }
          assert.equal(decided, walked(schedule, settled).length);
        },
      ),
      { numRuns: process.env.SOAK_ROUNDS ? 1000 : 300, seed: 7 },
    );
  });
});
