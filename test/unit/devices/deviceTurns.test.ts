import assert from 'node:assert/strict';
import { semaphore } from '@automation-platform/concurrency';
import {
  attemptDeviceConfig,
  concludeDeviceConfig,
} from '../../../src/commands/configuration-manager/deviceConfigurations.ts';
import { deviceTurns } from '../../../src/commands/configuration-manager/deviceTurns.ts';
import { context } from '../../support/given.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { until } from '../../support/until.ts';

const found = { source: { kind: 'adapter', name: 'lab', id: 'lab' }, device: { name: 'edge-1' } } as const;
const about = { actor: context.actor, operation: 'test', requestId: 'r' };
const { signal } = new AbortController();

describe('Turns of changes', () => {
  const { node } = nodesOnLog();
  let passed = 0;

  /** `ahead`: by how much the wall clock of the node differs. */
  const turnsOn = ({ handle, tools }: TestNode, ahead = 0) => {
    const clock = { now: () => 1_000_000 + ahead + passed, monotonic: () => passed };
    return deviceTurns({ handle, tools, clock, inLine: semaphore(1, 10) });
  };
  const attempt = (on: TestNode, id: string) =>
    on.command(attemptDeviceConfig, id, { adapter: 'lab', device: 'edge-1', digest: 'd', lines: 1, inventory: null });
  const conclude = (on: TestNode, id: string) => on.command(concludeDeviceConfig, id, { status: 200, text: null });

  it('come one after the other on two nodes: the next begins once the outcome of the former is stored', async () => {
    const [one, other] = [await node(), await node()];
    const said: string[] = [];
    const changeOn = async (on: TestNode, id: string, end?: Promise<void>): Promise<void> => {
      await attempt(on, id);
      await turnsOn(on).inTurn({ found, change: id, about, signal }, async () => {
        said.push(`${id} begins`);
        await end;
        said.push(`${id} ends`);
      });
      await conclude(on, id);
    };
    let finish = (): void => undefined;
    const first = changeOn(
      one,
      'first',
      new Promise((resolve) => {
        finish = resolve;
      }),
    );
    await until(() => said.length === 1, 'the first change has its turn');
    const second = changeOn(other, 'second');
    const third = changeOn(one, 'third');
    finish();
    await Promise.all([first, second, third]);
    assert.deepEqual(said.slice(0, 2), ['first begins', 'first ends']);
    for (const at of [2, 4]) assert.equal(said[at]?.split(' ')[0], said[at + 1]?.split(' ')[0]);
  });

  it('are over some time after nothing is heard of a change, and at once when it leaves', async () => {
    const [dead, next] = [await node(), await node()];
    let bury = (): void => undefined;
    const never = new Promise<void>((resolve) => {
      bury = resolve;
    });
    let begun = 0;
    await attempt(dead, 'dead');
    const hung = turnsOn(dead).inTurn({ found, change: 'dead', about, signal }, () => {
      begun++;
      return never;
    });
    await until(() => begun === 1, 'the first change has its turn');
    await attempt(next, 'next');
    // Its wall clock is an hour ahead, which says nothing of the time that has passed.
    let looks = 0;
    const looking = {
      ...next,
      handle: ((...args) => next.handle(...args).finally(() => looks++)) as TestNode['handle'],
    };
    const waiting = turnsOn(looking, 3_600_000).inTurn({ found, change: 'next', about, signal }, async () => {
      begun++;
    });
    await until(() => looks > 1, 'the next change waits');
    passed += 29_000;
    await assert.rejects(
      turnsOn(next).inTurn({ found, change: 'hasty', about, signal: AbortSignal.timeout(100) }, async () => undefined),
    );
    assert.equal(begun, 1);
    passed += 2000;
    await waiting;
    assert.equal(begun, 2);
    await turnsOn(next).leave({ found, change: 'next', about });
    await turnsOn(dead).inTurn({ found, change: 'last', about, signal }, async () => {
      begun++;
    });
    assert.equal(begun, 3);
    bury();
    await hung;
  });
});
