import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withinTime } from '@automation-platform/client';
import { fromSource } from '../../support/fromSource.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('limits of time', () => {
  it('end calls of devices and reports of workers, however often garbage is collected', async () => {
    const calls = 100;
    const options = [...fromSource(), '--expose-gc', '--max-old-space-size=96'];
    const program = join(root, 'test/support/timeLimitsProgram.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [...options, program, String(calls)]);
    const { outcomes, ended, claims } = JSON.parse(stdout);
    assert.deepEqual(outcomes, ['Adapter "hung": there was no answer in time']);
    assert.equal(ended, calls);
    assert.ok(claims > 1, 'the worker goes on after a report that is not answered');
  });

  it('are all timers that something holds', () => {
    const folders = ['src', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src`)];
    const files = folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    );
    const lost = files.filter((file) => file.endsWith('.ts') && file !== 'packages/client/src/withinTime.ts');
    assert.deepEqual(
      lost.filter((file) => readFileSync(join(root, file), 'utf8').includes('AbortSignal.timeout')),
      [],
    );
  });

  it('leave nothing behind at signals that live longer', async () => {
    const life = new AbortController();
    const counted = { added: 0, removed: 0 };
    const { addEventListener, removeEventListener } = life.signal;
    life.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      counted.added++;
      addEventListener.apply(life.signal, args);
    };
    life.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      counted.removed++;
      removeEventListener.apply(life.signal, args);
    };
    assert.equal(await withinTime(60_000, [life.signal], async () => 7), 7);
    assert.deepEqual(counted, { added: 1, removed: 1 });
    const ended = withinTime(
      60_000,
      [life.signal],
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    life.abort(new Error('enough'));
    await assert.rejects(ended, /enough/);
    assert.equal(await withinTime(60_000, [life.signal], async (signal) => signal.aborted), true);
  });
});
