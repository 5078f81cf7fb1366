import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { newLeadership } from '@automation-platform/concurrency';
import fc from 'fast-check';
import { deleteAutomation } from '../../../src/commands/operations-manager/automations.ts';
import { RunRefused } from '../../../src/commands/operations-manager/triggerRuns.ts';
import { jobOfInstant, settleSchedule } from '../../../src/commands/operations-manager/triggerSchedules.ts';
import { deleteTrigger } from '../../../src/commands/operations-manager/triggers.ts';
import { fold } from '../../../src/domain/engine/core.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import {
  nextRun,
  type Plan,
  reset,
  type ScheduleEvent,
  set,
  settle,
  triggerSchedule,
} from '../../../src/domain/operations-manager/triggerSchedules.ts';
import { documentOf } from '../../../src/projections/engine/documents.ts';
import { triggerSchedules } from '../../../src/projections/operations-manager/triggerSchedules.ts';
import { context, specification } from '../../support/given.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import {
  day,
  eventsOf,
  hour,
  machineClocks,
  minute,
  plannersOn,
  schedulesOn,
  second,
  triggerRunsOn,
} from '../../support/scheduling.ts';
import { walked } from '../../support/slowSchedules.ts';
import { until } from '../../support/until.ts';

const midnight = Date.UTC(2026, 0, 5);

