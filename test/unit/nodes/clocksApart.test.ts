import assert from 'node:assert/strict';
import fc from 'fast-check';
import { clocksApart } from '../../../src/runners/schedules/clock.ts';
import type { StoredEvent } from '../../../src/store/port.ts';

const second = 1000;
const minute = 60 * second;
const begin = Date.UTC(2026, 0, 5);

/** A node that looks at events of the log. Its clock is wrong by some milliseconds. */
const watcher = (offset: number) => {
  let time = 0;
  let wrongBy = offset;
  const warned: string[] = [];
  const look = clocksApart({
    now: () => begin + time + wrongBy,
    monotonic: () => time,
    log: (message, { seconds }) => warned.push(`${/behind|ahead/.exec(message)} ${seconds}`),
  });
  return {
    warned,
    turn: (by: number): void => {
      wrongBy = by;
    },
    /** Gets an event at this time. Its node's clock is wrong by `by`; it was stored some time before. */
    gets: (
      moment: number,
      { by = 0, late = 0, metadata }: { by?: number; late?: number; metadata?: string } = {},
    ): void => {
      time = moment;
      const at = new Date(begin + moment - late + by).toISOString();
      look({ metadata: metadata ?? JSON.stringify({ at }) } as StoredEvent); // it looks at nothing else
    },
  };
};

describe('clocks of nodes that differ', () => {
  it('by more than a minute are told on both nodes, once in ten minutes', () => {
    const ahead = watcher(5 * minute);
    const behind = watcher(0);
    for (const node of [ahead, behind]) {
      for (let time = 0; time < 9 * minute; time += 2 * second) {
        node.gets(time, { by: 5 * minute });
        node.gets(time + second);
      }
    }
    assert.deepEqual(ahead.warned, ['ahead 299']);
    assert.deepEqual(behind.warned, ['behind 300']);
    behind.gets(15 * minute, { by: 5 * minute });
    assert.equal(behind.warned.length, 2);
  });

  it('by less are not told', () => {
    const node = watcher(50 * second);
    for (let time = 0; time < minute; time += second) node.gets(time, { by: time % 2 === 0 ? 50 * second : 0 });
    assert.deepEqual(node.warned, []);
  });

  it('are not seen in events that come late, after a node was stopped for an hour', () => {
    const node = watcher(0);
    node.gets(0);
    for (let n = 0; n < 3600; n += 60) node.gets(3600 * second + n, { late: (3600 - n) * second });
    node.gets(3601 * second);
    assert.deepEqual(node.warned, []);
  });

  it('are not seen after the clock was set back', () => {
    const node = watcher(minute * 30);
    node.gets(0, { by: 30 * minute });
    node.turn(0);
    node.gets(second);
    node.gets(2 * second);
    assert.deepEqual(node.warned, []);
  });

  it('are not seen in what cannot be read', () => {
    const node = watcher(0);
    node.gets(0);
    for (const metadata of ['', 'null', '{}', '{"at":5e15}', '{"at":"yesterday"}', '[]'])
      node.gets(second, { metadata });
    assert.deepEqual(node.warned, []);
  });

  it('are not seen when they agree, whatever the delays are', () => {
    const step = fc.record({ pause: fc.nat(90 * second), stored: fc.nat(20 * second), late: fc.nat(10 * minute) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer(), (steps, offset) => {
        const node = watcher(offset);
        let [stored, seen] = [0, 0];
        for (const { pause, stored: took, late } of steps) {
          stored += pause;
          seen = Math.max(seen, stored + late);
          node.gets(seen, { by: offset, late: seen - stored + took });
        }
        assert.deepEqual(node.warned, []);
      }),
      { numRuns: 2000 },
    );
  });
});
