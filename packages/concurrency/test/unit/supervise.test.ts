import assert from 'node:assert/strict';
import { insist, persist, supervise } from '../../src/index.ts';

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

describe('persist', () => {
  const failing = (...failures: readonly string[]) => {
    const left = [...failures];
    return async () => {
      const reason = left.shift();
      if (reason !== undefined) throw new Error(reason);
      return 'done';
    };
  };
  const patience = { signal: new AbortController().signal, pauseMs: 1 };

  it('gives what the work gives, and counts the tries but for those in which it had to wait', async () => {
    const tries: unknown[] = [];
    const outcome = await persist(failing('one', 'away', 'away', 'two'), {
      ...patience,
      onFailure: (error, { attempts, isNew }) => {
        const { message } = error as Error;
        tries.push([message, attempts, isNew]);
        return message === 'away' ? 'waits' : undefined;
      },
    });
    assert.equal(outcome, 'done');
    assert.deepEqual(tries, [
      ['one', 1, true],
      ['away', 2, true],
      ['away', 2, false],
      ['two', 2, true],
    ]);
  });

  it('gives up with what onFailure throws, and with the reason of the signal', async () => {
    const giveUp = () => {
      throw new Error('enough');
    };
    await assert.rejects(persist(failing('one'), { ...patience, onFailure: giveUp }), { message: 'enough' });
    const stopping = new AbortController();
    const stop = () => stopping.abort(new Error('stopped'));
    const patient = { pauseMs: 3_600_000, signal: stopping.signal, onFailure: stop };
    await assert.rejects(persist(failing('one'), patient), { name: 'AbortError' });
    await assert.rejects(persist(failing(), patient), { message: 'stopped' });
  });
});

describe('insist', () => {
  it('tries a last time once it is stopped, and rejects if that fails', async () => {
    const stopping = new AbortController();
    let runs = 0;
    const work = async () => {
      if (++runs !== 3) throw new Error(`failure ${runs}`);
    };
    const patience = { signal: stopping.signal, pauseMs: 1, onFailure: () => undefined };
    await insist(work, patience);
    assert.equal(runs, 3);
    stopping.abort();
    await assert.rejects(insist(work, patience), { message: 'failure 4' });
  });
});
