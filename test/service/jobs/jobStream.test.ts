import assert from 'node:assert/strict';
import { ok, type People, people, refused } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStream } from '../../support/sse.ts';
import { until } from '../../support/until.ts';

const om = '/operations-manager';
const jobs = `${om}/jobs`;
const path = `${jobs}/stream`;

describe('the stream of jobs', function () {
  this.timeout(120_000);
  let service: TestService;
  let who: People;
  const open: { close: () => void }[] = [];
  before(async () => {
    service = await startService();
    who = await people(service);
  });
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });
  after(() => service.stop());

  const start = async (workflow: string, ask: People['member'] = service.ask): Promise<string> =>
    ok(await ask('POST', `${jobs}/start`, { workflow, options: { variables: { password: 'p' } } })).data._id;
  const report = async (id: string, what: string, body: object = {}) =>
    ok(await service.ask('POST', `${jobs}/${id}/${what}`, body));
  const move = async (what: string, id: string) => ok(await service.ask('POST', `${jobs}/${what}`, { jobIds: [id] }));
  const streamOf = async (query: string, user?: string) => {
    const login = user === undefined ? {} : { login: { user, password: 'a long enough password' } };
    const stream = await openStream(service.url, query, { path, ...login });
    open.push(stream);
    assert.equal(stream.status, 200);
    const told = () => stream.frames.map(({ event, data }) => (assert.equal(event, 'job'), data));
    return { ...stream, told, of: (id: string) => told().filter(({ job }) => job === id) };
  };

  it('tells of jobs as they are, then of each change', async () => {
    const [before, failed] = [await start('Flow'), await start('Flow')];
    await report(failed, 'error', { error: { message: 'No answer', token: 'secret' } });
    const stream = await streamOf('?component=Flow');
    await until(() => stream.told().length === 2, 'the present ones');
    assert.deepEqual(stream.told(), [
      { job: before, status: 'running', progress: null, error: null },
      { job: failed, status: 'error', progress: null, error: { message: 'No answer', token: '********' } },
    ]);
    const next = await start('Flow');
    await start('Other');
    await until(() => stream.of(next).length === 1, 'the new job');
    for (const [what, status] of [
      ['pause', 'paused'],
      ['resume', 'running'],
      ['cancel', 'canceled'],
    ] as const) {
      await move(what, next);
      await until(() => stream.of(next).at(-1)?.status === status, status);
    }
    await report(before, 'complete');
    await until(() => stream.of(before).at(-1)?.status === 'complete', 'the end');
    assert.equal(
      stream.told().every(({ job }) => [before, failed, next].includes(job)),
      true,
    );
  });

  it('tells what workers say of their progress', async () => {
    const id = await start('Progress');
    const stream = await streamOf('?component=Progress');
    const claim = { components: ['Progress'], worker: 'w', wait: 30 };
    const [{ claim: number }] = ok(await service.ask('POST', `${jobs}/claim`, claim)).data;
    await report(id, 'heartbeat', { claim: number, progress: { percent: 30 } });
    await until(() => stream.of(id).at(-1)?.progress?.percent === 30, 'the progress');
    await report(id, 'complete', { claim: number });
    await until(() => stream.of(id).at(-1)?.status === 'complete', 'the end');
    assert.equal(stream.of(id).at(-1).progress, null);
  });

  it('tells who watches, from when they watch until they stop', async () => {
    const [mine, theirs] = [await start('Watched', who.member), await start('Watched')];
    const stream = await streamOf('?watched=true', 'member');
    await until(() => stream.of(mine).length === 1, 'the present one');
    assert.equal(stream.of(theirs).length, 0);
    ok(await who.member('POST', `${jobs}/watch`, { jobIds: [theirs] }));
    await until(() => stream.of(theirs).length === 1, 'the job that is watched now');
    ok(await who.member('POST', `${jobs}/unwatch`, { jobIds: [mine] }));
    await report(mine, 'complete');
    await report(theirs, 'complete');
    await until(() => stream.of(theirs).length === 2, 'the end');
    assert.deepEqual(
      stream.of(mine).map(({ status }) => status),
      ['running'],
    );
  });

  it('tells once more of a job that leaves the filter', async () => {
    const id = await start('Leaving');
    const stream = await streamOf('?status=running&component=Leaving');
    await until(() => stream.of(id).length === 1, 'the job');
    await move('pause', id);
    await until(() => stream.of(id).length === 2, 'its pause');
    await move('cancel', id);
    const other = await start('Leaving');
    await until(() => stream.of(other).length === 1, 'the next job');
    assert.deepEqual(
      stream.of(id).map(({ status }) => status),
      ['running', 'paused'],
    );
  });

  it('tells nobody of what they may not see', async () => {
    const gbac = { read: [], write: ['ops'] };
    const body = { name: 'Closed', componentType: 'workflows', componentName: 'Closed', gbac };
    ok(await service.ask('POST', `${om}/automations`, body));
    const first = await start('Closed');
    const [member, stranger] = [await streamOf('', 'member'), await streamOf('', 'stranger')];
    const [second, seen] = [await start('Closed'), await start('Seen by all')];
    await until(() => member.of(second).length > 0 && stranger.of(seen).length > 0, 'the jobs');
    assert.deepEqual([member.of(first).length, stranger.of(first).length, stranger.of(second).length], [1, 0, 0]);
  });

  it('is for who has the method; it ends when the account loses it, also when no job changes', async () => {
    const outsider = { user: 'outsider', password: 'a long enough password' };
    refused(await service.as(outsider)('GET', path), 403);
    const stream = await streamOf('', 'reader');
    const { results } = ok(await service.ask('GET', '/authorization/accounts?limit=1000'));
    const { _id: id } = results.find(({ username }: any) => username === 'reader');
    ok(await service.ask('PATCH', `/authorization/accounts/${id}`, { memberOf: [] }));
    await until(stream.ended, 'the end of the stream');
    assert.deepEqual([stream.frames.at(-1)?.event, stream.frames.at(-1)?.data.reason], ['dropped', 'rights']);
  });

  it('refuses filters that there are not', async () => {
    refused(await service.ask('GET', `${path}?color=red`), 400, /color/);
    refused(await service.ask('GET', `${path}?watched=perhaps`), 400, /watched/);
    refused(await service.ask('GET', `${path}?status=runing`), 400, /status/);
    refused(await service.ask('GET', `${path}?name=a&name=b`), 400, /name/);
  });

  it('tells only of jobs that each filter lets through', async () => {
    ok(await service.ask('POST', '/authorization/groups', { name: 'crew' }));
    const actionId = ok(await service.ask('POST', `${om}/automations`, { name: 'Filtered', componentName: 'Own' })).data
      ._id;
    const given = { name: 'By hand', type: 'manual', actionType: 'automations', actionId, enabled: true };
    const trigger = ok(await service.ask('POST', `${om}/triggers`, { ...given, formId: null, formData: null })).data
      ._id;
    const byTrigger = ok(await service.ask('POST', `${om}/triggers/manual/${trigger}/run`, {})).data._id;
    const options = { type: 'odd', groups: ['crew'] };
    const odd = ok(await service.ask('POST', `${jobs}/start`, { workflow: 'Odd one', options })).data._id;
    await move('pause', odd);
    const only = [
      ['status=paused', odd],
      ['name=Odd one', odd],
      ['type=odd', odd],
      ['component=Odd one', odd],
      ['groups=crew', odd],
      [`automation=${actionId}`, byTrigger],
      [`trigger=${trigger}`, byTrigger],
      ['component=Own&type=automation', byTrigger],
    ] as const;
    for (const [filter, id] of only) {
      const stream = await streamOf(`?${filter}`);
      const others = only.map(([, other]) => other).filter((other) => other !== id);
      await until(() => stream.of(id).length === 1, filter);
      assert.deepEqual(
        others.flatMap((other) => stream.of(other)),
        [],
        filter,
      );
    }
  });

  it('tells no progress of a job that has ended, though its worker says some', async () => {
    const id = await start('Progress of the canceled');
    const claim = { components: ['Progress of the canceled'], worker: 'w', wait: 30 };
    const [{ claim: number }] = ok(await service.ask('POST', `${jobs}/claim`, claim)).data;
    await move('cancel', id);
    const stream = await streamOf('?component=Progress of the canceled');
    await until(() => stream.of(id).length === 1, 'the present one');
    await report(id, 'heartbeat', { claim: number, progress: { percent: 30 } });
    const other = await start('Progress of the canceled');
    await until(() => stream.of(other).length === 1, 'the next job');
    assert.equal(stream.of(id).at(-1).progress, null);
  });
});

describe('the stream of jobs of a service that stops', () => {
  it('says so', async () => {
    const service = await startService();
    const stream = await openStream(service.url, '', { path });
    await service.stop();
    await until(stream.ended);
    assert.deepEqual([stream.frames.at(-1)?.event, stream.frames.at(-1)?.data.reason], ['dropped', 'stopping']);
  });
});
