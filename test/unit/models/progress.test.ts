import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { progressLine } from '../../../src/cli/progress.ts';

/** What is written when the time goes on by so much before each of the lines 1, 2, ... */
const written = (isTTY: boolean, ...steps: number[]): string => {
  const output = Object.assign(new PassThrough(), { isTTY });
  let time = 0;
  const progress = progressLine(output, () => time);
  for (const [n, step] of steps.entries()) {
    time += step;
    progress.show(() => String(n + 1));
  }
  progress.end();
  progress.end();
  return String(output.read() ?? '');
};

describe('progress', () => {
  it('is one line that changes on a terminal', () =>
    assert.equal(written(true, 100, 50, 50, 100), '\r\u001b[K1\r\u001b[K3\r\u001b[K4\n'));
  it('is not shown elsewhere', () => assert.equal(written(false, 4999, 1, 4000, 1000_000), ''));
  it('is not shown for short work', () => assert.equal(written(true, 99), ''));
});
