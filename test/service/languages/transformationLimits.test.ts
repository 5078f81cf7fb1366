import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { engines } from '../../../src/southbound/engines/engines.ts';
import type { Renderer } from '../../../src/southbound/port.ts';

/** A document of steps in a row: each takes the value of the one before, at two places. The first takes what comes in. */
const rowOf = (names: readonly string[], places: readonly number[], rest: readonly unknown[] = []) => ({
  name: 'row',
  incoming: [{ $id: 'in' }],
  outgoing: [{ $id: 'out' }],
  functions: [],
  steps: [
    ...names.flatMap((name, i) => {
      const [library, method] = name.split('.', 2);
      const from =
        i === 0 ? { location: 'incoming', name: 'in', ptr: '' } : { location: 'method', name: i, ptr: '/return' };
      return [
        { id: i + 1, type: 'method', library, method, args: [null, ...rest] },
        ...places.map((at) => ({
          id: `${i} ${at}`,
          type: 'assign',
          from,
          to: { location: 'method', name: i + 1, ptr: `/args/${at}/value` },
        })),
      ];
    }),
    {
      id: 'out',
      type: 'assign',
      from: { location: 'method', name: names.length, ptr: '/return' },
      to: { location: 'outgoing', name: 'out', ptr: '' },
    },
  ],
});

describe('transformations in the engines', () => {
  let engine: Renderer;
  const run = (document: unknown, input: unknown, runId = 'job.task.1') =>
    engine.transform(
      { document, incoming: { in: input }, now: 86_400_000, runId },
      { account: 'somebody', signal: new AbortController().signal },
    );
  before(() => {
    engine = engines();
  });
  after(() => engine.close());

  it('give what goes out', async () => {
    assert.deepEqual(await run(rowOf(['String.split'], [0], [',']), 'a,b'), { out: ['a', 'b'] });
    const query = { ...rowOf(['WorkFlowEngine.query'], [2], ['a.[0].b', null]) };
    assert.deepEqual(await run(query, { a: [{ b: 7 }] }), { out: 7 });
  });

  it('move sealed secrets, and fail where one is looked at', async () => {
    const secret = { $sealed: 'x', tag: 'y' };
    assert.deepEqual(
      await run(rowOf(['Array.push'], [1]), secret).catch(messageOf),
      'Step 1 (Array.push): list: a list is needed',
    );
    assert.deepEqual(await run(rowOf(['Array.reverse'], [0]), [1, secret]), { out: [secret, 1] });
    assert.match(String(await run(rowOf(['JSON.stringify'], [0]), { a: secret }).catch(messageOf)), /not looked at/);
    const query = rowOf(['WorkFlowEngine.query'], [2], ['a.$sealed', null]);
    assert.match(String(await run(query, { a: secret }).catch(messageOf)), /secret/);
  });

  it('end those that take too long or grow too large, and go on', async () => {
    const doubled = rowOf(
      Array.from({ length: 40 }, () => 'Array.push'),
      [0, 1],
    );
    assert.match(String(await run(doubled, [1]).catch(messageOf)), /at most|memory|longer/);
    const large = rowOf(
      Array.from({ length: 400 }, () => 'Array.reverse'),
      [0],
    );
    assert.match(
      String(
        await run(
          large,
          Array.from({ length: 1_000_000 }, () => 1),
        ).catch(messageOf),
      ),
      /at most|memory|longer/,
    );
    assert.deepEqual(await run(rowOf(['Math.abs'], [0]), -1), { out: 1 });
  });
});

const messageOf = (error: unknown): string => {
  assert.ok(error instanceof RequestError && error.code === 'unprocessable', String(error));
  return error.message.replace('The transformation fails: ', '');
};
