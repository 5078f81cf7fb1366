import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { waitingForIndex } from '../../../src/store/auditIndex/auditIndex.ts';

const refused = { code: 'unavailable', message: /being made/ };

describe('waiting for the audit index', () => {
  it('ends when the index has come that far', async () => {
    const waiting = waitingForIndex({ patienceMs: 60_000, whileItGrows: false });
    const [five, nine] = [waiting.upTo(5), waiting.upTo(9)];
    waiting.reached(5);
    await five;
    waiting.fail('The audit index cannot be written; try again');
    await assert.rejects(nine, { code: 'unavailable', message: /cannot be written/ });
  });

  it('ends with the patience, also while the index grows', async () => {
    const waiting = waitingForIndex({ patienceMs: 50, whileItGrows: false });
    const waits = waiting.upTo(1000);
    const growing = setInterval(() => waiting.reached(1), 5);
    await assert.rejects(waits, refused);
    clearInterval(growing);
  });

  it('goes on as long as the index grows, for who asks for that', async () => {
    const waiting = waitingForIndex({ patienceMs: 1000, whileItGrows: true });
    const waits = waiting.upTo(40);
    for (let position = 1; position <= 40; position++) {
      await pause(50);
      waiting.reached(position);
    }
    await waits;
    await assert.rejects(waiting.upTo(41), refused);
  }).timeout(60_000);
});