describe('Decisions on schedules', () => {
  const given = specification(triggerSchedule);
  const begun = { topic: 'scheduleSet', data: { since: midnight - minute } } as const;
  const hourly: Plan = { firstRunAt: midnight, repeatInterval: hour, enabled: true, processMissedRuns: 'none' };
  const refs = (plan: Partial<Plan> | undefined = {}) => ({
    plan: { ...hourly, ...plan },
    jobOf: (instant: number) => `job of ${instant - midnight}`,
  });
  const fired = (instant: number) =>
    ({ topic: 'scheduleFired', data: { instant: midnight + instant, job: `job of ${instant}` } }) as const;
  const missed = (count: number, first: number, last: number) =>
    ({ topic: 'runsMissed', data: { count, first: midnight + first, last: midnight + last } }) as const;
  const at = (time: number) => ({ now: midnight + time });

  it('begin a schedule anew once for each change of when it runs', () => {
    given()
      .when(set, { begun: 5 }, { isNew: true })
      .then({ topic: 'scheduleSet', data: { since: 5 - minute, begun: 5 } });
    given(begun).when(set, { begun: 5 }, { isNew: false }).thenNothing();
  });

  it('name what has run later than where a schedule begins anew, which never runs again', () => {
    const anew: ScheduleEvent = {
      topic: 'scheduleSet',
      data: { since: midnight - 40, begun: midnight - 40 + minute, ran: [midnight] },
    };
    const future: ScheduleEvent = { topic: 'scheduleSet', data: { since: midnight + 1, ran: [midnight + hour] } };
    given(begun, fired(0))
      .when(set, { begun: midnight - 40 + minute }, { isNew: true })
      .then(anew);
    given(begun, fired(0), fired(hour))
      .when(reset, { since: midnight + 1 })
      .then(future);
    given(begun, fired(0), anew)
      .when(settle, at(minute - 40), refs({ processMissedRuns: 'last' }))
      .thenNothing();
    given(begun, fired(hour), future)
      .when(settle, at(2 * hour), refs())
      .then(fired(2 * hour));
  });

  it('run the last instant of the minute before a schedule began, if it is not too late, and miss none of them', () => {
    const anew = { topic: 'scheduleSet', data: { since: midnight, begun: midnight + minute } } as const;
    const every = (ms: number, processMissedRuns: 'none' | 'last' = 'none') =>
      refs({ repeatInterval: ms, processMissedRuns });
    given(anew)
      .when(settle, at(minute), every(25 * second))
      .then(fired(50 * second));
    given(anew)
      .when(settle, at(minute + 60 * second), every(50 * second))
      .then(fired(100 * second));
    const once = (instant: number, processMissedRuns: 'none' | 'last') =>
      refs({ firstRunAt: midnight + instant, repeatInterval: null, processMissedRuns });
    given(anew)
      .when(settle, at(minute + 2), once(1, 'none'))
      .thenNothing();
    given(anew)
      .when(settle, at(minute + 2), once(1, 'last'))
      .then(fired(1));
  });

  it('decide each instant once, and miss none that was never due, however often the timing changes', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ pass: fc.integer({ min: -200, max: 200 }) }) },
      { weight: 1, arbitrary: fc.record({ interval: fc.constantFrom(7, 20, 61), enabled: fc.boolean() }) },
    );
    const policy = fc.constantFrom('none', 'last');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), policy, (steps, processMissedRuns) => {
        let plan = { ...hourly, repeatInterval: 20 * second, processMissedRuns };
        let [now, begin, through] = [midnight + hour, 0, 0];
        let state = triggerSchedule.initial;
        const ran = new Set<number>();
        const change = (): void => {
          state = fold(triggerSchedule, set(state, { begun: now }, { ...context, refs: { isNew: true } }), state);
          [begin, through] = [now, now - minute];
        };
        /** What is due, by a walk through all instants: the last one runs, and the others are missed. */
        const dueNow = () => {
          const open = walked(plan, Math.max(now, begin)).filter((one) => one > through);
          const lastBefore = open.filter((one) => one <= begin).at(-1);
          const due = open.filter((one) => one <= now && !ran.has(one) && (one > begin || one === lastBefore));
          const last = plan.enabled ? due.at(-1) : undefined;
          if (last === undefined) return [];
          const runs = now - last <= minute || processMissedRuns === 'last';
          const count = due.filter((one) => one > begin && !(runs && one === last)).length;
          return [...(count > 0 ? [count] : []), ...(runs ? [`run ${last}`] : [])];
        };
        const look = (): void => {
          const events = settle(state, { now }, { ...context, refs: { plan, jobOf: String } });
          assert.deepEqual(
            events.map(({ topic, data }) => (topic === 'runsMissed' ? data.count : `run ${(data as any).instant}`)),
            dueNow(),
          );
          state = fold(triggerSchedule, events, state);
          for (const { topic, data } of events) {
            if (topic === 'scheduleFired') ran.add(data.instant);
            through = topic === 'scheduleSet' ? through : topic === 'runsMissed' ? data.last : data.instant;
          }
          const next = nextRun({ ...plan, cause: '' }, { ...state, through: state.through ?? 0, cause: '' }, { now });
          assert.ok(next === null || next > now, 'nothing is due after a decision');
        };
        change();
        look();
        for (const one of steps) {
          if ('pass' in one) now += one.pass * second;
          else {
            plan = { ...plan, repeatInterval: one.interval * second, enabled: one.enabled };
            change();
          }
          look();
        }
      }),
      { numRuns: process.env.SOAK_ROUNDS ? 500 : 150, seed: 29 },
    );
  });

  it('run an instant that is at most 60 s old, and settle it', () => {
    given(begun).when(settle, at(0), refs()).then(fired(0));
    given(begun).when(settle, at(minute), refs()).then(fired(0));
    given(begun)
      .when(settle, at(minute + 1), refs())
      .then(missed(1, 0, 0));
    given(begun, fired(0))
      .when(settle, at(59 * minute), refs())
      .thenNothing();
    given(begun).when(settle, at(-1), refs()).thenNothing();
  });

  it('gather all that are missed in one event, before the run', () => {
    given(begun)
      .when(settle, at(5 * hour), refs())
      .then(missed(5, 0, 4 * hour), fired(5 * hour));
    given(begun, fired(hour))
      .when(settle, at(5.5 * hour), refs())
      .then(missed(4, 2 * hour, 5 * hour));
  });

  it('run the last one however late with `last`', () => {
    const last = refs({ processMissedRuns: 'last' });
    given(begun, fired(hour))
      .when(settle, at(5.5 * hour), last)
      .then(missed(3, 2 * hour, 4 * hour), fired(5 * hour));
    given(begun, fired(hour), missed(3, 2 * hour, 4 * hour), fired(5 * hour))
      .when(settle, at(2 * hour), last)
      .thenNothing();
  });

  it('do not count as late the time for which the clock waited', () => {
    const waiting = (since: number, until: number, now: number) => ({
      now: midnight + now,
      wait: { since: midnight + since, until: midnight + until },
    });
    const quarter = 15 * minute;
    for (const [moment, ...events] of [
      [waiting(-minute, quarter, quarter), fired(0)],
      [waiting(-minute, quarter, quarter + minute), fired(0)],
      [waiting(-minute, quarter, quarter + minute + 1), missed(1, 0, 0)],
      // Shortly before a wait; too long before it; after it.
      [waiting(20 * second, quarter, quarter + 40 * second), fired(0)],
      [waiting(20 * second, quarter, quarter + 40 * second + 1), missed(1, 0, 0)],
      [waiting(minute + 1, quarter, quarter), missed(1, 0, 0)],
      [waiting(-quarter, -second, minute + 1), missed(1, 0, 0)],
      // Of several that fell due meanwhile only the last one runs.
      [waiting(-minute, 2 * hour + quarter, 2 * hour + quarter), missed(2, 0, hour), fired(2 * hour)],
      // It was set back since, or goes on.
      [waiting(day, 2 * day, minute + 1), missed(1, 0, 0)],
      [waiting(-hour, 30 * minute, 30 * minute), fired(0)],
    ] as const)
      given(begun)
        .when(settle, moment, refs())
        .then(...events);
    // Of the minute before a schedule that begins in a wait, the last one runs too.
    const anew = {
      topic: 'scheduleSet',
      data: { since: midnight - 30 * second, begun: midnight + 30 * second },
    } as const;
    given(anew)
      .when(settle, waiting(-minute, quarter, quarter), refs())
      .then(fired(0));
  });

  it('do nothing while the trigger is disabled, gone or not begun', () => {
    given(begun)
      .when(settle, at(hour), refs({ enabled: false }))
      .thenNothing();
    given(begun)
      .when(settle, at(hour), { ...refs(), plan: undefined })
      .thenNothing();
    given().when(settle, at(hour), refs()).thenNothing();
  });

  it('do nothing for a schedule with a fault', () => {
    given(begun)
      .when(settle, at(hour), refs({ repeatInterval: 1 }))
      .thenNothing();
  });
});

