import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { completeJob, failJob, startJob } from '../../../src/commands/operations-manager/jobs.ts';
import { readerPlaces } from '../../../src/http/events/readerPlaces.ts';
import { jobReaders, toldJobs, type WantedJobs } from '../../../src/http/operations-manager/jobReaders.ts';
import type { ReadStore } from '../../../src/projections/engine/port.ts';
import { context } from '../../support/given.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { until } from '../../support/until.ts';

const id = 'a'.repeat(24);
const other = 'b'.repeat(24);

/** Holds answers of a read model back: they are what was so when they were asked for. */
const holding = (model: ReadStore) => {
  const held = { list: [] as (() => void)[], getMany: [] as (() => void)[] };
  const hold = { list: false, getMany: false };
  const wait = (what: 'list' | 'getMany'): Promise<void> =>
    hold[what] ? new Promise((resolve) => held[what].push(resolve)) : Promise.resolve();
  return {
    held,
    hold: (what: 'list' | 'getMany'): void => {
      hold[what] = true;
    },
    release: (what: 'list' | 'getMany'): void => {
      hold[what] = false;
      for (const resolve of held[what].splice(0)) resolve();
    },
    model: {
      ...model,
      list: async (...args) => {
        const found = await model.list(...args);
        await wait('list');
        return found;
      },
      getMany: async (...args) => {
        const found = await model.getMany(...args);
        await wait('getMany');
        return found;
      },
    } satisfies ReadStore,
  };
};

describe('Changes of jobs, as readers are told of them', () => {
  const ids = (changes: ReturnType<ReturnType<typeof toldJobs>['after']>) => changes.map(({ job }) => job.id);

  it('come once for each job, in the order of the last ones, from any number on, however many there were', () => {
    const told = toldJobs();
    for (let n = 0; n < 1000; n++) for (const job of ['a', 'b']) told.change(job, `${job} ${n}`, false);
    told.change('c', 'c', false);
    told.change('a', 'a', false);
    assert.deepEqual(ids(told.after(0, 10)), ['b', 'c', 'a']);
    assert.deepEqual(ids(told.after(0, 2)), ['b', 'c']);
    assert.deepEqual(ids(told.after(told.last() - 1, 10)), ['a']);
    assert.deepEqual(ids(told.after(told.last(), 10)), []);
  });

  it('are forgotten once all readers have come by, as are jobs that have ended', () => {
    const told = toldJobs();
    const [ends, runs] = [told.jobOf('ends'), told.jobOf('runs')];
    told.change('ends', 'complete', true);
    const heard = told.last();
    told.change('runs', 'running', false);
    told.forget(heard);
    assert.deepEqual(ids(told.after(0, 10)), ['runs']);
    assert.notEqual(told.jobOf('ends'), ends);
    told.forget(told.last());
    assert.equal(told.jobOf('runs'), runs);
    told.change('runs', 'running', false);
    assert.equal(runs.textChange, heard + 1, 'what is told is the same');
    assert.deepEqual(ids(told.after(0, 10)), ['runs']);
  });
});

