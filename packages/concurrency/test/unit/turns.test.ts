import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { turns } from '../../src/index.ts';

describe('turns', () => {
  it('are of the event loop: each caller has one of its own, in order', async () => {
    const turn = turns();
    const order: string[] = [];
    const work = async (name: string): Promise<void> => {
      for (let n = 0; n < 3; n++) {
        await turn();
        order.push(name);
      }
    };
    const other = async (): Promise<void> => {
      while (order.filter((name) => name !== '|').length < 9) {
        await nextTurn();
        order.push('|');
      }
    };
    await Promise.all([work('a'), work('b'), work('c'), other()]);
    assert.match(`${order.join('')}|`, /^\|*(a\|+b\|+c\|+){3}$/);
  });
});
