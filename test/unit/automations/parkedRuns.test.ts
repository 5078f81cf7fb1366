import assert from 'node:assert/strict';
import type { Node } from '../../../src/node.ts';
import { parkedRunsOf } from '../../../src/service/runners.ts';
import { Tampered } from '../../../src/store/tampered.ts';

const about = {} as Parameters<ReturnType<typeof parkedRunsOf>['retry']>[1]; // who retries does not matter here

/** The retry of a parked run that fails. */
const retried = (stream: string, error: Error) => {
  const state = async () => ({ parked: true, parking: { stream, revision: 0, trigger: 't' } });
  const failing = { retry: () => Promise.reject(error) };
  const node = { tools: { state } } as unknown as Node;
  return parkedRunsOf(node, { triggers: failing, schedules: failing }).retry('p', about);
};

describe('A retry of a parked run', () => {
  for (const stream of ['publishedEvent-1', 'triggerSchedule-t'])
    it(`of ${stream} says when a stream that it needs cannot be used, and throws what else goes wrong`, async () => {
      const { job, refused } = await retried(stream, new Tampered('Stream job-1 goes on at revision 2'));
      assert.deepEqual([job, refused?.reason], [null, 'unusable']);
      assert.match(refused?.message ?? '', /^Stream job-1 goes on at revision 2/);
      await assert.rejects(retried(stream, new Error('Something else')), /Something else/);
    });
});
