import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/process.ts';
import { startService } from '../../support/service.ts';

const run = promisify(execFile);
const missing = spawnSync('sqlite3', ['--version']).error !== undefined;

/** What docs/operations.md has sqlite3 do, both ways. */
const commands = (): readonly string[] => {
  const [, line, first, second] = /^(sqlite3 data\/events\.db "(\.backup .*?)" +# or: "(VACUUM .*?)".*)$/m.exec(
    readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8'),
  )!;
  assert.ok(line);
  return [first!, second!];
};

describe('a backup', () => {
  for (const command of missing ? [] : commands()) {
    it(`by ${command}, made while changes go on, gives back every change answered before, and its secrets`, async function () {
      this.timeout(300_000);
      const folder = temporaryFolder();
      const data = join(folder, 'data');
      const backup = join(folder, 'backup');
      mkdirSync(backup);
      const first = await startService({}, data);
      const change = (service: typeof first, name: string) =>
        service.ask('PATCH', `/group-mappings/ldap/${name}`, { updates: { platformGroups: [name] } });
      // The same secret again is no change, if it is sealed with the same key.
      const seal = async (service: typeof first) =>
        (
          await service.ask('PUT', '/profiles/lab', { properties: { redisProps: { password: 'sealed in the log' } } })
        ).headers.get('etag');
      const sealed = await seal(first);
      assert.equal(await seal(first), sealed);
      for (let n = 0; n < 20; n++) await change(first, `before-${n}`);
      const paths = ['/profiles/lab', '/group-mappings?multiStartsWith[name]=before&limit=100'];
      const answers = (service: typeof first) =>
        Promise.all(
          paths.map(async (path) => {
            const { status, text } = await service.ask('GET', path);
            return [status, text];
          }),
        );
      const known = await answers(first);

      let done = false;
      const changing = (async () => {
        for (let n = 0; !done; n++) assert.equal((await change(first, `meanwhile-${n}`)).status, 200);
      })();
      await run('sqlite3', [join(data, 'events.db'), command.replace('/backup', backup)]);
      done = true;
      await changing;
      copyFileSync(join(data, 'secret.key'), join(backup, 'secret.key'));
      await first.stop();

      const second = await startService({}, backup);
      assert.deepEqual(await answers(second), known);
      assert.equal(await seal(second), sealed);
      assert.equal((await change(second, 'after')).status, 200);
      await second.stop();
      rmSync(folder, { recursive: true });
    });
  }
  if (missing) it.skip('gives back every change (needs sqlite3)');
});