describe('The job of an instant', () => {
  it('has an id that stays the same for ever, since it is all that keeps the job from starting twice', () => {
    // The first 24 digits of the SHA-256 of `job b 1767571200000`.
    assert.equal(jobOfInstant('b', midnight), '1f551dbd4df2b25e2520b455');
  });
});

describe('Schedules on nodes', () => {
  let clocks = machineClocks(midnight - hour);
  const { log, node: start } = nodesOnLog({ reacting: true, now: () => clocks.now() });
  let node: TestNode;
  let planners: ReturnType<typeof plannersOn>;
  let running: ReturnType<typeof schedulesOn>[];
  beforeEach(async () => {
    clocks = machineClocks(midnight - hour);
    node = await start();
    planners = plannersOn(node);
    running = [];
    await planners.automation('a');
  });
  const stop = () => Promise.all(running.splice(0).map((each) => each.stop()));
  afterEach(stop);

  const run = async (more: Parameters<typeof schedulesOn>[3] = {}, on = node, by = clocks) => {
    const schedules = schedulesOn(on, log.store, by, more);
    running.push(schedules);
    on.subscribe({ categories: schedules.categories, onShown: schedules.onEvent });
    on.subscribeToAll(schedules.onStored);
    await schedules.prepare();
    schedules.start();
    await until(by.isAwaited, 'the clock to start');
    return schedules;
  };
  const decided = async () =>
    (await eventsOf(log.store, 'runsMissed', 'scheduleFired')).map(({ topic, data, stream }) => ({
      id: stream.slice('triggerSchedule-'.length),
      ...(topic === 'scheduleFired' ? { fired: data.instant } : { missed: data.count }),
    }));
  const jobs = async () =>
    (await eventsOf(log.store, 'jobStarted')).map(({ data }) => [data.trigger, data.instant] as const);
  const sinces = async (id: string) =>
    (await eventsOf(log.store, 'scheduleSet'))
      .filter(({ stream }) => stream === `triggerSchedule-${id}`)
      .map(({ data }) => data.since);
  /** Firings that have neither a job nor a refusal nor are parked. */
  const openRuns = async (): Promise<number> => {
    const [fired, started, parked] = await Promise.all([
      eventsOf(log.store, 'scheduleFired'),
      jobs(),
      eventsOf(log.store, 'reactionParked'),
    ]);
    const refused = await eventsOf(log.store, 'runsRefused');
    return fired.length - started.length - parked.length - refused.reduce((sum, { data }) => sum + data.count, 0);
  };
  /**
   * Sets the time, and waits until all that is due then was decided, and has come to its end: a schedule for this second is
   * the last one decided, but jobs of several triggers start in any order. `open`: the runs that do not come to an end.
   */
  let probes = 0;
  const pass = async (ms: number, open = 0): Promise<void> => {
    const id = `probe${++probes}`;
    await planners.schedule(id, { firstRunAt: clocks.now() + ms });
    await node.catchUp();
    clocks.pass(ms);
    await until(async () => {
      clocks.pass(0);
      return (await jobs()).some(([trigger]) => trigger === id) && (await openRuns()) === open;
    }, 'the job of the probe, and the ends of all runs');
  };
  const withoutProbes = <T extends { readonly id: string }>(all: readonly T[]) =>
    all.filter(({ id }) => !id.startsWith('probe'));
  const jobsOf = async (id: string) =>
    (await jobs()).filter(([trigger]) => trigger === id).map(([, instant]) => instant - midnight);

  it('run at their instants, in order of time, then of id; the job follows', async () => {
    await planners.schedule('b', { firstRunAt: midnight, repeatInterval: hour });
    await planners.schedule('a1', { firstRunAt: midnight });
    await planners.schedule('early', { firstRunAt: midnight - 5 });
    await run();
    await pass(hour);
    assert.deepEqual(withoutProbes(await decided()), [
      { id: 'early', fired: midnight - 5 },
      { id: 'a1', fired: midnight },
      { id: 'b', fired: midnight },
    ]);
    const [event] = (await eventsOf(log.store, 'scheduleFired')).filter(({ stream }) => stream.endsWith('-b'));
    const [job] = (await eventsOf(log.store, 'jobStarted')).filter(({ data }) => data.trigger === 'b');
    assert.equal(event?.data.job, jobOfInstant('b', midnight));
    assert.equal(job?.stream, `job-${event?.data.job}`);
    assert.equal(event?.metadata.$correlationId, event?.id);
    assert.equal(job?.metadata.$causationId, event?.id);
    assert.equal(job?.metadata.$correlationId, event?.id);
    assert.deepEqual([job?.data.event, job?.data.instant, job?.data.depth], [null, midnight, 0]);
    assert.deepEqual(job?.data.watchers, []);
    const shown = await documentOf(node.model, triggerSchedules, 'b');
    assert.deepEqual([shown?.through, shown?.lastIntervalStart], [midnight, midnight]);
  });

  for (const [policy, runs] of [
    ['none', [0, 1, 6]],
    ['last', [0, 1, 5, 6]],
  ] as const)
    it(`do what the twelfth example says with \`${policy}\``, async () => {
      await planners.schedule('hourly', { firstRunAt: midnight, repeatInterval: hour, processMissedRuns: policy });
      await run();
      await pass(hour);
      await pass(hour);
      for (const time of [5.5, 2, 6]) {
        await stop();
        clocks = machineClocks(midnight + time * hour - second);
        await run();
        await pass(second);
      }
      assert.deepEqual(
        await jobsOf('hourly'),
        runs.map((n) => n * hour),
      );
      const missed = (await decided()).flatMap((one) => ('missed' in one ? one.missed : []));
      assert.deepEqual(missed, [policy === 'none' ? 4 : 3]);
    });

  it('begin anew when the timing changes, and only then', async () => {
    await planners.schedule('s', { firstRunAt: midnight, repeatInterval: hour });
    assert.deepEqual(await sinces('s'), [midnight - hour - minute]);
    clocks.pass(minute);
    await planners.change('s', { enabled: false });
    await planners.change('s', { enabled: true, processMissedRuns: 'last', name: 'other' });
    assert.equal((await sinces('s')).length, 1);
    for (const patch of [
      { firstRunAt: midnight + 1 },
      { repeatInterval: 2 * hour },
      { repeatInterval: null, repeatUnit: 'hour', repeatFrequency: 3 },
      { repeatFrequency: 4 },
      { repeatUnit: 'minute' },
      { repeatUnit: null, repeatFrequency: null, repeatInterval: null, repeat: { action: 'execute' } },
    ]) {
      clocks.pass(second);
      await planners.change('s', patch);
      assert.equal((await sinces('s')).at(-1), clocks.now() - minute, JSON.stringify(patch));
    }
    assert.equal((await sinces('s')).length, 7);
  });

  it('run again after a wrong clock had settled the future, once the timing changes', async () => {
    await planners.schedule('s', { firstRunAt: midnight, repeatInterval: hour });
    await run();
    await stop();
    clocks = machineClocks(midnight + 3650 * day);
    await run();
    await pass(second);
    await stop();
    clocks = machineClocks(midnight);
    await run();
    await pass(hour);
    assert.deepEqual(await jobsOf('s'), [3650 * day]);
    await planners.change('s', { repeatInterval: 2 * hour });
    await node.catchUp();
    await pass(hour);
    assert.deepEqual(await jobsOf('s'), [3650 * day, 2 * hour]);
  });

  it('fire once, on two nodes that both decide, with a lease and without', async () => {
    const other = await start();
    for (let n = 0; n < 20; n++) await planners.schedule(`s${n}`, { firstRunAt: midnight, repeatInterval: minute });
    await run();
    await run({ leadership: newLeadership() }, other);
    for (let n = 1; n <= 3; n++) {
      await pass(n === 1 ? hour : minute);
      // Few are decided at once, and the clock stands until all are.
      await until(async () => withoutProbes(await decided()).length >= 20 * n, 'the decisions');
    }
    const scheduledJobs = async () => (await jobs()).filter(([id]) => !id.startsWith('probe'));
    // A job follows its decision after a moment; a stop would leave it to the next start.
    await until(async () => (await scheduledJobs()).length >= 60, 'the jobs');
    await stop();
    const fired = withoutProbes(await decided());
    assert.equal(fired.length, 60);
    assert.equal(new Set(fired.map((one) => JSON.stringify(one))).size, 60);
    assert.equal((await scheduledJobs()).length, 60);
  });

  it('wait a minute when the clock has jumped, and go on at once when it is corrected', async () => {
    const logged: string[] = [];
    await planners.schedule('s', { firstRunAt: midnight, repeatInterval: hour });
    const { clock } = await run({ log: (message) => logged.push(message) });
    const began = clocks.now();
    clocks.set(began + 3 * hour);
    clocks.pass(second);
    const { why, ...jump } = clock.status();
    assert.deepEqual(jump, { jumped: 3 * hour, until: began + 3 * hour + second + minute });
    assert.match(why ?? '', /wait a minute/);
    clocks.pass(minute - second);
    assert.deepEqual(await decided(), []);
    clocks.set(began + minute + second);
    clocks.pass(second);
    assert.deepEqual(clock.status(), { jumped: null, until: null, why: null });
    await pass(midnight - clocks.now());
    assert.deepEqual(await jobsOf('s'), [0]);
    assert.deepEqual(withoutProbes(await decided()).length, 1);
    clocks.set(clocks.now() + 3 * hour);
    clocks.pass(second);
    clocks.pass(minute);
    // Of the runs that fell due meanwhile, the last one starts.
    await until(async () => (await jobsOf('s')).length === 2, 'the job of the last run');
    assert.deepEqual(await jobsOf('s'), [0, 3 * hour]);
    assert.deepEqual(
      (await decided()).filter((one) => 'missed' in one),
      [{ id: 's', missed: 2 }],
    );
    assert.deepEqual(logged.filter((line) => line.includes('jumped')).length, 2);
  });

  it('that fall due while a start waits run once the clock is believed, the last one only, on whichever node', async () => {
    const other = await start();
    const newest = clocks.now() - 31 * day;
    await planners.schedule('often', { firstRunAt: midnight - 3 * minute, repeatInterval: 2 * minute });
    await planners.schedule('changed', { firstRunAt: midnight + day });
    clocks.set(midnight - 5 * minute);
    const { clock } = await run({ newest });
    const { clock: otherClock } = await run({ newest, leadership: newLeadership() }, other);
    clocks.pass(5 * minute);
    await planners.change('changed', { firstRunAt: midnight - 10 * second });
    clocks.pass(5 * minute);
    await planners.change('changed', { enabled: false });
    await planners.change('changed', { enabled: true });
    assert.deepEqual(await decided(), []);
    clock.confirm();
    otherClock.confirm();
    await pass(30 * second);
    assert.deepEqual(
      withoutProbes(await decided()).sort((a, b) => (a.id < b.id ? -1 : 1)),
      [
        { id: 'changed', fired: midnight - 10 * second },
        { id: 'often', missed: 4 },
        { id: 'often', fired: midnight + 5 * minute },
      ],
    );
  });

  it('that fell due before a process was killed that waited are decided as after a stop', async () => {
    const newest = clocks.now() - 31 * day;
    await planners.schedule('s', { firstRunAt: midnight });
    clocks.set(midnight - 5 * minute);
    await run({ newest });
    clocks.pass(10 * minute);
    await stop();
    clocks = machineClocks(clocks.now() + minute);
    await run({ newest });
    clocks.pass(15 * minute);
    await until(async () => (await decided()).length > 0, 'the decision');
    assert.deepEqual(await decided(), [{ id: 's', missed: 1 }]);
  });

  it('are judged by the time when it is their turn, not by that of the look', async () => {
    const ids = ['s1', 's2', 's3', 's4', 's5'];
    for (const id of ids) await planners.schedule(id, { firstRunAt: midnight });
    let settled = 0;
    await run({
      handle: async (command, request) => {
        const result = await node.handle(command, request);
        // The process stands still in the third of the first three.
        if (command === settleSchedule && ++settled === 3) clocks.pass(10 * minute);
        return result;
      },
    });
    clocks.pass(hour);
    await until(async () => (await decided()).length === 5);
    const [on, late] = [ids.slice(0, 3), ids.slice(3)];
    const all = (await decided()).sort((a, b) => (a.id < b.id ? -1 : 1));
    assert.deepEqual(all, [...on.map((id) => ({ id, fired: midnight })), ...late.map((id) => ({ id, missed: 1 }))]);
  });

  it('that could not be decided under a wrong clock do not wait for it to come true', async () => {
    const logged: string[] = [];
    const wrong = 59 * minute;
    clocks.set(midnight + wrong);
    await planners.schedule('s', { firstRunAt: midnight, repeatInterval: hour, processMissedRuns: 'last' });
    clocks.set(midnight + hour + wrong);
    let failures = 0;
    await run({
      log: (message) => logged.push(message),
      handle: async (command, request) => {
        if (command === settleSchedule && failures++ === 0) throw new RequestError('unavailable', 'The disk is full');
        return node.handle(command, request);
      },
    });
    clocks.pass(second);
    await until(() => logged.some((line) => line.includes('could not be decided')));
    clocks.set(midnight + hour);
    await until(async () => {
      clocks.pass(second);
      return (await decided()).length > 0;
    });
    assert.deepEqual(await decided(), [{ id: 's', fired: midnight + hour }]);
    assert.ok(clocks.now() < midnight + hour + 3 * minute, `${clocks.now() - midnight - hour} ms`);
  });

  it('begin a correlation with the run, also where `runsMissed` precedes it', async () => {
    await planners.schedule('s', { firstRunAt: midnight, repeatInterval: hour, processMissedRuns: 'last' });
    await run();
    await pass(5.5 * hour);
    await until(async () => (await jobsOf('s')).length > 0);
    const decisions = await eventsOf(log.store, 'runsMissed', 'scheduleFired');
    const [missed, fired] = decisions.filter(({ stream }) => stream === 'triggerSchedule-s');
    assert.deepEqual([missed?.topic, fired?.topic], ['runsMissed', 'scheduleFired']);
    assert.notEqual(missed?.id, fired?.id);
    assert.equal(missed?.metadata.$correlationId, fired?.id);
    assert.equal(fired?.metadata.$correlationId, fired?.id);
    const [job] = (await eventsOf(log.store, 'jobStarted')).filter(({ data }) => data.trigger === 's');
    assert.equal(job?.stream, `job-${fired?.data.job}`);
    assert.equal(job?.metadata.$causationId, fired?.id);
    assert.equal(job?.metadata.$correlationId, fired?.id);
  });

  it('have at most 200 starts under way, however many are due', async () => {
    const due = 220;
    await Promise.all(Array.from({ length: due }, (_, n) => planners.schedule(`s${n}`, { firstRunAt: midnight })));
    let underWay = 0;
    const { status } = await run({
      run: async ({ signal }) => {
        assert.ok(signal);
        underWay++;
        await once(signal, 'abort');
        throw signal.reason;
      },
    });
    clocks.pass(hour);
    await until(() => status().starting === due, 'all to wait for their jobs');
    await until(() => underWay > 0, 'a start');
    // None of them ends, so all that begin have begun soon.
    await pause(50);
    assert.ok(underWay <= 200, `${underWay} at once`);
  });

  it('warn on both nodes when their clocks differ by more than a minute', async () => {
    const behind = machineClocks(midnight - 2 * hour);
    const other = await start(log.store, { now: () => behind.now() });
    const logged: Record<string, string[]> = { ahead: [], behind: [] };
    await run({ log: (message) => logged.ahead?.push(message) });
    await run({ log: (message) => logged.behind?.push(message), leadership: newLeadership() }, other, behind);
    await planners.schedule('s', { firstRunAt: midnight });
    await pass(hour);
    await until(() => (logged.behind ?? []).length > 0);
    await plannersOn(other).change('s', { description: 'x' });
    await until(() => (logged.ahead ?? []).length > 0);
    assert.match(logged.ahead?.join() ?? '', /^The clock of this node is ahead of that of another node/);
    assert.match(logged.behind?.join() ?? '', /^The clock of this node is behind that of another node/);
    // The hour has room for another warning, 10 minutes after the first one.
    for (const messages of Object.values(logged)) assert.equal(new Set(messages).size, 1);
  });

  it('start the jobs that a stop has left over', async () => {
    await planners.schedule('s', { firstRunAt: midnight, repeatInterval: hour });
    const follower = newLeadership();
    await run({ leadership: follower });
    clocks.pass(hour);
    await until(async () => (await decided()).length === 1);
    await stop();
    assert.deepEqual(await jobs(), []);
    clocks.pass(minute);
    await run();
    await until(async () => (await jobs()).length === 1);
    assert.deepEqual(await jobsOf('s'), [0]);
  });

  it('say in a job what trigger and automation say when it starts', async () => {
    await planners.schedule('s', { firstRunAt: midnight });
    const follower = newLeadership();
    await run({ leadership: follower });
    clocks.pass(hour);
    await until(async () => (await decided()).length === 1);
    await planners.change('s', { name: 'renamed', formData: { site: 'Bonn' } });
    follower.set(true);
    await until(async () => (await jobs()).length === 1);
    const [job] = await eventsOf(log.store, 'jobStarted');
    assert.deepEqual(job?.data.variables, {
      formData: { site: 'Bonn' },
      _trigger: { id: 's', name: 'renamed', type: 'schedule' },
    });
  });

  it('refuse a run in words, with its instant, and go on', async () => {
    const follower = newLeadership();
    for (const id of ['disabled', 'gone', 'homeless', 'rights', 'jst'])
      await planners.schedule(id, { firstRunAt: midnight, ...(id === 'homeless' && { actionId: 'b' }) }).catch(() => 0);
    await planners.automation('b');
    await planners.schedule('homeless', { firstRunAt: midnight, actionId: 'b' });
    let isRefused = true;
    await run({
      leadership: follower,
      viewerOf: async (id) =>
        isRefused ? undefined : { actor: { id, username: id, provenance: 'local', groups: [], admin: true } },
    });
    clocks.pass(hour);
    await until(async () => (await decided()).length === 5);
    await planners.change('disabled', { enabled: false });
    await node.command(deleteTrigger, 'gone');
    await node.command(deleteAutomation, 'b');
    follower.set(true);
    await until(async () => (await eventsOf(log.store, 'runsRefused')).length === 5);
    const refused = new Map(
      (await eventsOf(log.store, 'runsRefused')).map(({ stream, data }) => [
        stream.slice('triggerRuns-'.length),
        [data.reason, data.count, data.instant],
      ]),
    );
    assert.deepEqual(Object.fromEntries(refused), {
      disabled: ['disabled', 1, midnight],
      gone: ['gone', 1, midnight],
      homeless: ['gone', 1, midnight],
      rights: ['rights', 1, midnight],
      jst: ['rights', 1, midnight],
    });
    assert.deepEqual(await jobs(), []);
    isRefused = false;
    await planners.change('rights', { firstRunAt: midnight + minute });
    await pass(minute);
    assert.deepEqual(await jobsOf('rights'), [minute]);
  });

  it('do not refuse a run whose job another leader has started meanwhile', async () => {
    await planners.schedule('s', { firstRunAt: midnight });
    const { run: starts } = triggerRunsOn(node);
    let refusals = 0;
    const { status } = await run({
      run: async (one) => {
        const started = await starts(one);
        if (one.trigger.id !== 's') return started;
        refusals++;
        return { refused: new RunRefused('disabled', new RequestError('conflict', 'The trigger is disabled')) };
      },
    });
    await pass(hour);
    await until(() => refusals > 0 && status().starting === 0);
    assert.deepEqual([await jobsOf('s'), await eventsOf(log.store, 'runsRefused')], [[0], []]);
  });

  it('are refused once each by two leaders, of which one knows less', async () => {
    const other = await start();
    const followers = [newLeadership(), newLeadership()] as const;
    await planners.schedule('s', { firstRunAt: midnight, repeatInterval: hour });
    const { run: starts } = triggerRunsOn(node);
    let isStored = (): void => undefined;
    const stored = new Promise<void>((resolve) => {
      isStored = resolve;
    });
    let goOn = (): void => undefined;
    const last = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await run({
      leadership: followers[0],
      // It has not come to the last run while the other one refuses it.
      run: async (one) => {
        if (one.instant === midnight + 2 * hour) await last;
        return starts(one);
      },
    });
    let hasBegun = false;
    const late: typeof starts = async (one) => {
      hasBegun = true;
      await stored;
      return starts(one);
    };
    await run({ leadership: followers[1], run: late }, other);
    for (let n = 0; n < 3; n++) {
      clocks.pass(hour);
      await until(async () => (await decided()).length === n + 1);
    }
    await planners.change('s', { enabled: false });
    const counted = async () =>
      (await eventsOf(log.store, 'runsRefused')).reduce((sum, { data }) => sum + data.count, 0);
    followers[1].set(true);
    await until(() => hasBegun, 'the second one, which knows of no refusal');
    followers[0].set(true);
    await until(async () => (await counted()) === 2, 'what the first one refuses');
    isStored();
    await until(async () => (await counted()) > 2, 'what the second one refuses');
    goOn();
    await until(() => running.every((each) => each.status().starting === 0), 'the ends of all runs');
    assert.equal(await counted(), 3);
  });

  it('park a run that fails for a reason of the service, and only it', async () => {
    for (const id of ['bad', 'good']) await planners.schedule(id, { firstRunAt: midnight });
    let isPoisoned = true;
    const { run: starts } = triggerRunsOn(node);
    const schedules = await run({
      run: async (one) => {
        if (isPoisoned && one.trigger.id === 'bad') throw new Error('poison');
        return starts(one);
      },
    });
    clocks.pass(hour);
    await until(async () => (await eventsOf(log.store, 'reactionParked')).length === 1 && (await jobs()).length === 1);
    assert.deepEqual(await jobs(), [['good', midnight]]);
    await node.catchUp();
    const [parked] = await eventsOf(log.store, 'reactionParked');
    assert.deepEqual([parked?.data.trigger, parked?.data.tries, parked?.data.reason], ['bad', 6, 'poison']);
    isPoisoned = false;
    const id = parked?.stream.slice('parkedReaction-'.length) ?? '';
    const about = { actor: context.actor, operation: 'retryParked', requestId: 'r' };
    assert.deepEqual(await schedules.retry(id, about), { job: jobOfInstant('bad', midnight), refused: null });
    assert.equal((await eventsOf(log.store, 'reactionCompleted')).length, 1);
    assert.deepEqual(await jobsOf('bad'), [0]);
  }).timeout(60_000);

  it('go on after a run that cannot even be parked', async () => {
    await planners.schedule('bad', { firstRunAt: midnight, repeatInterval: hour });
    const { run: starts } = triggerRunsOn(node);
    const handle: typeof node.handle = async (command, request) => {
      if (command.name === 'parkReaction') throw new RequestError('internal', 'Somebody has spoilt the stream');
      return node.handle(command, request);
    };
    let tries = 0;
    await run({
      handle,
      run: async (one) => {
        if (one.trigger.id !== 'bad' || one.instant !== midnight) return starts(one);
        tries++;
        throw new RequestError('internal', 'poison');
      },
    });
    await pass(hour, 1);
    await until(() => tries > 0);
    await pass(hour, 1);
    await until(async () => (await jobsOf('bad')).length > 0);
    assert.deepEqual([await jobsOf('bad'), tries], [[hour], 1]);
  });
});

