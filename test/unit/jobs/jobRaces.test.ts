import assert from 'node:assert/strict';
import { updateAccount } from '../../../src/commands/authorization/accounts.ts';
import { childIdOf } from '../../../src/commands/operations-manager/jobChildren.ts';
import { moveJobs } from '../../../src/commands/operations-manager/jobMoves.ts';
import { completeJob, failJob, startJob } from '../../../src/commands/operations-manager/jobs.ts';
import { watchJobs } from '../../../src/commands/operations-manager/watchings.ts';
import { workflowCommands } from '../../../src/commands/operations-manager/workflows.ts';
import { platform } from '../../../src/domain/engine/core.ts';
import { job } from '../../../src/domain/operations-manager/jobs.ts';
import { context } from '../../support/given.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { stopping } from '../../support/stopping.ts';
import { until } from '../../support/until.ts';
import { ours, worker, workflow } from '../../support/workflowSamples.ts';
import { outcome } from '../../support/writer.ts';

describe('Jobs on two nodes', () => {
  const { log, node } = nodesOnLog({ reacting: true });
  const ids = ['a', 'b', 'c'].map((letter) => letter.repeat(24));
  const statuses = ({ tools }: TestNode) => Promise.all(ids.map(async (id) => (await tools.state(job, id)).status));
  /** Topics of a stream's events. */
  const topics = async (stream: string): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const events of log.store.read(stream))
      found.push(...events.map(({ type }) => type.slice(type.lastIndexOf(':') + 1)));
    return found;
  };

  for (const [n, what] of [
    [2, 'the decision'],
    [3, 'the first job'],
    [4, 'the second job'],
  ] as const) {
    it(`are all canceled, each once, though the node stops after ${what}`, async () => {
      const held = stopping(log.store, n);
      const slow = await node(held.store);
      for (const id of ids) await slow.command(startJob, id, { workflow: 'Back up' });
      held.arm();
      const canceling = slow.command(moveJobs, 'm', { move: 'cancel', jobIds: ids });
      await held.atStop;
      const finishing = await node();
      await until(async () => (await statuses(finishing)).every((status) => status === 'canceled'));
      held.resume();
      await canceling;
      for (const id of ids) assert.deepEqual(await topics(`job-${id}`), ['jobStarted', 'jobCanceled']);
    });
  }

  it('of a parent that has ended without it are canceled, though another node has just begun it', async () => {
    const held = stopping(log.store, 2);
    const slow = await node(held.store);
    const part = workflow({ w: worker() }, ['start -> w', 'w -> end']);
    await slow.command(workflowCommands.create, 'part', { ...part, name: 'Part' });
    const whole = workflow({ c: ours('childJob', { workflow: 'Part', variables: {} }) }, ['start -> c', 'c -> end']);
    await slow.command(workflowCommands.create, 'whole', { ...whole, name: 'Whole' });
    const [parent] = ids as [string];
    held.arm();
    await slow.command(startJob, parent, { workflow: 'Whole' }, { actor: platform });
    await held.atStop;
    const deleting = await node(log.store, { reacting: false });
    await deleting.command(workflowCommands.remove, 'part');
    const other = await node();
    await until(async () => (await statuses(other))[0] === 'error', 'the parent has no child');
    const child = childIdOf(parent, { task: 'c', run: 1, index: 0 });
    assert.deepEqual(await topics(`job-${child}`), []);
    held.resume();
    await until(async () => (await topics(`job-${child}`)).includes('jobCanceled'), 'the end of the child');
    assert.deepEqual(await topics(`job-${child}`), ['jobStarted', 'taskFinished', 'taskOffered', 'jobCanceled']);
  });

  it('do not begin for an account that is gone by then', async () => {
    const quiet = await node(log.store, { reacting: false });
    const part = workflow({ set: ours('newVariable', { name: 'n', value: 1 }) }, ['start -> set', 'set -> end']);
    await quiet.command(workflowCommands.create, 'part', { ...part, name: 'Part' });
    const whole = workflow({ c: ours('childJob', { workflow: 'Part', variables: {} }) }, ['start -> c', 'c -> end']);
    await quiet.command(workflowCommands.create, 'whole', { ...whole, name: 'Whole' });
    await quiet.bootstrap();
    await quiet.account('ann');
    const [parent] = ids as [string];
    const ann = { ...context.actor, id: 'ann', username: 'ann' };
    await quiet.command(startJob, parent, { workflow: 'Whole' }, { actor: ann });
    await quiet.command(updateAccount, 'ann', { inactive: true });
    const reacting = await node();
    await until(async () => (await statuses(reacting))[0] === 'error', 'the error');
    assert.match(JSON.stringify((await reacting.tools.state(job, parent)).error), /is deleted or inactive/);
  });

  it('are not touched by a decision that was never stored', async () => {
    const held = stopping(log.store, 1);
    const slow = await node(held.store);
    for (const id of ids) await slow.command(startJob, id, { workflow: 'Back up' });
    held.arm();
    const pausing = slow.command(moveJobs, 'm', { move: 'pause', jobIds: ids });
    await held.atStop;
    const other = await node();
    assert.deepEqual(await statuses(other), ['running', 'running', 'running']);
    held.resume();
    await pausing;
    assert.deepEqual(await statuses(other), ['paused', 'paused', 'paused']);
  });

  it('stay complete if they end while they are canceled; the others are canceled', async () => {
    const held = stopping(log.store, 1);
    const [slow, quick] = [await node(held.store), await node()];
    for (const id of ids) await slow.command(startJob, id, { workflow: 'Back up' });
    held.arm();
    const canceling = slow.command(moveJobs, 'm', { move: 'cancel', jobIds: ids });
    await held.atStop;
    await quick.command(completeJob, ids[1]!, {});
    held.resume();
    await canceling;
    assert.deepEqual(await statuses(quick), ['canceled', 'complete', 'canceled']);
  });

  it('end once, whoever reports first', async () => {
    const [one, two] = [await node(), await node()];
    await one.command(startJob, ids[0]!, { workflow: 'Back up' });
    const outcomes = await Promise.all(
      [one.command(completeJob, ids[0]!, {}), two.command(failJob, ids[0]!, { error: 'No answer' })].map(outcome),
    );
    assert.equal(outcomes.filter((one) => one === 'conflict').length, 1);
    assert.equal((await topics(`job-${ids[0]}`)).length, 2);
  });

  it('are watched once, though two nodes are asked at the same time', async () => {
    const [one, two] = [await node(), await node()];
    for (const id of ids) await one.command(startJob, id, { workflow: 'Back up' });
    await Promise.all([one, two].map((each) => each.command(watchJobs, 'nora', { jobIds: ids })));
    assert.deepEqual(await topics('watching-nora'), ['jobsWatched']);
  });

  it('of reactions keep the secrets that are sealed, and seal the others', async () => {
    const one = await node();
    const password = one.tools.seal('p');
    await one.command(startJob, ids[0]!, {
      workflow: 'Back up',
      execution: 'e',
      variables: { password, community: 'q', site: 'Bonn', hidden: password },
    });
    const { variables, started } = await one.tools.state(job, ids[0]!);
    assert.deepEqual(
      [variables.password, variables.hidden, variables.site, started?.execution],
      [password, password, 'Bonn', 'e'],
    );
    assert.equal(one.tools.unseal(variables.community as typeof password), 'q');
    await one.command(startJob, ids[1]!, { workflow: 'Back up', variables: { password } });
    const forged = (await one.tools.state(job, ids[1]!)).variables.password;
    assert.equal(
      one.tools.unseal(forged as typeof password),
      JSON.stringify(password),
      'what comes from outside is never taken for sealed',
    );
  });
});
