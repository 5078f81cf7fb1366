import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { verifyFile } from '../../../src/store/moving/backup.ts';
import { content } from '../../../src/store/moving/content.ts';
import { logAt } from '../../../src/store/moving/replaceLog.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { fromSource } from '../../support/fromSource.ts';
import { cannotKill } from '../../support/killing.ts';
import { sweepKills } from '../../support/kills/sweep.ts';
import { writeLog } from '../../support/movingLog.ts';
import { type Server, startProgram, startServer, temporaryFolder } from '../../support/process.ts';
import { newEvent } from '../../support/store.contract.ts';

const rounds = Number(process.env.SOAK_ROUNDS ?? 4);
const size = 20_500;

describe('kill -9', function () {
  this.timeout(rounds * 300_000);
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const fileOf = (name: string): string => join(folder, name, 'events.db');
  const made = (name: string, events: number): void => {
    mkdirSync(join(folder, name), { recursive: true });
    writeLog(fileOf(name), events);
  };
  const idsIn = async (file: string): Promise<readonly string[]> => {
    const store = await openSqliteReader(file);
    const ids: string[] = [];
    for await (const { id } of content(store, { skipped: new Set() })) ids.push(id);
    await store.close();
    return ids;
  };
  const start = (name: string, words: readonly string[]) => {
    const program = startProgram(words, { DATA_DIR: join(folder, name) });
    program.child.stdin!.end();
    return program;
  };
  const run = async (name: string, words: readonly string[]): Promise<number> => {
    const program = start(name, words);
    const began = performance.now();
    assert.equal(await program.ended, 0, program.output().err);
    return performance.now() - began;
  };
  /** Runs a command to its end once, then again and again, each time for a longer part of that time before the kill. */
  const kills = async (whole: number, kill: (ms: number, round: number) => Promise<void>): Promise<void> => {
    // The first part of the time is spent on loading the program.
    for (let round = 0; round < rounds; round++) await kill(whole * (0.4 + (0.6 * round) / rounds), round);
  };
  const killed = async (name: string, words: readonly string[], ms: number): Promise<void> => {
    const program = start(name, words);
    await Promise.race([pause(ms), program.ended]);
    program.child.kill('SIGKILL');
    await program.ended;
  };
  /** Opens a log as a service does, which refuses one that has lost events. */
  const isOpened = async (file: string): Promise<void> => (await openSqliteStore({ file })).close();

  const exported = async (name: string): Promise<string> => {
    const to = join(folder, 'export.ndjson');
    const out = openSync(to, 'w');
    const source = new URL('../../../src/main.ts', import.meta.url).pathname;
    const env = { PATH: process.env.PATH!, DATA_DIR: join(folder, name) };
    const child = spawn(process.execPath, [...fromSource(), source, 'export'], {
      env,
      stdio: ['ignore', out, 'ignore'],
    });
    assert.equal(await new Promise((resolve) => child.once('exit', resolve)), 0);
    closeSync(out);
    return to;
  };

  it('in the middle of import leaves no log, and the same command goes on', async () => {
    made('a', size);
    const file = await exported('a');
    const all = await idsIn(fileOf('a'));
    const whole = await run('b', ['import', file]);
    await kills(whole, async (ms, round) => {
      const name = `b${round}`;
      await killed(name, ['import', file], ms);
      if (existsSync(fileOf(name))) assert.deepEqual(await idsIn(fileOf(name)), all);
      else await run(name, ['import', file]);
      assert.deepEqual(await idsIn(fileOf(name)), all);
      await isOpened(fileOf(name));
    });
  });

  it('in the middle of restore leaves the old log or the new one', async () => {
    made('a', size);
    const backup = join(folder, 'backup.db');
    await run('a', ['backup', backup]);
    const all = await idsIn(fileOf('a'));
    made('whole', 100);
    const whole = await run('whole', ['restore', backup]);
    await kills(whole, async (ms, round) => {
      const name = `b${round}`;
      made(name, 100);
      const store = await openSqliteStore({ file: fileOf(name) });
      await store.append('orders-2', -1, [newEvent(1)]);
      await store.close();
      const old = await idsIn(fileOf(name));
      await killed(name, ['restore', backup], ms);
      const found = await idsIn(fileOf(name));
      assert.ok(found.length === old.length || found.length === all.length, `${found.length} events`);
      assert.deepEqual(found, found.length === old.length ? old : all);
      await isOpened(fileOf(name));
      await run(name, ['restore', backup]);
      assert.deepEqual(await idsIn(fileOf(name)), all);
    });
  });

  const fromTo = (command: string, name: string): readonly string[] => [
    ...command.split(' '),
    `sqlite:${fileOf('a')}`,
    `sqlite:${fileOf(name)}`,
  ];

  for (const command of ['log copy', 'replay'])
    it(`in the middle of ${command} leaves a beginning of the log, and the same command goes on`, async () => {
      made('a', 3000);
      const all = await idsIn(fileOf('a'));
      const whole = await run('b', fromTo(command, 'b'));
      await kills(whole, async (ms, round) => {
        const name = `b${round}`;
        await killed(name, fromTo(command, name), ms);
        const found = logAt(fileOf(name)) ? await idsIn(fileOf(name)) : [];
        assert.deepEqual(found, all.slice(0, found.length));
        await run(name, fromTo(command, name));
        assert.deepEqual(await idsIn(fileOf(name)), all);
      });
    });

  it('in the middle of backup leaves the earlier backup or the new one', async () => {
    made('a', size);
    made('earlier', 100);
    const backup = join(folder, 'backup.db');
    const whole = await run('a', ['backup', backup]);
    await kills(whole, async (ms) => {
      rmSync(backup);
      await run('earlier', ['backup', backup]);
      await killed('a', ['backup', backup], ms);
      const events = await verifyFile(backup, () => undefined);
      assert.ok(events === 100 || events === size, `${events} events`);
    });
    assert.ok((await run('a', ['backup', backup])) > 0);
    assert.equal(await verifyFile(backup, () => undefined), size);
    assert.ok(!existsSync(`${backup}.new`));
  });

  it('in the middle of a rebuild leaves a service that answers as the log says', async () => {
    made('a', size);
    let server: Server | undefined;
    try {
      for (let round = 0; round < rounds; round++) {
        server = await startServer(join(folder, 'a'), { READ_WAIT_MS: '100000' });
        const before = await server.ask('GET', '/group-mappings/ldap/m1');
        assert.equal(before.status, 200, before.text);
        const rebuilding = server.ask('POST', '/health/rebuild');
        await pause(100 * round);
        assert.equal((await server.ask('GET', '/group-mappings?limit=100')).body.total, 97);
        await server.stop('SIGKILL');
        await rebuilding;
        server = await startServer(join(folder, 'a'), { READ_WAIT_MS: '100000' });
        assert.deepEqual((await server.ask('GET', '/group-mappings/ldap/m1')).body, before.body);
        const { text, body } = await server.ask('POST', '/health/rebuild');
        const wrong = body.collections.filter(({ differences }: { differences: unknown[] }) => differences.length > 0);
        assert.deepEqual(wrong, [], text);
        await server.stop();
      }
    } finally {
      await server?.stop('SIGKILL');
    }
  });

  describe(`at fsyncs${cannotKill}`, () => {
    before(function () {
      if (cannotKill !== '') this.skip();
    });

    /** Kills a command at its first fsync, then at later ones, until it comes to its end. */
    const killsAt = async (
      words: (name: string) => readonly string[],
      prepared: (name: string) => Promise<void>,
      look: (name: string) => Promise<void>,
    ): Promise<void> => {
      const round = async (n: number, limit: string): Promise<boolean> => {
        const name = `at${n}`;
        await prepared(name);
        const program = startProgram(words(name), { DATA_DIR: join(folder, name) }, { limit });
        if ((await program.ended) === 0) return true;
        assert.equal(program.child.signalCode, 'SIGKILL', program.output().err);
        await look(name);
        return false;
      };
      await sweepKills(round, { apart: (n) => Math.max(2, n >> 1) });
    };

    it('import leaves no log or all of it, and the same command goes on', async () => {
      made('a', 300);
      const file = await exported('a');
      const all = await idsIn(fileOf('a'));
      const words = () => ['import', file];
      await killsAt(
        words,
        async () => undefined,
        async (name) => {
          if (logAt(fileOf(name))) assert.deepEqual(await idsIn(fileOf(name)), all);
          else await run(name, words());
          assert.deepEqual(await idsIn(fileOf(name)), all);
          await isOpened(fileOf(name));
        },
      );
    });

    it('restore leaves the old log or the new one', async () => {
      made('a', 300);
      const backup = join(folder, 'backup.db');
      await run('a', ['backup', backup]);
      const all = await idsIn(fileOf('a'));
      const words = () => ['restore', backup];
      let old: readonly string[] = [];
      await killsAt(
        words,
        async (name) => {
          made(name, 100);
          const store = await openSqliteStore({ file: fileOf(name) });
          await store.append('orders-2', -1, [newEvent(1)]);
          await store.close();
          old = await idsIn(fileOf(name));
        },
        async (name) => {
          const found = await idsIn(fileOf(name));
          assert.deepEqual(found, found.length === old.length ? old : all);
          await isOpened(fileOf(name));
          await run(name, words());
          assert.deepEqual(await idsIn(fileOf(name)), all);
        },
      );
    });

    for (const command of ['log copy', 'replay'])
      it(`${command} leaves a beginning of the log, and the same command goes on`, async () => {
        made('a', 60);
        const all = await idsIn(fileOf('a'));
        await killsAt(
          (name) => fromTo(command, name),
          async () => undefined,
          async (name) => {
            const found = logAt(fileOf(name)) ? await idsIn(fileOf(name)) : [];
            assert.deepEqual(found, all.slice(0, found.length));
            await run(name, fromTo(command, name));
            assert.deepEqual(await idsIn(fileOf(name)), all);
          },
        );
      });

    it('backup leaves the earlier backup or the new one', async () => {
      made('earlier', 100);
      const backupOf = (name: string): string => join(folder, name, 'backup.db');
      await killsAt(
        (name) => ['backup', backupOf(name)],
        async (name) => {
          made(name, 300);
          await run('earlier', ['backup', backupOf(name)]);
        },
        async (name) => {
          const events = await verifyFile(backupOf(name), () => undefined);
          assert.ok(events === 100 || events === 300, `${events} events`);
          await run(name, ['backup', backupOf(name)]);
          assert.equal(await verifyFile(backupOf(name), () => undefined), 300);
        },
      );
    });
  });
});