describe('Schedules of a version that did not run them', () => {
  const clocks = machineClocks(midnight - hour);
  const { log, node: start } = nodesOnLog({ now: () => clocks.now() });

  it('begin with the first start of one that does', async () => {
    const node = await start();
    const planners = plannersOn(node);
    await planners.automation('a');
    for (const [id, enabled] of [
      ['on', true],
      ['off', false],
    ] as const)
      await planners.schedule(id, { firstRunAt: midnight - 10 * day, repeatInterval: hour, enabled });
    await node.catchUp();
    clocks.pass(hour / 2);
    const schedules = schedulesOn(node, log.store, clocks);
    node.subscribe({ categories: schedules.categories, onShown: schedules.onEvent });
    await schedules.prepare();
    const since = midnight - hour / 2 - minute;
    const sets = async () => (await eventsOf(log.store, 'scheduleSet')).map(({ data }) => data.since);
    assert.deepEqual(await sets(), [since, since]);
    await schedules.prepare();
    assert.equal((await sets()).length, 2);
    schedules.start();
    await until(clocks.isAwaited);
    clocks.pass(hour / 2);
    await until(async () => (await eventsOf(log.store, 'jobStarted')).length === 1);
    assert.deepEqual((await eventsOf(log.store, 'runsMissed')).length, 0);
    await schedules.stop();
  });

  it('begin with the start itself, though the read models are made anew for minutes', async () => {
    const node = await start();
    const planners = plannersOn(node);
    await planners.automation('a');
    await planners.schedule('s', { firstRunAt: midnight - 10 * day, repeatInterval: hour });
    await node.catchUp();
    const since = clocks.now() - minute;
    const ready = async (): Promise<void> => clocks.pass(5 * minute);
    const schedules = schedulesOn(node, log.store, clocks, { ready });
    await schedules.prepare();
    assert.deepEqual(
      (await eventsOf(log.store, 'scheduleSet')).map(({ data }) => data.since),
      [since],
    );
    await schedules.stop();
  });
});
