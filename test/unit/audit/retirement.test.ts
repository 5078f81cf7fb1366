import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { retireEnded } from '../../../src/commands/engine/retirement.ts';
import { childIdOf } from '../../../src/commands/operations-manager/jobChildren.ts';
import { completeJob, failJob, moveJob, startJob } from '../../../src/commands/operations-manager/jobs.ts';
import { finishTask } from '../../../src/commands/operations-manager/taskReports.ts';
import { watchJobs } from '../../../src/commands/operations-manager/watchings.ts';
import { workflowCommands } from '../../../src/commands/operations-manager/workflows.ts';
import { readConfig } from '../../../src/config.ts';
import { retirement as aggregate, retire } from '../../../src/domain/engine/retirement.ts';
import { job } from '../../../src/domain/operations-manager/jobs.ts';
import { taskIn } from '../../../src/domain/operations-manager/workflows/taskStates.ts';
import { projections } from '../../../src/projections/all.ts';
import type { ReadStore } from '../../../src/projections/engine/port.ts';
import { compareFolds, foldLog } from '../../../src/projections/foldLog.ts';
import { lookForRetiredEveryMs, retirement } from '../../../src/runners/retirement.ts';
import { soon } from '../../support/cluster.ts';
import { specification } from '../../support/given.ts';
import { fixedClock, nodesOnLog, type TestNode } from '../../support/node.ts';
import { until } from '../../support/until.ts';
import { ours, worker, workflow } from '../../support/workflowSamples.ts';

const day = 86_400_000;

const source = '@platform/operations-manager';

describe('The retirement of what has ended', () => {
  const given = specification(aggregate);
  const retired = (before: string) => ({ topic: 'endedRetired' as const, data: { before }, source });
  const [early, late] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];

  it('names the time before which it had ended, and the source of its kind', () => {
    given().when(retire, { before: early, source }).then(retired(early));
    given(retired(early)).when(retire, { before: late, source }).then(retired(late));
  });

  it('is no event if it is done already, also after the clock went back', () => {
    given(retired(late)).when(retire, { before: late, source }).thenNothing();
    given(retired(early), retired(late)).when(retire, { before: early, source }).thenNothing();
  });
});

describe('RETENTION_DAYS', () => {
  it('is a number of days, 30 unless set', () => {
    assert.equal(readConfig({}).RETENTION_DAYS, 30);
    for (const days of ['0', '1', '36500'])
      assert.equal(readConfig({ RETENTION_DAYS: days }).RETENTION_DAYS, Number(days));
    for (const days of ['-1', '0.5', '36501', 'never'])
      assert.throws(() => readConfig({ RETENTION_DAYS: days }), /RETENTION_DAYS must be an integer from 0 to/);
  });

  it('is looked at every hour or more often', () => assert.ok(lookForRetiredEveryMs <= 3_600_000));
});

