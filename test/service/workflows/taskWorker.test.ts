import assert from 'node:assert/strict';
import { work } from '@automation-platform/client';
import { ok } from '../../support/people.ts';
import { adminPassword } from '../../support/service.ts';
import { endOfTest, until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';
import { worker, workflow } from '../../support/workflowSamples.ts';

const om = '/operations-manager';

describe('work() of the package with tasks', function () {
  this.timeout(60_000);
  const service = useService();

  it('does tasks with their secrets, publishes for them, and reports outputs, failures and errors', async () => {
    const out = { variables: { outgoing: { length: '$var.job.length' } } };
    const tasks = { good: worker({ token: '$var.job.token' }, out), bad: worker({}), no: worker({}) };
    const edges = ['start -> good', 'good -> bad', 'bad -error-> no', 'no -failure-> end'];
    ok(await service.ask('POST', `${om}/workflows`, { ...workflow(tasks, edges), name: 'Done by a program' }));
    const stop = new AbortController();
    endOfTest().addEventListener('abort', () => stop.abort());
    const statuses: number[] = [];
    const done = work({
      url: service.url,
      auth: { username: 'admin', password: adminPassword },
      tasks: { apps: ['Lab'] },
      signal: stop.signal,
      run: async ({ task, incoming }, { claim }) => {
        const answer = await service.ask('POST', `${om}/events/lab/${task.task}`, { task }, { 'X-Claim': claim });
        statuses.push(answer.status);
        if (task.task === 'bad') throw new Error('No answer');
        return task.task === 'no' ? { result: 'failure' } : { outgoing: { length: String(incoming.token).length } };
      },
    });
    const options = { variables: { token: 'hunter2' } };
    const { _id: id } = ok(
      await service.ask('POST', `${om}/jobs/start`, { workflow: 'Done by a program', options }),
    ).data;
    const get = async () => ok(await service.ask('GET', `${om}/jobs/${id}`)).data;
    await until(async () => (await get()).status !== 'running', 'the end of the job');
    const job = await get();
    assert.deepEqual([job.status, job.variables.length, job.tasks.bad.error], ['complete', 7, 'No answer']);
    assert.deepEqual(statuses, [200, 200, 200]);
    const late = await service.ask('POST', `${om}/events/lab/late`, {}, { 'X-Claim': `${id}.good.1/1` });
    assert.equal(late.status, 409, 'the claim is over');
    stop.abort();
    await done;
  });
});
