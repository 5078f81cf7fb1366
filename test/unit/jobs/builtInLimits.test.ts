import assert from 'node:assert/strict';
import type { Tools } from '../../../src/commands/engine/define.ts';
import { readConfig } from '../../../src/config.ts';
import { activeProfile } from '../../../src/domain/profiles/profiles.ts';
import { activeSettings } from '../../../src/http/profiles/settings.ts';
import { jobQueue } from '../../../src/runners/jobs/jobQueue.ts';
import { type StartLimit, starts } from '../../../src/runners/jobs/starts.ts';
import { openWaysOut } from '../../../src/service/runners.ts';
import { until } from '../../support/until.ts';

describe('Starts of jobs', () => {
  const setUp = (first: StartLimit) => {
    let time = 10_500;
    let limit = first;
    let opened = 0;
    const count = starts({ limit: () => limit, now: () => time, opened: () => void opened++ });
    const most = (): number => {
      let begun = 0;
      while (begun < 100 && count.take()) begun++;
      return begun;
    };
    return {
      count,
      most,
      pass: (ms: number) => {
        time += ms;
      },
      become: (next: StartLimit) => {
        limit = next;
        count.changed();
      },
      opened: () => opened,
    };
  };

  it('are as many as the limit in each window', () => {
    const { count, most, pass } = setUp({ most: 3, windowMs: 1000 });
    assert.equal(most(), 3);
    pass(499);
    assert.equal(most(), 0);
    pass(1);
    assert.equal(most(), 3);
    pass(10_000);
    assert.equal(most(), 3);
    count.stop();
  });

  it('are any number without a limit', () => {
    assert.equal(setUp({ most: 0, windowMs: 1000 }).most(), 100);
  });

  it('do not count what did not begin', () => {
    const { count, most, opened } = setUp({ most: 3, windowMs: 1000 });
    assert.equal(most(), 3);
    // One was refused meanwhile, and waits for a place.
    assert.equal(opened(), 0);
    count.giveBack();
    assert.equal(opened(), 1);
    assert.equal(most(), 1);
    count.stop();
    count.giveBack();
    assert.equal(opened(), 1);
  });

  it('follow a changed limit at once, and count what has begun', () => {
    const { count, most, become, opened } = setUp({ most: 3, windowMs: 1000 });
    assert.equal(most(), 3);
    become({ most: 5, windowMs: 1000 });
    assert.equal(opened(), 1);
    assert.equal(most(), 2);
    become({ most: 0, windowMs: 1000 });
    assert.equal(most(), 100);
    count.stop();
  });

  it('tell when the next window begins', async () => {
    let opened = false;
    const count = starts({
      limit: () => ({ most: 1, windowMs: 50 }),
      now: () => performance.now(),
      opened: () => {
        opened = true;
      },
    });
    while (count.take());
    // A timer may be a moment early: then it is told again.
    await until(() => opened && count.take());
    count.stop();
  });
});

describe('A queue whose starts are limited', () => {
  const job = (id: string, created = 1) => ({ id, component: 'c', turn: 'A', guard: undefined, created });
  const wish = { components: new Set(['c']), may: () => true };
  const never = new AbortController().signal;
  /** So many jobs may begin. */
  const startsOf = (most: number) => {
    const count = { left: most };
    const take = (): boolean => {
      if (count.left === 0) return false;
      count.left--;
      return true;
    };
    const giveBack = (): void => {
      count.left++;
    };
    return { count, take, giveBack };
  };

  it('lets those wait who may not begin yet, and serves them in their order', async () => {
    const { count, ...starting } = startsOf(1);
    const queue = jobQueue(starting);
    for (const id of ['a', 'b', 'c']) queue.add(job(id));
    assert.equal((await queue.next(wish, never))?.id, 'a');
    const given: string[] = [];
    for (const who of ['first', 'second']) void queue.next(wish, never).then((one) => given.push(`${who} ${one?.id}`));
    assert.equal(queue.take(wish), undefined);
    count.left = 1;
    queue.serve();
    await until(() => given.length === 1);
    count.left = 1;
    queue.serve();
    await until(() => given.length === 2);
    assert.deepEqual(given, ['first b', 'second c']);
  });

  it('keeps a job that comes while none may begin, though somebody waits for one', async () => {
    const { count, ...starting } = startsOf(0);
    const queue = jobQueue(starting);
    const next = queue.next(wish, never);
    queue.add(job('a'));
    assert.equal(queue.size(), 1);
    count.left = 1;
    queue.serve();
    assert.equal((await next)?.id, 'a');
  });

  it('gives what has waited longer to who waits, when a job comes as soon as one may begin', async () => {
    const { count, ...starting } = startsOf(0);
    const queue = jobQueue(starting);
    const next = queue.next(wish, never);
    queue.add(job('older'));
    count.left = 1;
    queue.add(job('newer', 2));
    assert.equal((await next)?.id, 'older');
    assert.equal(queue.size(), 1);
  });

  it('counts no start where there is no job', () => {
    const { count, ...starting } = startsOf(2);
    const queue = jobQueue(starting);
    queue.add(job('a'));
    assert.equal(queue.take({ ...wish, components: new Set(['other']) }), undefined);
    assert.equal(count.left, 2);
  });
});

describe('The engines of templates and expressions', function () {
  this.timeout(60_000);

  it('become as many at once as transformationWorkerCount of the active profile says', async () => {
    let transformationWorkerCount = 1;
    const state = async ({ category }: { category: string }) =>
      category === activeProfile.category
        ? { id: 'p' }
        : { properties: { systemProps: { transformationWorkerCount } } };
    const settings = activeSettings({
      ...{ state: state as unknown as Tools['state'], onChange: () => undefined },
      log: (message) => assert.fail(message),
    });
    await settings.refresh();
    const { renderer } = openWaysOut({
      config: readConfig({}),
      node: { transformBy: () => undefined, clock: { now: Date.now }, model: {}, tools: {} } as unknown as Parameters<
        typeof openWaysOut
      >[0]['node'],
      settings,
    });
    const { signal } = new AbortController();
    const over: string[] = [];
    // The template that the first one uses comes when the test is at its end.
    let supply: ((text: string) => void) | undefined;
    const find = () => new Promise<string>((resolve) => (supply = resolve));
    const first = renderer.render('{% include "other" %}', {}, { account: 'a', signal, find });
    void first.finally(() => over.push('first'));
    await until(() => supply !== undefined, 'the first render');
    const second = renderer.render('2', {}, { account: 'b', signal, find });
    transformationWorkerCount = 3;
    await settings.refresh();
    assert.equal(await second, '2');
    assert.deepEqual(over, []);
    supply?.('1');
    assert.equal(await first, '1');
    await renderer.close();
  });
});