describe('Retirement, on two nodes', () => {
  const clock = fixedClock();
  const { log, node } = nodesOnLog({ reacting: true, now: clock.now });
  const running: { readonly stop: () => Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop()));
  });
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(24));
  const [first = '', second = '', third = '', fourth = ''] = ids;

  const retiring = ({ handle, tools, model, leadership, run, head, settled }: TestNode, more: object = {}) => {
    const runner = retirement({
      ...{ handle, tools, model, leadership, ready: run.whenReady, head, caughtUp: settled, clock },
      kinds: projections.filter(({ retires }) => retires),
      days: 30,
      lookEveryMs: 5,
      log: () => undefined,
      ...more,
    });
    running.push(runner);
    runner.start();
    return runner;
  };
  const retirements = async (kind = 'job'): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const events of log.store.read(`retirement-${kind}`)) {
      const stored = events.filter(({ type }) => type.endsWith(':endedRetired'));
      for (const { type, data } of stored) found.push(`${type} ${JSON.parse(data).before}`);
    }
    return found;
  };
  const ended = async (one: TestNode, id: string): Promise<void> => {
    await one.command(startJob, id, { workflow: 'Back up' });
    await one.command(completeJob, id, {});
  };
  /** All have ended, one after the other, and more than 30 days have passed. */
  const allEnded = async (one: TestNode): Promise<void> => {
    for (const id of ids) {
      await ended(one, id);
      clock.pass(1);
    }
    clock.pass(31 * day);
  };
  const shown = async (one: TestNode): Promise<readonly string[]> => {
    await one.catchUp();
    return ids.filter((_, n) => [...one.model.ids('jobs')].includes(ids[n] ?? ''));
  };

  it('removes what ended before, at that event, on each node and in each rebuild', async () => {
    const [one, two] = [await node(), await node()];
    await ended(one, first);
    clock.pass(day);
    await ended(one, second);
    await one.command(watchJobs, 'nora', { jobIds: [first, second] });
    await one.command(startJob, third, { workflow: 'Back up' });
    clock.pass(29 * day + 1);
    const before = new Date(clock.now() - 30 * day).toISOString();
    retiring(one);
    await soon('one is retired', async () => (await retirements()).length > 0);
    assert.deepEqual(await retirements(), [`@platform/operations-manager:endedRetired ${before}`]);
    assert.deepEqual(await retirements('agentSession'), []);
    for (const each of [one, two]) {
      assert.deepEqual(await shown(each), [second, third]);
      assert.deepEqual(JSON.parse((await each.model.get('watchings', 'nora'))?.text ?? '{}').watched, [second]);
    }
    const [fold, again] = [await foldLog(log.store), await foldLog(log.store)];
    await fold.foldTo();
    // The fold takes all events in one step; this one takes them in several.
    for (let to = 1; to <= (await log.store.head()); to++) await again.foldTo(to);
    assert.deepEqual(
      (await compareFolds(fold, again)).filter(({ differences }) => differences.length > 0),
      [],
    );
    assert.deepEqual([...fold.model.ids('jobs')].sort(), [second, third]);
  });

  it('removes the same in a rebuild, though a clock said that something ended before it began', async () => {
    const [one, ahead] = [await node(), await node(log.store, { now: () => clock.now() + 5000 })];
    await ahead.command(startJob, first, { workflow: 'Back up' });
    await one.command(completeJob, first, {});
    await ended(one, second);
    assert.deepEqual(await shown(one), [first, second]);
    retiring(one);
    for (const [passing, left] of [
      [30 * day + 1000, [first]],
      [day, []],
    ] as const) {
      clock.pass(passing);
      const before = new Date(clock.now() - 30 * day).toISOString();
      await soon('it is retired', async () => (await retirements()).some((one) => one.endsWith(before)));
      assert.deepEqual(await shown(one), left);
      const fold = await foldLog(log.store);
      await fold.foldTo();
      assert.deepEqual([...fold.model.ids('jobs')], left);
    }
  });

  it('happens once a day, by whichever node, and again after a start', async () => {
    const [one, two] = [await node(), await node()];
    for (const id of [first, second, third]) {
      await ended(one, id);
      clock.pass(day / 2);
    }
    clock.pass(29 * day);
    const runner = retiring(one);
    retiring(two);
    await soon('the first are retired', async () => (await retirements()).length > 0);
    clock.pass(day - 1);
    await pause(50);
    assert.equal((await retirements()).length, 1);
    assert.deepEqual(await shown(two), [second, third]);
    await runner.stop();
    clock.pass(1);
    retiring(one);
    await soon('the others are retired', async () => (await retirements()).length > 1);
    assert.deepEqual(await shown(one), []);
    clock.pass(10 * day);
    await pause(50);
    // Nothing has ended since, so nothing is stored.
    assert.equal((await retirements()).length, 2);
  });

  it('of much is several events, none of which retires more than its share', async () => {
    const one = await node();
    await allEnded(one);
    retiring(one, { atOnce: 2 });
    await soon('all are retired', async () => (await shown(one)).length === 0);
    assert.equal((await retirements()).length, 3);
  });

  it('begins once the read models show what the leader before has stored', async () => {
    const one = await node();
    await allEnded(one);
    const position = (await one.head()) + 1;
    let [waits, lists] = [false, false];
    let show = (): void => undefined;
    const shows = new Promise<void>((resolve) => {
      show = resolve;
    });
    retiring(one, {
      head: async () => position,
      caughtUp: (least = 0) => {
        waits ||= least === position;
        return least === position ? shows : one.settled();
      },
      model: {
        ...one.model,
        list: (...asked: Parameters<ReadStore['list']>) => {
          lists = true;
          return one.model.list(...asked);
        },
      },
    });
    await soon('it waits', () => waits);
    assert.equal(lists, false);
    show();
    await soon('all are retired', async () => (await shown(one)).length === 0);
    assert.equal(lists, true);
  });

  it('never is, with RETENTION_DAYS=0', async () => {
    const one = await node();
    await ended(one, first);
    clock.pass(10_000 * day);
    retiring(one, { days: 0 });
    await pause(50);
    assert.deepEqual(await shown(one), [first]);
  });

  it('leaves alone what was retried in time, and lets nothing go on that is retired', async () => {
    const [one, two] = [await node(), await node()];
    for (const id of [first, second]) {
      await one.command(startJob, id, { workflow: 'Back up' });
      await one.command(moveJob, id, { move: 'cancel' });
    }
    for (const id of [third, fourth]) {
      await one.command(startJob, id, { workflow: 'Back up' });
      await one.command(failJob, id, { error: 'x' });
    }
    await one.command(moveJob, third, { move: 'retry' });
    clock.pass(1);
    const before = new Date(clock.now()).toISOString();
    await one.command(retireEnded, 'job', { before, source });
    // The other node may not know of it yet.
    assert.equal((await two.command(moveJob, fourth, { move: 'retry' })).changed, false);
    assert.equal((await two.tools.state(job, fourth)).status, 'error');
    for (const each of [one, two]) assert.deepEqual(await shown(each), [third]);
    await assert.rejects(two.command(completeJob, fourth, {}), /No such job/);
    // Its id stays taken.
    await assert.rejects(two.command(startJob, fourth, { workflow: 'Back up' }), /exists already/);
    assert.equal((await one.command(completeJob, third, {})).changed, true);
  });

  it('leaves a job in error that is a part of another one: a retry of the whole ends as before', async () => {
    const one = await node();
    await one.account('nora');
    const actor = { id: 'nora', username: 'nora', provenance: 'local', groups: [], admin: true };
    const parts = ours('childJob', { workflow: 'Part', variables: {}, data_array: [{}, {}], loopType: 'parallel' });
    for (const [id, name, document] of [
      [second, 'Part', workflow({ w: worker() }, ['start -> w', 'w -> end'])],
      [third, 'Whole', workflow({ c: parts }, ['start -> c', 'c -> end'])],
    ] as const)
      await one.command(workflowCommands.create, id, { ...document, name }, { actor });
    await one.catchUp();
    await one.command(startJob, first, { workflow: 'Whole' }, { actor });
    const [failed = '', other = ''] = [0, 1].map((index) => childIdOf(first, { task: 'c', run: 1, index }));
    const stateOf = (id: string) => one.tools.state(job, id);
    const finish = (id: string, outcome: object) =>
      one.command(finishTask, id, { task: 'w', run: 1, ...outcome }, { actor });
    for (const id of [failed, other]) await until(async () => (await stateOf(id)).tasks !== undefined, 'the parts');
    await finish(failed, { result: 'error', error: 'no link' });
    clock.pass(1);
    await one.command(retireEnded, 'job', { before: new Date(clock.now()).toISOString(), source });
    await finish(other, { result: 'success' });
    const hasFailed = (run: number) => async () => {
      const { status, tasks } = await stateOf(first);
      return status === 'error' && tasks !== undefined && taskIn(tasks, 'c').run === run;
    };
    await until(hasFailed(1), 'the end');
    const { error } = await stateOf(first);
    assert.match(JSON.stringify(error), /no link/);
    await one.command(moveJob, first, { move: 'retry' }, { actor });
    await until(hasFailed(2), 'the second end');
    assert.deepEqual((await stateOf(first)).error, error);
    const { status, tasks } = await stateOf(failed);
    assert.deepEqual([status, tasks && taskIn(tasks, 'w').run], ['error', 1]);
  });

  it('does not cross a retry: the job runs and is shown, or it is retired and does not run', async () => {
    const [one, two] = [await node(), await node()];
    for (const [n, id] of ids.entries()) {
      await one.command(startJob, id, { workflow: 'Back up' });
      await one.command(failJob, id, { error: 'x' });
      clock.pass(1);
      const before = new Date(clock.now()).toISOString();
      const retry = async () => {
        if (n % 2) await pause(n);
        return two.command(moveJob, id, { move: 'retry' });
      };
      const [{ changed }] = await Promise.all([retry(), one.command(retireEnded, 'job', { before, source })]);
      assert.equal((await shown(one)).includes(id), changed, `job ${n}`);
      assert.equal((await one.tools.state(job, id)).status, changed ? 'running' : 'error');
    }
  });

  it('takes no notice of what others write to its stream', async () => {
    const one = await node();
    await ended(one, first);
    const data = JSON.stringify({ before: '2099-01-01T00:00:00.000Z' });
    await log.store.append('retirement-job', -1, [
      { id: randomUUID(), type: 'somebody:endedRetired', data, metadata: '{}' },
      { id: randomUUID(), type: '@platform/lifecycle-manager:endedRetired', data, metadata: '{}' },
    ]);
    assert.deepEqual(await shown(one), [first]);
  });
});