describe('Readers of jobs', () => {
  const { node } = nodesOnLog();
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });

  const setUp = async (more: Parameters<typeof jobReaders>[0]['patience'] = {}) => {
    const own = await node();
    const { model, ...gate } = holding(own.model);
    const readers = jobReaders({
      model,
      viewerOf: async () => ({ actor: { ...context.actor, admin: true }, may: () => true }) as never,
      progressOf: () => null,
      log: (message) => assert.fail(message),
      places: readerPlaces({ perNode: 100 }),
      patience: more,
    });
    stops.push(readers.stop);
    own.subscribe({ categories: readers.categories, onShown: readers.onEvent });
    return { own, readers, ...gate };
  };
  const start = (own: TestNode, job: string) => own.command(startJob, job, { workflow: 'Flow', variables: {} });
  const opened = (readers: ReturnType<typeof jobReaders>, fields: WantedJobs['fields'] = []) => {
    const response = new PassThrough();
    readers.open(response as unknown as ServerResponse, { account: 'reader' }, { watched: false, fields });
    let text = '';
    const listen = (): void => {
      response.on('data', (chunk) => {
        text += chunk;
      });
    };
    return { response, listen, text: () => text };
  };
  const open = (readers: ReturnType<typeof jobReaders>, fields: WantedJobs['fields'] = []) => {
    const { listen, text } = opened(readers, fields);
    listen();
    return (job: string): readonly string[] =>
      [...text().matchAll(/^data: (.*)$/gm)]
        .map(([, data = '']) => JSON.parse(data))
        .flatMap((told) => (told.job === job ? [told.status] : []));
  };

  it('are told of what changes while changes are looked up', async () => {
    const { own, readers, held, hold, release } = await setUp();
    const told = open(readers);
    hold('getMany');
    await start(own, id);
    await until(() => held.getMany.length > 0, 'the job is looked up');
    await own.command(completeJob, id, {});
    await own.catchUp();
    release('getMany');
    await until(() => told(id).at(-1) === 'complete', 'the end of the job');
  });

  it('are not told of a present job as it was, once it has left the filter', async () => {
    const { own, readers, held, hold, release } = await setUp();
    await start(own, id);
    await own.catchUp();
    hold('list');
    const told = open(readers, [{ field: 'status', value: 'running' }]);
    await until(() => held.list.length > 0, 'the present jobs are read');
    release('list');
    hold('list');
    await until(() => held.list.length > 0, 'those that run are read');
    await own.command(completeJob, id, {});
    await start(own, other);
    await own.catchUp();
    release('list');
    await until(() => told(other).length === 1, 'changes are told');
    await start(own, 'c'.repeat(24));
    await until(() => told('c'.repeat(24)).length === 1, 'later changes are told');
    assert.deepEqual(told(id), []);
  });

  it('are told once of a present job that changes meanwhile in nothing that is told', async () => {
    const { own, readers, held, hold, release } = await setUp();
    const prompt = open(readers);
    await start(own, id);
    await until(() => prompt(id).length === 1, 'the job');
    hold('list');
    const told = [open(readers), open(readers, [{ field: 'status', value: 'running' }])];
    await until(() => held.list.length === 2, 'the present jobs are read');
    readers.change(id);
    await start(own, other);
    await until(() => prompt(other).length === 1, 'the change was looked up');
    release('list');
    await until(() => told.every((of) => of(other).length > 0), 'the present jobs');
    for (const of of [prompt, ...told]) assert.deepEqual(of(id), ['running']);
  });

  it('are told of a new job that another reader finds present before', async () => {
    const { own, readers, held, hold, release } = await setUp();
    const told = open(readers);
    await start(own, other);
    await until(() => told(other).length === 1, 'a job');
    hold('getMany');
    await start(own, id);
    await until(() => held.getMany.length === 1, 'the new job is looked up');
    const next = open(readers);
    await until(() => held.getMany.length === 2, 'the other reader looks the present jobs up');
    held.getMany.pop()!();
    await until(() => next(id).length > 0, 'it is told');
    release('getMany');
    await until(() => told(id).length === 1, 'so is the first');
  });

  it('are told of all present jobs that run, and of the newest 1,000 that have ended, the oldest first', async function () {
    this.timeout(60_000);
    const { own, readers } = await setUp();
    const ids = Array.from({ length: 1003 }, (_, n) => n.toString(16).padStart(24, '0'));
    const [first = '', ...others] = ids;
    for (const [n, job] of ids.entries()) {
      await start(own, job);
      // The two that are left out are older by a millisecond at least.
      const now = Date.now();
      if (n === 2) await until(() => Date.now() > now);
    }
    for (const job of others) await own.command(completeJob, job, {});
    await own.catchUp();
    const { listen, text } = opened(readers);
    listen();
    const told = () => [...text().matchAll(/"job":"(\w+)"/g)].map(([, job]) => job);
    await until(() => told().length === 1001, 'the present jobs');
    assert.deepEqual(new Set(told()), new Set([first, ...others.slice(-1000)]));
    assert.equal(told()[0], first);
  });

  it('who come together leave the event loop a turn between two of them', async () => {
    const { own, readers } = await setUp();
    await start(own, id);
    await own.catchUp();
    const all = Array.from({ length: 50 }, () => open(readers));
    let loops = 0;
    for (; !all.every((told) => told(id).length === 1); loops++) await nextTurn();
    assert.ok(loops >= 50, `${loops} turns`);
  });

  it('who take late are told of each job once, as it is then, also if it has left the filter', async () => {
    const { own, readers } = await setUp();
    const [large, waits, ends] = ['c', 'd', 'e'].map((letter) => letter.repeat(24)) as [string, string, string];
    const [all, running] = [opened(readers), opened(readers, [{ field: 'status', value: 'running' }])];
    const prompt = open(readers);
    await start(own, id);
    await until(() => all.response.readableLength > 0 && running.response.readableLength > 0, 'the first job');
    for (const job of [large, 'f'.repeat(24)]) {
      await start(own, job);
      await until(() => prompt(job).length === 1, 'a job that runs');
      await own.command(failJob, job, { error: 'x'.repeat(60_000) });
      await until(() => prompt(job).at(-1) === 'error', 'a large error');
    }
    await start(own, waits);
    await start(own, ends);
    await until(() => prompt(ends).length === 1, 'a job that runs');
    for (const job of [id, ends]) await own.command(completeJob, job, {});
    await start(own, other);
    await until(() => prompt(ends).at(-1) === 'complete' && prompt(other).length === 1, 'all is told to who takes it');
    all.listen();
    running.listen();
    await until(() => [all, running].every(({ text }) => text().includes(other)), 'the last job');
    const rest = [id, waits, ends, other];
    const told = ({ text }: typeof all) =>
      [...text().matchAll(/"job":"(\w+)","status":"(\w+)"/g)].flatMap(([, job = '', status]) =>
        rest.includes(job) ? [`${job[0]} ${status}`] : [],
      );
    assert.deepEqual(told(all), ['a running', 'd running', 'a complete', 'e complete', 'b running']);
    assert.deepEqual(told(running), ['a running', 'd running', 'a complete', 'b running']);
  });

  it('are dropped as slow when they take nothing for the time', async () => {
    const { own, readers } = await setUp({ takingMs: 300 });
    const { response, listen, text } = opened(readers);
    const all = open(readers);
    for (let n = 0; n < 30; n++) {
      const job = n.toString(16).padStart(24, '0');
      await start(own, job);
      await own.command(failJob, job, { error: 'x'.repeat(60_000) });
      await until(() => all(job).at(-1) === 'error', 'the end of the job');
    }
    await until(() => response.writableEnded, 'its end');
    listen();
    await until(() => text().includes('event: dropped'), 'the reason');
    assert.match(text(), /^data: \{"reason":"slow"/m);
    await start(own, other);
    await until(() => all(other).length === 1, 'the others go on');
  });

  it('hear in comments that the connection is kept', async () => {
    const { readers } = await setUp({ commentMs: 20 });
    const { listen, text } = opened(readers);
    listen();
    await until(() => (text().match(/^: 0$/gm) ?? []).length >= 3, 'comments');
  });
});
