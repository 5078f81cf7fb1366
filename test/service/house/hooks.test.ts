import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromSource } from '../../support/fromSource.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { watched } from '../../support/process.ts';
import { until } from '../../support/until.ts';

const hooks = new URL('../../support/hooks.ts', import.meta.url).pathname;
const mocha = new URL('../../../node_modules/mocha/bin/mocha.js', import.meta.url).pathname;

const there = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a run of the tests', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A run of one test of that text, with the hooks. */
  const run = (test: string, env: Record<string, string> = {}) => {
    const file = join(folder, 'one.test.mjs');
    writeFileSync(file, `import { spawn } from 'node:child_process';\n${test}\n`);
    return watched(
      spawn(process.execPath, [...fromSource(), mocha, '--no-config', '--require', hooks, file], {
        cwd: new URL('../../..', import.meta.url),
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, MOCHA_WORKER_ID: '', ...env },
      }),
    );
  };

  it('takes its processes along when it is killed, and what they have started', async () => {
    const killed = run(`it('runs', async function () {
      this.timeout(0);
      const child = spawn('sh', ['-c', 'sleep 1000 & echo $! && wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
      child.stdout.on('data', (grandchild) => console.log('pids', child.pid, String(grandchild)));
      await new Promise((resolve) => { setInterval(() => undefined, 1000); });
    });`);
    let pids: number[] | undefined;
    while (!pids) {
      await once(killed.child.stdout!, 'data');
      pids = /pids (\d+) (\d+)/.exec(killed.output().out)?.slice(1).map(Number);
    }
    killed.child.kill('SIGKILL');
    await killed.ended;
    await until(() => !pids.some(there), 'the end of all processes');
  });

  it('ends when its event loop stands still, says in which test, and takes its processes along', async () => {
    const stuck = run(
      `it('goes round and round', async () => {
      const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
      await new Promise((resolve) => { child.once('spawn', resolve); });
      process.stdout.write('pid ' + child.pid + '\\n', () => { for (;;); });
    });`,
      { TEST_STANDSTILL_MS: '2000' },
    );
    assert.notEqual(await stuck.ended, 0);
    const { out, err } = stuck.output();
    assert.match(err, /stood still for 2 s.*one\.test\.mjs: goes round and round/);
    const pid = Number(/pid (\d+)/.exec(out)?.[1]);
    assert.ok(pid > 0, out);
    await until(() => !there(pid), 'the end of its process');
  });

  it('ends what a failed test has started, before the next one', async () => {
    const failing = run(`let child;
    it('fails', async () => {
      child = spawn('sleep', ['1000'], { stdio: 'ignore' });
      await new Promise((resolve) => { child.once('spawn', resolve); });
      throw new Error('a failure');
    });
    it('passes once that has ended', async () => {
      if (child.exitCode === null && child.signalCode === null)
        await new Promise((resolve) => { child.once('exit', resolve); });
    });`);
    assert.equal(await failing.ended, 1);
    assert.match(failing.output().out, /1 passing[^]*1 failing/);
  });

  it('fails for a call that Node deprecates, and names it', async () => {
    const calling = run(`it('passes', () => { process.emitWarning('old()', 'DeprecationWarning', 'DEP9999'); });`);
    assert.notEqual(await calling.ended, 0);
    assert.match(calling.output().out, /Deprecated calls:\nDeprecationWarning: old\(\)/);
  });

  itInSoak('goes on while its event loop does', async () => {
    const slow = run(`it('waits', () => new Promise((resolve) => { setTimeout(resolve, 6000); })).timeout(0);`, {
      TEST_STANDSTILL_MS: '3000',
    });
    assert.equal(await slow.ended, 0, slow.output().err);
  });
});
