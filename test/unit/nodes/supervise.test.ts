import assert from 'node:assert/strict';
import { supervise } from '../../../src/concurrency/supervise.ts';

describe('supervise', () => {
  const stop = () => new AbortController();

  it('runs work again after it fails, until it returns', async () => {
    let runs = 0;
    const failures: unknown[] = [];
    const work = async () => {
      if (++runs < 4) throw new Error(`failure ${runs}`);
    };
    await supervise(work, {
      signal: stop().signal,
      pauseMs: 1,
      onFailure: (error) => failures.push((error as Error).message),
    });
    assert.equal(runs, 4);
    assert.deepEqual(failures, ['failure 1', 'failure 2', 'failure 3']);
  });

  it('tells a reason that repeats itself from a new one, and begins anew once the work goes on', async () => {
    const reasons = ['away', 'away', 'full', 'away', 'away'];
    const seen: [string, boolean][] = [];
    let runs = 0;
    const work = async (goesOn: () => void) => {
      // After the fourth run the trouble was over.
      if (runs === 4) goesOn();
      const reason = reasons[runs++];
      if (reason !== undefined) throw new Error(reason);
    };
    await supervise(work, {
      signal: stop().signal,
      pauseMs: 1,
      onFailure: (error, isNew) => seen.push([(error as Error).message, isNew]),
    });
    assert.deepEqual(seen, [
      ['away', true],
      ['away', false],
      ['full', true],
      ['away', true],
      ['away', true],
    ]);
  });

  it('ends at once when it is stopped in a pause, and runs the work no more', async () => {
    const stopping = stop();
    let runs = 0;
    const work = async () => {
      runs++;
      throw new Error('away');
    };
    await supervise(work, { signal: stopping.signal, pauseMs: 3_600_000, onFailure: () => stopping.abort() });
    assert.equal(runs, 1);
  });

  it('says nothing of a failure that comes of being stopped', async () => {
    const stopping = stop();
    const work = async () => {
      stopping.abort();
      throw new Error('stopped');
    };
    await supervise(work, { signal: stopping.signal, pauseMs: 1, onFailure: () => assert.fail('it was stopped') });
  });

  it('does not begin what is stopped already', async () => {
    const work = async () => assert.fail('it was stopped');
    await supervise(work, { signal: AbortSignal.abort(), pauseMs: 1, onFailure: () => undefined });
  });
});
