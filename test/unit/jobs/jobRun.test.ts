import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Handle } from '../../../src/commands/engine/handle.ts';
import type { Actor } from '../../../src/domain/engine/core.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { builtInWork } from '../../../src/runners/jobs/builtIn/builtInWork.ts';
import { jobRun } from '../../../src/runners/jobs/builtIn/jobRun.ts';
import { jobAsWork, jobsHere } from '../../../src/runners/jobs/builtIn/jobsHere.ts';
import { type Operation, RunEnded } from '../../../src/runners/jobs/builtIn/run.ts';
import { jobBook } from '../../../src/runners/jobs/jobBook.ts';
import { Tampered } from '../../../src/store/tampered.ts';
import { context } from '../../support/given.ts';
import { until } from '../../support/until.ts';

const { actor } = context;
const variables = { done: true };
/** What the platform is asked for, as a command's name and input. */
const givenBack = ['releaseJob', { claim: 1 }];
const completed = ['completeJob', { variables, claim: 1 }];

/** A run of a job that sends two commands, each after a step. */
const runOf = (actorOf: () => Promise<Actor>, waiting?: Operation, lookEveryMs = 3000) => {
  const handled: unknown[] = [];
  const begun: string[] = [];
  const sent: string[] = [];
  const operation: Operation = async ({ step, acts }) => {
    for (const command of ['one', 'two']) {
      await step();
      begun.push(command);
      acts();
      sent.push(command);
    }
    return variables;
  };
  const handle = (async ({ name }: { name: string }, { input }: { input: unknown }) =>
    handled.push([name, input])) as unknown as Handle;
  const run = jobRun(
    {
      actorOf,
      awaits: (end) => end,
      stopping: new AbortController().signal,
      lookEveryMs,
      log: (message) => assert.fail(message),
    },
    jobAsWork({ handle, tools: { state: () => assert.fail('not asked') } }, 'template', {
      doc: { _id: 'j', claim: { claim: 1 }, component: { name: 't' } },
      started: { id: 'e', data: {}, metadata: { actor, operation: 'startJob', requestId: 'r' } },
      operation: waiting ?? operation,
    } as unknown as Parameters<typeof jobAsWork>[2]),
  );
  return { run, handled, begun, sent };
};

/** A run whose account can be read only when the test says so. */
const heldRun = () => {
  const asked: (() => void)[] = [];
  const one = runOf(() => new Promise((resolve) => asked.push(() => resolve(actor))));
  const done = one.run.carryOut();
  /** Waits until the account is being read for the nth time. */
  const reading = (nth: number) => until(() => asked.length === nth, `read ${nth} of the account`);
  const read = async (): Promise<void> => {
    asked.at(-1)?.();
    await nextTurn();
  };
  return { ...one, done, reading, read };
};

/** A run whose account fails to be read before the second command, once with each error. */
const failingRun = async (...errors: readonly Error[]) => {
  const left = [...errors];
  let asked = 0;
  const one = runOf(async () => {
    const error = asked++ > 0 ? left.shift() : undefined;
    if (error) throw error;
    return actor;
  });
  await one.run.carryOut();
  return { ...one, asked };
};

/** A run that waits within this component, and what it asks for once its account is gone. */
const askedOnceGone = async (component: (waits: () => void) => Operation): Promise<readonly unknown[]> => {
  let isGone = false;
  let hasBegun = false;
  const { run, handled } = runOf(
    async () => {
      if (isGone) throw new RunEnded('The account is gone');
      return actor;
    },
    component(() => {
      hasBegun = true;
    }),
    1,
  );
  const done = run.carryOut();
  await until(() => hasBegun, 'its wait');
  if (component === pausedAfterCommand) run.setPaused(true);
  isGone = true;
  await done;
  return handled;
};
const endlessly: Parameters<typeof askedOnceGone>[0] =
  (waits) =>
  async ({ step, signal }) => {
    await step();
    waits();
    await once(signal, 'abort');
    return signal.throwIfAborted() as never;
  };
const pausedAfterCommand: Parameters<typeof askedOnceGone>[0] =
  (waits) =>
  async ({ step, acts }) => {
    await step();
    acts();
    waits();
    await nextTurn();
    await step();
    assert.fail('It is paused');
  };

describe('A run of a job that waits', () => {
  for (const [what, component] of Object.entries({ 'for a session': endlessly, 'while paused': pausedAfterCommand }))
    it(`${what} ends once what it needs is gone, and says why`, async () =>
      assert.deepEqual(await askedOnceGone(component), [['failJob', { error: 'The account is gone', claim: 1 }]]));

  it('for a command that was sent does not end before its answer', async () => {
    let looked = 0;
    const { run, handled } = runOf(
      async () => {
        if (looked++ > 0) throw new RunEnded('The account is gone');
        return actor;
      },
      async ({ step, acts, signal }) => {
        await step();
        acts();
        for (let turn = 0; turn < 20; turn++) await pause(1, undefined, { signal });
        return variables;
      },
      1,
    );
    await run.carryOut();
    assert.deepEqual(handled, [['failJob', { error: 'The account is gone', claim: 1 }]]);
    assert.equal(looked, 2, 'it looked at its step alone');
  });
});

