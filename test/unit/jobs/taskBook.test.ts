import assert from 'node:assert/strict';
import { wordOfApp } from '../../../src/domain/operations-manager/taskWords.ts';
import type { JobDoc } from '../../../src/projections/operations-manager/jobs.ts';
import type { OpenTask, OpenTasksDoc } from '../../../src/projections/operations-manager/openTasks.ts';
import { jobQueue } from '../../../src/runners/jobs/jobQueue.ts';
import { taskBook } from '../../../src/runners/jobs/taskBook.ts';

describe('The book of open tasks', () => {
  const doc = {
    _id: 'j',
    automation: null,
    component: { type: 'workflows', name: 'w' },
    groups: [],
  } as unknown as JobDoc;
  const offered = (more: Partial<OpenTask> = {}): OpenTask => ({
    run: 1,
    to: { worker: { app: 'Lab', name: 'work', adapter: null } },
    since: new Date(0).toISOString(),
    due: null,
    isRetried: false,
    claim: null,
    ...more,
  });
  const claim = { claim: 1, worker: 'w', account: 'a', until: 5000 };
  const setUp = () => {
    const starts = { take: () => true, giveBack: () => undefined };
    const [queue, here] = [jobQueue(starts), jobQueue(starts)];
    const [leases, timers, looks] = [new Map<string, number>(), new Map<string, number>(), [] as string[]];
    const timesIn = (times: Map<string, number>) => ({
      set: (id: string, { until }: { readonly until: number }) => void times.set(id, until),
      remove: (id: string) => void times.delete(id),
    });
    const book = taskBook({
      queue,
      here: { queue: here, note: () => undefined },
      leases: timesIn(leases),
      timers: timesIn(timers),
      onOpen: (id) => looks.push(id),
    });
    const look = (open: Readonly<Record<string, OpenTask>>, status: OpenTasksDoc['status'] = 'running') => {
      looks.length = 0;
      // As it comes from the read model: no object is that of before.
      book.look(doc, structuredClone({ _id: 'j', status, open }) as unknown as OpenTasksDoc);
      return looks;
    };
    return { book, queue, leases, timers, look };
  };

  it('looks at the runs that have changed alone', () => {
    const { look, queue, leases, timers, book } = setUp();
    const open = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`t${n}`, offered()]));
    assert.equal(look(open).length, 500);
    assert.deepEqual(look({ ...open, t7: offered({ claim }) }), ['j.t7.1']);
    assert.deepEqual([leases.get('j.t7.1'), queue.has('j.t7.1'), queue.size()], [5000, false, 499]);
    assert.deepEqual(look({ ...open, t7: offered({ claim: { ...claim, until: 9000 } }) }), ['j.t7.1']);
    assert.equal(leases.get('j.t7.1'), 9000);
    assert.deepEqual(look({ ...open, t7: offered({ run: 2, due: 7 }) }), ['j.t7.2']);
    assert.deepEqual([leases.size, queue.has('j.t7.1'), timers.get('j.t7.2')], [0, false, 7]);
    assert.deepEqual(book.counts(), { waiting: 500, claimed: 0, people: 0 });
    const { t7: _, ...others } = open;
    assert.deepEqual(look(others), []);
    assert.deepEqual([queue.size(), timers.size, book.counts().waiting], [499, 0, 499]);
    assert.equal(look(others, 'paused').length, 499, 'a pause concerns all');
    assert.equal(queue.size(), 0);
    assert.equal(look(others).length, 499);
    look({});
    assert.deepEqual([queue.size(), book.counts().waiting], [0, 0]);
  });

  it('lets a run wait again that was taken and not claimed', () => {
    const { look, queue } = setUp();
    look({ a: offered(), b: offered() });
    const id = queue.take({ components: new Set([wordOfApp('Lab')]), may: () => true })?.id ?? '';
    assert.equal(queue.has(id), false);
    assert.deepEqual(look({ a: offered(), b: offered() }), [id]);
    assert.equal(queue.has(id), true);
  });
});
