import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { jobOfInstant } from '../../src/commands/operations-manager/triggerSchedules.ts';
import type { Recorded } from '../../src/store/event.ts';
import { type ApiNode, soon } from './cluster.ts';
import { outcomeOf, ranOf } from './scheduleOutcome.ts';
import { second } from './scheduling.ts';
import { expectedOf, sortedOutcome } from './triggering.ts';
import { endOfTest } from './until.ts';

const om = '/operations-manager';
const publishEveryMs = 200;

/** Asks one node after the other until one answers. */
const insisting =
  (nodes: readonly ApiNode[]) =>
  async (method: string, path: string, body?: unknown, key?: string): Promise<any> => {
    for (let tried = 0; ; tried++) {
      const node = nodes[tried % nodes.length];
      assert.ok(node);
      const headers = key === undefined ? {} : { 'Idempotency-Key': key };
      const { status, text, body: answer } = await node.ask(method, path, body, headers);
      if (status === 200) return answer;
      assert.ok(status === 0 || status === 503, `${method} ${path}: ${status} ${text}`);
      assert.ok(!endOfTest().aborted, `${method} ${path} is not answered`);
      await pause(100);
    }
  };

/** Event triggers and schedules that fire while something happens to the nodes, and the check of what they did. */
export const firingOn = async (nodes: readonly ApiNode[], readLog: () => Promise<readonly Recorded<any>[]>) => {
  const insist = insisting(nodes);
  const { _id: actionId } = (await insist('POST', `${om}/automations`, { name: `firing ${Date.now()}` })).data;
  const make = async (name: string, more: object): Promise<string> => {
    const common = { name: `${name} of ${actionId}`, enabled: true, actionType: 'automations', actionId };
    return (await insist('POST', `${om}/triggers`, { ...common, ...more })).data._id;
  };
  const source = `firing-${actionId}`;
  const waits = { type: 'eventSystem', source, topic: 't', jst: null };
  await make('all', { ...waits, schema: null });
  await make('even', { ...waits, schema: { type: 'object', properties: { n: { multipleOf: 2 } } } });
  const first = Date.now() + second;
  const timing = { type: 'schedule', formId: null, formData: null, firstRunAt: first, repeatInterval: second };
  const schedules = [
    await make('last', { ...timing, processMissedRuns: 'last' }),
    await make('none', { ...timing, processMissedRuns: 'none' }),
  ];
  const { results } = await insist('GET', '/authorization/accounts');
  const accounts = (results as readonly { _id: string }[]).map(({ _id }) => _id);

  const acknowledged: string[] = [];
  let publishing = Promise.resolve();
  let isStopped = true;
  const publish = async (): Promise<void> => {
    while (!isStopped) {
      const n = acknowledged.length;
      const { data } = await insist('POST', `${om}/events/${source}/t`, { n }, `${source}-${n}`);
      acknowledged.push(data.id);
      await pause(publishEveryMs);
    }
  };
  const enable = (enabled: boolean) =>
    Promise.all(schedules.map((id) => insist('PATCH', `${om}/triggers/${id}`, { enabled })));

  const byEvents = (events: readonly Recorded<any>[]) =>
    sortedOutcome(events.filter(({ stream, data }) => !schedules.includes(data?.trigger ?? stream.split('-')[1])));
  /** The runs of a schedule, its jobs, and how many runs were refused: the scene was over before they began. */
  const bySchedule = (events: readonly Recorded<any>[], id: string) => {
    const { decided, jobs, refused } = outcomeOf(events, id);
    const late = refused.filter(({ data }) => data.reason === 'disabled');
    return { ran: ranOf(decided, first, second), jobs, late: late.reduce((sum, { data }) => sum + data.count, 0) };
  };
  const isDone = (events: readonly Recorded<any>[]): boolean =>
    byEvents(events).jobs.length >= expectedOf(events, accounts).jobs.length &&
    schedules.every((id) => {
      const { ran, jobs, late } = bySchedule(events, id);
      return jobs.length + late >= ran.length;
    });

  return {
    start: async (): Promise<void> => {
      await enable(true);
      isStopped = false;
      publishing = publish();
    },
    /** Nothing fires any more once it resolves, but what is under way. */
    stop: async (): Promise<void> => {
      isStopped = true;
      await publishing;
      await enable(false);
    },
    /** Asserts that every job that was wanted was started, and once. Says how many in words. */
    check: async (): Promise<string> => {
      const late = await soon('all jobs are started', async () => isDone(await readLog()) || pause(500, false));
      const events = await readLog();
      const stored = new Set(events.map(({ id }) => id));
      assert.deepEqual(
        acknowledged.filter((id) => !stored.has(id)),
        [],
        'acknowledged events are in the log',
      );
      const expected = expectedOf(events, accounts);
      assert.deepEqual(byEvents(events), expected);
      let runs = 0;
      for (const id of schedules) {
        const { ran, jobs, late: refused } = bySchedule(events, id);
        const instants = jobs.map(({ data }) => data.instant);
        assert.equal(instants.length + refused, ran.length);
        assert.deepEqual(
          instants,
          ran.filter((instant) => instants.includes(instant)),
        );
        for (const { stream, data } of jobs) assert.equal(stream, `job-${jobOfInstant(id, data.instant)}`);
        runs += jobs.length;
      }
      return `${expected.jobs.length} jobs by events and ${runs} by schedules, each once, ${late} ms after the load`;
    },
  };
};

export type Firing = Awaited<ReturnType<typeof firingOn>>;
