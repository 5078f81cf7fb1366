import assert from 'node:assert/strict';
import fc from 'fast-check';
import { dueQueue } from '../src/concurrency/dueQueue.ts';
import { scheduleClock } from '../src/runners/schedules/clock.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const begin = Date.UTC(2026, 0, 5);

/** A machine whose time only passes when told to. */
const machine = () => {
  let wall = begin;
  let steady = 5000;
  let pending: { readonly call: () => void; readonly at: number } | undefined;
  let longest = 0;
  const told: { readonly ids: readonly string[]; readonly now: number }[] = [];
  const jumps: number[] = [];
  const clock = scheduleClock({
    now: () => wall,
    monotonic: () => steady,
    timer: (call, ms) => {
      assert.equal(pending, undefined, 'There is one timer');
      assert.ok(ms >= 0);
      longest = Math.max(longest, ms);
      const set = { call, at: steady + ms };
      pending = set;
      return () => {
        if (pending === set) pending = undefined;
      };
    },
    due: (entries) => told.push({ ids: entries.map(({ id }) => id), now: wall - begin }),
    jumped: (by) => jumps.push(by),
  });
  const pass = (ms: number): void => {
    const end = steady + ms;
    while (pending && pending.at <= end) {
      const { call, at } = pending;
      pending = undefined;
      wall += at - steady;
      steady = at;
      call();
    }
    wall += end - steady;
    steady = end;
  };
  clock.start();
  return {
    clock,
    /** What was told to be due since the last question; times since the begin. */
    told: () => told.splice(0),
    jumps,
    pass,
    /** Sets the wall clock, as somebody does who corrects it. */
    turn: (ms: number): void => {
      wall += ms;
    },
    waits: () => pending !== undefined,
    longest: () => longest,
  };
};

