import assert from 'node:assert/strict';
import { type AtWork, type Job, type Work, WorkRefused, work } from '@automation-platform/client';
import { openCutter } from '../../support/cutter.ts';
import { ok, people } from '../../support/people.ts';
import { adminPassword } from '../../support/service.ts';
import { endOfTest, until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';

const auth = { username: 'admin', password: adminPassword };
const jobs = '/operations-manager/jobs';

describe('work() of the package', function () {
  this.timeout(120_000);
  const service = useService();
  before(async () => {
    await people(service);
  });

  const start = async (workflow: string, variables: object = {}): Promise<string> =>
    ok(await service.ask('POST', `${jobs}/start`, { workflow, options: { variables } })).data._id;
  const get = async (id: string) => ok(await service.ask('GET', `${jobs}/${id}`)).data;
  const ended = async (id: string) => {
    await until(async () => (await get(id)).metrics.end_time !== null, 'the end of the job');
    return get(id);
  };
  /** Works in the background until it is stopped. */
  const working = (component: string, run: Work['run'], more: Partial<Work> = {}) => {
    const stop = new AbortController();
    const done = work({ url: service.url, auth, components: [component], run, signal: stop.signal, ...more });
    endOfTest().addEventListener('abort', () => stop.abort());
    return {
      done,
      stop: async (): Promise<void> => {
        stop.abort();
        await done;
      },
    };
  };
  /** Never returns, until its signal aborts. */
  const hanging = (_: Job, { signal }: AtWork): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });

  it('runs jobs with their secrets, and reports variables and errors', async () => {
    const worker = working('Runs', async ({ variables: { password, fails } }) => {
      if (fails) throw new Error('No answer');
      return { length: String(password).length };
    });
    const [good, bad] = [await start('Runs', { password: 'hunter2' }), await start('Runs', { fails: true })];
    assert.deepEqual((await ended(good)).variables, { password: '********', length: 7 });
    const { status, error } = await ended(bad);
    assert.deepEqual([status, error], ['error', 'No answer']);
    await worker.stop();
  });

  it('reports as an error what the platform cannot take', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const results: Record<string, (at: AtWork) => Record<string, unknown>> = {
      mask: () => ({ password: '********' }),
      text: () => 'no object' as never,
      circular: () => circular,
      percent: ({ progress }) => ({ told: progress({ percent: 101 }) }),
      message: ({ progress }) => ({ told: progress({ message: 'x'.repeat(1025) }) }),
    };
    const worker = working('Refused', async ({ variables: { what } }, at) => results[String(what)]?.(at));
    const errors = [
      ['mask', /refused: .*there is none to keep here/],
      ['text', /refused: .*variables must be object/],
      ['circular', /circular/],
      ['percent', /101 percent is not from 0 to 100/],
      ['message', /more than 1024 characters/],
    ] as const;
    for (const [what, about] of errors) {
      const { status, error } = await ended(await start('Refused', { what }));
      assert.equal(status, 'error');
      assert.match(error, about);
    }
    await worker.stop();
  });

  it('works on as many at once as it may', async () => {
    let [now, most] = [0, 0];
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const run = async () => {
      most = Math.max(most, ++now);
      await held;
      now--;
    };
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await start('At once'));
    const worker = working('At once', run, { atOnce: 3 });
    await until(() => now === 3, 'three at once');
    letGo();
    for (const id of ids) assert.equal((await ended(id)).status, 'complete');
    assert.equal(most, 3);
    await worker.stop();
  });

  it('hears in heartbeats that a job is paused, goes on, and is canceled', async () => {
    const heard: string[] = [];
    const worker = working(
      'Hears',
      async (job, at) => {
        at.progress({ percent: 10 });
        await until(async () => (await get(job._id)).status === 'paused', 'the pause');
        await until(async () => (await get(job._id)).progress?.percent === 10, 'a heartbeat');
        await at.resumed();
        heard.push('resumed');
        await hanging(job, at).catch((error: unknown) => heard.push(String(error)));
        throw new Error('This is not reported');
      },
      { lease: 10 },
    );
    const id = await start('Hears');
    await until(async () => (await get(id)).claim !== null, 'the claim');
    ok(await service.ask('POST', `${jobs}/pause`, { jobIds: [id] }));
    await until(async () => (await get(id)).progress !== null, 'the progress');
    ok(await service.ask('POST', `${jobs}/resume`, { jobIds: [id] }));
    await until(() => heard.length === 1, 'that it goes on');
    ok(await service.ask('POST', `${jobs}/cancel`, { jobIds: [id] }));
    await until(() => heard.length === 2, 'that it is canceled');
    assert.match(heard[1] ?? '', /canceled/);
    await worker.stop();
    assert.deepEqual([(await get(id)).status, (await get(id)).error], ['canceled', null]);
  });

  it('gives back what has not ended when it stops', async () => {
    const first = working('Stops', hanging);
    const id = await start('Stops');
    await until(async () => (await get(id)).claim !== null, 'the claim');
    await first.stop();
    assert.equal((await get(id)).claim, null);
    const second = working('Stops', async () => ({ done: true }));
    assert.deepEqual((await ended(id)).variables, { done: true });
    await second.stop();
  });

  it('keeps nothing waiting for the end of a pause when it stops, or has lost the claim', async () => {
    const ends: string[] = [];
    const run = async ({ _id }: Job, { progress, resumed, signal }: AtWork): Promise<void> => {
      progress({ percent: 1 });
      await until(async () => signal.aborted || (await get(_id)).progress !== null, 'a heartbeat');
      await resumed();
      ends.push(String(signal.reason));
      signal.throwIfAborted();
    };
    const worker = working('Paused', run, { lease: 10 });
    const pausedJob = async (): Promise<string> => {
      const id = await start('Paused');
      await until(async () => (await get(id)).claim !== null, 'the claim');
      ok(await service.ask('POST', `${jobs}/pause`, { jobIds: [id] }));
      await until(async () => (await get(id)).progress !== null, 'that it hears of the pause');
      return id;
    };
    const lost = await pausedJob();
    ok(await service.ask('POST', `${jobs}/${lost}/release`, { claim: 1 }));
    await until(() => ends.length === 1, 'that the claim is lost');
    const id = await pausedJob();
    await worker.stop();
    assert.deepEqual(ends, ['Error: The claim is lost', 'Error: The worker stops']);
    const { status, claim } = await get(id);
    assert.deepEqual([status, claim], ['paused', null]);
  });

  it('goes on when connections break, and runs each job once', async () => {
    let connections = 0;
    const cutter = await openCutter(Number(new URL(service.url).port), () => 500 + 997 * (connections++ % 7));
    const ran = new Map<string, number>();
    const run = async ({ _id }: Job) => {
      ran.set(_id, (ran.get(_id) ?? 0) + 1);
    };
    const worker = working('Breaks', run, { url: cutter.url, atOnce: 4 });
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) ids.push(await start('Breaks'));
    for (const id of ids) assert.equal((await ended(id)).status, 'complete');
    await worker.stop();
    await cutter.close();
    assert.ok(cutter.cuts() > 0);
    assert.deepEqual([...ran.keys()].sort(), ids.sort());
  });

  it('throws when the platform refuses it', async () => {
    const refusedWith = (status: number) => (error: unknown) => error instanceof WorkRefused && error.status === status;
    const other = (username: string, password: string) => ({ auth: { username, password } });
    await assert.rejects(working('x', hanging, other('admin', 'wrong')).done, refusedWith(401));
    await assert.rejects(working('x', hanging, other('reader', 'a long enough password')).done, refusedWith(403));
    await assert.rejects(working('x', hanging, { lease: 1 }).done, refusedWith(400));
    await assert.rejects(working('x', hanging, { url: 'nowhere' }).done, TypeError);
  });
});
