import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { loadSample } from '../../../src/demo/load.ts';
import { connectToRead } from '../../../src/store/sqlite/log.ts';
import { freePort } from '../../support/freePort.ts';
import { type Program, startProgram, temporaryFolder } from '../../support/process.ts';
import { basic } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const password = 'demo-password';

/** The events of the log by their types; none before there is a log. */
const countsIn = (folder: string): ReadonlyMap<string, number> => {
  try {
    const db = connectToRead(join(folder, 'events.db'));
    try {
      return new Map(db.prepare('SELECT type, count(*) FROM events GROUP BY type').all() as [string, number][]);
    } finally {
      db.close();
    }
  } catch {
    return new Map();
  }
};

// Takes some 60 s: the sample is loaded in parts.
describe('a demo that is killed while it loads its sample', function () {
  this.timeout(600_000);
  const folder = join(temporaryFolder(), 'demo');
  let running: Program | undefined;
  let url: string;

  const start = async (): Promise<Program> => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    running = startProgram([], { PORT: String(port), DATA_DIR: folder, ESDB_PORT: '' }, { entry: 'demo/main.ts' });
    return running;
  };
  const kill = async (program: Program): Promise<void> => {
    program.child.kill('SIGKILL');
    await program.ended;
  };
  after(async () => {
    if (running) await kill(running);
    rmSync(dirname(folder), { recursive: true, force: true });
  });

  const counted = (area: string, topic: string): number => countsIn(folder).get(`@platform/${area}:${topic}`) ?? 0;
  const manager = 'configuration-manager';
  const isConfiguring = (): boolean =>
    counted(manager, 'deviceConfigurationAttempted') > counted(manager, 'deviceConfigurationApplied');
  /** After how many runs of the plan it is killed, or in the middle of what. */
  const moments: Readonly<Record<string, (runs: number) => boolean>> = {
    'while it makes the first account': () => countsIn(folder).size > 0,
    'while a device is configured': isConfiguring,
    'while the plan runs': (runs) => counted(manager, 'complianceRunStarted') > runs + 1,
    'while jobs are started': () => counted('operations-manager', 'automationCreated') > 3,
  };

  it('starts again, and has the whole sample in the end', async () => {
    for (const [moment, isThere] of Object.entries(moments)) {
      const runs = counted(manager, 'complianceRunStarted');
      const program = await start();
      while (program.child.exitCode === null && !isThere(runs)) await pause(2);
      assert.equal(program.child.exitCode, null, `${moment}: ${program.output().err}`);
      await kill(program);
    }
    const last = await start();
    await until(() => last.child.exitCode !== null || last.output().err.includes('The demo listens on'), 'the sample');
    assert.equal(last.child.exitCode, null, last.output().err);
    const head = async (): Promise<number> => {
      const headers = { Authorization: basic({ user: 'admin', password }) };
      return ((await (await fetch(`${url}/health/status`, { headers })).json()) as any).eventStore.position;
    };
    await until(async () => {
      const before = await head();
      await pause(3000);
      return before === (await head());
    }, 'the end of its jobs');
    const before = await head();
    const values = Object.entries(await loadSample(url, 'admin', password));
    assert.equal(await head(), before, 'something was missing');
    assert.deepEqual(
      values.filter(([, value]) => typeof value !== 'string'),
      [],
    );
  });
});