describe('The clock of schedules', () => {
  it('tells at its time what is due, in order of time, then of id', () => {
    const { clock, told, pass } = machine();
    for (const [id, at] of Object.entries({ b: 700, c: 700, a: 700, z: 300, later: day })) clock.set(id, begin + at);
    pass(299);
    assert.deepEqual(told(), []);
    pass(1);
    assert.deepEqual(told(), [{ ids: ['z'], now: 300 }]);
    pass(hour);
    assert.deepEqual(told(), [{ ids: ['a', 'b', 'c'], now: 700 }]);
    pass(day);
    assert.deepEqual(told(), [{ ids: ['later'], now: day }]);
    clock.stop();
  });

  it('tells at once what was due before it was set, and each time once', () => {
    const { clock, told, pass } = machine();
    clock.set('late', begin - day);
    clock.set('later', begin - hour);
    pass(0);
    assert.deepEqual(told(), [{ ids: ['late', 'later'], now: 0 }]);
    pass(day);
    assert.deepEqual(told(), []);
    clock.set('late', begin - day);
    pass(0);
    assert.deepEqual(told(), [{ ids: ['late'], now: day }], 'who sets it again is told again');
    clock.stop();
  });

  it('forgets what is taken away, and takes the last word for what is set again', () => {
    const { clock, told, pass } = machine();
    clock.set('gone', begin + second);
    clock.set('moved', begin + second);
    clock.set('back', begin + minute);
    clock.set('gone', null);
    clock.set('never', null);
    clock.set('moved', begin + hour);
    clock.set('back', begin + hour);
    clock.set('back', begin + minute);
    pass(hour - 1);
    assert.deepEqual(told(), [{ ids: ['back'], now: minute }]);
    pass(1);
    assert.deepEqual(told(), [{ ids: ['moved'], now: hour }]);
    clock.stop();
  });

  it('never sleeps longer than a second, though the next time is years away', () => {
    const { clock, told, pass, longest } = machine();
    clock.set('far', begin + 60 * day);
    pass(hour);
    assert.deepEqual([told(), longest()], [[], second]);
    clock.stop();
  });

  it('believes small steps of the wall clock within a second', () => {
    const { clock, told, pass, turn, jumps } = machine();
    clock.set('a', begin + 4 * minute);
    pass(minute);
    turn(5 * minute);
    pass(second);
    assert.deepEqual(
      told().map(({ ids }) => ids),
      [['a']],
    );
    clock.set('b', begin + 7 * minute);
    turn(-5 * minute);
    pass(5 * minute);
    assert.deepEqual(told(), []);
    pass(minute);
    assert.deepEqual(
      told().map(({ ids }) => ids),
      [['b']],
    );
    assert.deepEqual(jumps, []);
    clock.stop();
  });

  it('takes a step of more than five minutes for a jump, either way', () => {
    for (const by of [5 * minute, -5 * minute, 5 * minute + second, -5 * minute - second]) {
      const { clock, pass, turn, jumps } = machine();
      pass(second);
      turn(by);
      pass(second);
      assert.deepEqual(jumps, Math.abs(by) > 5 * minute ? [by] : []);
      clock.stop();
    }
  });

  it('waits a minute after a jump, and then believes it', () => {
    for (const by of [day, -day]) {
      const { clock, told, pass, turn, jumps } = machine();
      pass(second);
      turn(by);
      clock.set('due', begin + Math.min(by, 0));
      pass(second);
      assert.deepEqual(jumps, [by]);
      assert.deepEqual(clock.status(), { jumped: by, until: begin + by + second + minute });
      pass(minute - second - 1);
      assert.deepEqual(told(), []);
      pass(second);
      assert.equal(told().length, 1);
      assert.deepEqual(clock.status(), { jumped: null, until: null });
      pass(hour);
      assert.deepEqual(jumps, [by], 'it is told once');
      clock.stop();
    }
  });

  it('goes on at once when a jump is corrected: what the wrong time made due is not', () => {
    const { clock, told, pass, turn, jumps } = machine();
    clock.set('tomorrow', begin + day);
    clock.set('soon', begin + 10 * second);
    pass(second);
    turn(10 * 365 * day);
    pass(4 * second);
    assert.deepEqual([told(), jumps.length], [[], 1]);
    turn(-10 * 365 * day + 200);
    pass(second);
    assert.deepEqual(clock.status(), { jumped: null, until: null });
    pass(5 * second);
    assert.deepEqual(
      told().map(({ ids }) => ids),
      [['soon']],
    );
    clock.stop();
  });

  it('waits anew when the clock jumps again while it waits', () => {
    const { clock, told, pass, turn, jumps } = machine();
    clock.set('due', begin + hour);
    pass(second);
    turn(day);
    pass(50 * second);
    turn(day);
    pass(59 * second);
    assert.deepEqual([told(), jumps], [[], [day, 2 * day]]);
    pass(2 * second);
    assert.equal(told().length, 1);
    clock.stop();
  });

  it('sleeps through a suspension, and finds what is due afterwards', () => {
    const { clock, told, pass, turn } = machine();
    clock.set('due', begin + hour);
    pass(second);
    turn(8 * hour); // the monotonic clock stands, and so do timers
    pass(second + minute);
    assert.equal(told().length, 1);
    clock.stop();
  });

  it('leaves no timer behind', () => {
    const { clock, told, pass, waits } = machine();
    clock.set('due', begin + second);
    clock.stop();
    assert.equal(waits(), false);
    clock.set('due', begin);
    assert.equal(waits(), false);
    pass(day);
    assert.deepEqual(told(), []);
  });
});

describe('The queue of what is due', () => {
  it('has the order of a sorted list, whatever is set and removed', () => {
    const id = fc.nat(30).map(String);
    const step = fc.oneof(
      fc.record({ id, at: fc.nat(50) }),
      fc.record({ id, at: fc.constant(null) }),
      fc.record({ id: fc.constant(null), at: fc.nat(50) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = dueQueue();
        const times = new Map<string, number>();
        const sorted = () =>
          [...times].map(([id, at]) => ({ id, at })).sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
        for (const { id, at } of steps) {
          if (id === null) {
            const expected = sorted().filter((entry) => entry.at <= at);
            assert.deepEqual(queue.take(at), expected);
            for (const entry of expected) times.delete(entry.id);
          } else if (at === null) {
            queue.remove(id);
            times.delete(id);
          } else {
            queue.set(id, at);
            times.set(id, at);
          }
          assert.deepEqual(queue.first(), sorted()[0]);
          assert.equal(queue.size(), times.size);
        }
      }),
      { numRuns: 2000, seed: 5 },
    );
  });

  it('does not keep what was removed', () => {
    const queue = dueQueue();
    for (let i = 0; i < 10_000; i++) queue.set('moving', 1_000_000 - i);
    for (let i = 0; i < 5000; i++) queue.set(`removed ${i}`, i);
    for (let i = 0; i < 5000; i++) queue.remove(`removed ${i}`);
    assert.deepEqual(queue.take(Infinity), [{ id: 'moving', at: 1_000_000 - 9999 }]);
  });
});