describe('A run of a job, whose account is being read', () => {
  for (const [what, move] of [
    ['a pause', ({ setPaused }) => setPaused(true)],
    ['a stop of the service', ({ leave }) => leave()],
  ] as [string, (run: ReturnType<typeof jobRun>) => void][])
    it(`is given back at ${what} before the first command, and sends nothing`, async () => {
      const { run, done, reading, read, handled, begun } = heldRun();
      await reading(1);
      move(run);
      await read();
      await done;
      assert.deepEqual([handled, begun], [[givenBack], []]);
    });

  it('sends no second command while it is paused between two, and sends it once it is resumed', async () => {
    const { run, done, reading, read, handled, sent } = heldRun();
    await reading(1);
    await read();
    await reading(2);
    run.setPaused(true);
    await read();
    assert.deepEqual([handled, sent], [[], ['one']]);
    run.setPaused(false);
    // The rights may have changed meanwhile.
    await reading(3);
    await read();
    assert.deepEqual(sent, ['one', 'two']);
    await reading(4);
    await read();
    await done;
    assert.deepEqual(handled, [completed]);
  });

  it('sends the second command at a stop of the service after the first, and is completed', async () => {
    const { run, done, reading, read, handled, sent } = heldRun();
    for (const nth of [1, 2, 3]) {
      await reading(nth);
      if (nth === 2) run.leave();
      await read();
    }
    await done;
    assert.deepEqual([handled, sent], [[completed], ['one', 'two']]);
  });
});

describe('A run of a job, whose account cannot be read', () => {
  for (const code of ['unavailable', 'limited'] as const)
    it(`goes on between two commands once it can, after ${code}`, async () => {
      const { handled, sent, asked } = await failingRun(new RequestError(code, 'Not now'));
      assert.deepEqual([handled, sent, asked], [[completed], ['one', 'two'], 4]);
    });

  const tampered = new Tampered('account-x goes on at revision 2');

  it('ends in error with the reason if its stream cannot be used, and is not tried again', async () => {
    const { handled, sent, asked } = await failingRun(tampered);
    assert.deepEqual([handled, sent, asked], [[['failJob', { error: tampered.message, claim: 1 }]], ['one'], 2]);
  });

  it('does so before the first command, too', async () => {
    let asked = 0;
    const { run, handled, begun } = runOf(async () => {
      asked++;
      throw tampered;
    });
    await run.carryOut();
    assert.deepEqual([handled, begun, asked], [[['failJob', { error: tampered.message, claim: 1 }]], [], 1]);
  });
});

describe('A job that runs here', () => {
  for (const type of ['template', 'mop-template', 'agent'] as const)
    it(`is broken off as soon as the event of its cancel is shown: ${type}`, async () => {
      let signal: AbortSignal | undefined;
      const hangs: Operation = async (run) => {
        signal = run.signal;
        await once(run.signal, 'abort');
        throw run.signal.reason;
      };
      const started = { id: 'e', data: { component: { type } }, metadata: { actor, operation: 'o', requestId: 'r' } };
      const waiting = [{ id: 'j' }];
      const work = builtInWork({
        kindOf: () =>
          jobsHere({
            components: { template: hangs, 'mop-template': hangs, agent: hangs },
            events: async () => [started],
            handle: async () => ({
              changed: true,
              position: 1,
              doc: { _id: 'j', claim: { claim: 1 }, component: { name: 't' }, variables: {} },
            }),
          } as unknown as Parameters<typeof jobsHere>[0]),
        queue: {
          next: async (_: unknown, taking: AbortSignal) => waiting.pop() ?? void (await once(taking, 'abort')),
          giveBack: () => undefined,
        },
        ...{ actorOf: async () => actor, atOnce: () => 1, look: () => undefined, isGone: async () => false },
        log: (message: string) => assert.fail(message),
      } as unknown as Parameters<typeof builtInWork>[0]);
      const book = jobBook({
        model: {
          getMany: async () => [{ text: JSON.stringify({ _id: 'j', status: 'canceled', claim: null }) }],
        } as unknown as Parameters<typeof jobBook>[0]['model'],
        ...{
          ready: async () => undefined,
          note: ({ _id }) => work.seen({ id: _id, status: 'ended', claim: null }),
          log: (message) => assert.fail(message),
        },
      });
      work.start();
      await until(() => signal !== undefined, 'the run');
      book.look('j');
      // Nothing waits for a time between the event and the signal.
      for (let turns = 0; turns < 3; turns++) await nextTurn();
      assert.equal(signal?.aborted, true);
      await Promise.all([work.leave(), book.stop()]);
    });
});
