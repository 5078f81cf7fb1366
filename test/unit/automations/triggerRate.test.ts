import assert from 'node:assert/strict';
import fc from 'fast-check';
import { rateLimit } from '../../../src/runners/triggers/rate.ts';

describe('the rate of a trigger', () => {
  it('lets no more than so many start in any 60 seconds, and lets each start in the end', () => {
    const waits = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 100 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), waits, (most, gaps) => {
        let now = 1_000_000;
        const limit = rateLimit(most, () => now);
        const starts: number[] = [];
        for (const gap of gaps) {
          now += gap;
          const ms = limit.wait();
          assert.ok(ms <= 61_000, `it waits ${ms} ms`);
          if (ms > 0) now += ms;
          assert.equal(limit.wait(), 0);
          limit.count();
          starts.push(now);
        }
        for (const [n, start] of starts.entries()) {
          const before = starts[n - most];
          if (before !== undefined) assert.ok(start - before >= 60_000, `${most + 1} in ${start - before} ms`);
        }
      }),
    );
  });
});
