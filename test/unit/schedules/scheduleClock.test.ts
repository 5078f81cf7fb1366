import assert from 'node:assert/strict';
import { dueQueue, guardedClock, spans } from '@automation-platform/concurrency';
import fc from 'fast-check';
import { scheduleClock } from '../../../src/runners/schedules/clock.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const begin = Date.UTC(2026, 0, 5);

/** A machine whose time only passes when told to. */
const machine = (newest?: number) => {
  let wall = begin;
  let steady = 5000;
  let pending: { readonly call: () => void; readonly at: number } | undefined;
  let longest = 0;
  const told: { readonly ids: readonly string[]; readonly now: number }[] = [];
  const jumps: number[] = [];
  const guarded = guardedClock({
    now: () => wall,
    monotonic: () => steady,
    newest,
    onJump: ({ by }) => jumps.push(by),
    every: () => () => undefined,
  });
  const clock = scheduleClock({
    clock: guarded,
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
    guarded,
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
      const { clock, guarded, told, pass, turn, jumps } = machine();
      pass(second);
      turn(by);
      clock.set('due', begin + Math.min(by, 0));
      pass(second);
      assert.deepEqual(jumps, [by]);
      const why = 'The clock has jumped; schedules and retirement wait a minute for it to be corrected';
      assert.deepEqual(guarded.status(), { jumped: by, until: begin + by + second + minute, why });
      pass(minute - second - 1);
      assert.deepEqual(told(), []);
      pass(second);
      assert.equal(told().length, 1);
      assert.deepEqual(guarded.status(), { jumped: null, until: null, why: null });
      pass(hour);
      assert.deepEqual(jumps, [by], 'it is told once');
      clock.stop();
    }
  });

  it('goes on at once when a jump is corrected: what the wrong time made due is not', () => {
    const { clock, guarded, told, pass, turn, jumps } = machine();
    clock.set('tomorrow', begin + day);
    clock.set('soon', begin + 10 * second);
    pass(second);
    turn(10 * 365 * day);
    pass(4 * second);
    assert.deepEqual([told(), jumps.length], [[], 1]);
    turn(-10 * 365 * day + 200);
    pass(second);
    assert.deepEqual(guarded.status(), { jumped: null, until: null, why: null });
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

  it('goes on as before the jump in what events show, until the jump is believed', () => {
    const { guarded, pass, turn, clock } = machine();
    pass(second);
    turn(365 * day);
    assert.deepEqual([guarded.now() - begin, guarded.time(), guarded.age(begin)], [second, undefined, second]);
    pass(minute);
    assert.equal(guarded.now() - begin, 365 * day + second + minute);
    clock.stop();
  });

  it('waits at a start that is more than a day after the newest event, for 15 minutes', async () => {
    for (const [newest, waits] of [
      [begin - day, false],
      [begin - day - 1, true],
      [begin + 365 * day, false],
    ] as const) {
      const { clock, guarded, told, pass, jumps } = machine(newest);
      clock.set('due', begin - minute);
      assert.deepEqual(jumps, waits ? [begin - newest] : []);
      assert.deepEqual([guarded.now(), guarded.age(begin)], [begin, waits ? undefined : 0]);
      assert.equal(/^The clock is more than a day later than the newest event/.test(guarded.status().why ?? ''), waits);
      pass(15 * minute - second);
      assert.equal(told().length, waits ? 0 : 1);
      pass(second);
      assert.equal(told().length, waits ? 1 : 0);
      assert.deepEqual(guarded.status(), { jumped: null, until: null, why: null });
      clock.stop();
    }
  });

  it('is believed at once at a start when it is corrected, or when the operator confirms it', async () => {
    for (const end of ['corrected', 'confirmed', 'stopped'] as const) {
      const { clock, guarded, told, pass, turn } = machine(begin - 31 * day);
      const stopping = new AbortController();
      let isBelieved = false;
      void guarded.believed(stopping.signal).then(() => {
        isBelieved = true;
      });
      clock.set('due', begin - 31 * day);
      pass(minute);
      await Promise.resolve();
      assert.deepEqual([told(), isBelieved], [[], false]);
      if (end === 'corrected') turn(-31 * day);
      else if (end === 'confirmed') guarded.confirm();
      else stopping.abort();
      pass(second);
      await Promise.resolve();
      assert.deepEqual([told().length, isBelieved], [end === 'stopped' ? 0 : 1, true]);
      clock.stop();
    }
  });

  it('waits anew at a start when it is set to another time that is as doubtful', () => {
    const { clock, guarded, pass, turn } = machine(begin - 31 * day);
    pass(14 * minute);
    turn(-20 * day);
    pass(14 * minute);
    assert.equal(guarded.status().jumped, 11 * day + 14 * minute + second);
    pass(minute + second);
    assert.equal(guarded.status().jumped, null);
    clock.stop();
  });

  it('says since when it waits, and when it has waited last, by the time that it believes', () => {
    const at = (wait?: readonly [number, number]) =>
      wait ? { since: begin + wait[0], until: begin + wait[1] } : undefined;
    const jumped = machine();
    jumped.pass(second);
    assert.equal(jumped.guarded.moment().wait, undefined);
    jumped.turn(day);
    jumped.pass(second);
    jumped.pass(30 * second);
    assert.deepEqual(jumped.guarded.moment(), {
      now: begin + 32 * second,
      wait: at([2 * second, 32 * second]),
    });
    // The process stands still for an hour: it waited for a minute.
    jumped.pass(hour);
    assert.deepEqual(jumped.guarded.moment().wait, at([day + 2 * second, day + minute + 2 * second]));

    const started = machine(begin - 31 * day);
    started.pass(5 * minute);
    assert.deepEqual(started.guarded.moment().wait, at([0, 5 * minute]));
    started.turn(-10 * day);
    started.pass(2 * minute);
    started.turn(-21 * day);
    started.pass(second);
    started.pass(hour);
    // It was wrong, and waited anew meanwhile: all is one wait.
    assert.deepEqual(started.guarded.moment().wait, at([-31 * day, -31 * day + 7 * minute + second]));

    const confirmed = machine(begin - 31 * day);
    confirmed.pass(minute);
    confirmed.guarded.confirm();
    confirmed.pass(minute);
    confirmed.guarded.confirm();
    assert.deepEqual(confirmed.guarded.moment(), { now: begin + 2 * minute, wait: at([0, minute]) });
    for (const { clock } of [jumped, started, confirmed]) clock.stop();
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

describe('Spans of time', () => {
  it('end by the clock that never jumps, however the wall clock is set', () => {
    const { clock, guarded, pass, turn } = machine();
    const leases = spans(guarded);
    leases.begin('a', minute);
    leases.resume('earlier', { since: begin - 30 * second, ms: minute });
    leases.resume('of a clock that was ahead', { since: begin + day, ms: minute });
    leases.resume('over', { since: begin - day, ms: minute });
    assert.deepEqual(leases.take(), ['over']);
    turn(365 * day);
    pass(30 * second - 1);
    assert.deepEqual(leases.take(), []);
    pass(1);
    assert.deepEqual(leases.take(), ['earlier']);
    turn(-2 * 365 * day);
    pass(30 * second);
    assert.deepEqual(leases.take(), ['a', 'of a clock that was ahead']);
    clock.stop();
  });

  it('that began before a start are counted anew while the clock is doubtful, and from their begin once it is not', () => {
    const { clock, guarded, pass, turn } = machine(begin - 31 * day);
    const leases = spans(guarded);
    leases.resume('long', { since: begin - 31 * day, ms: 7 * day });
    leases.resume('short', { since: begin - 31 * day, ms: minute });
    leases.resume('removed', { since: begin - 31 * day, ms: minute });
    leases.begin('new', 2 * minute);
    leases.remove('removed');
    pass(minute);
    assert.deepEqual(leases.take(), ['short']);
    turn(-31 * day);
    pass(minute);
    assert.deepEqual(leases.take(), ['new']);
    pass(7 * day - 2 * minute - 1);
    assert.deepEqual(leases.take(), []);
    pass(1);
    assert.deepEqual(leases.take(), ['long']);
    clock.stop();
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
      { numRuns: process.env.SOAK_ROUNDS ? 2000 : 500, seed: 5 },
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
