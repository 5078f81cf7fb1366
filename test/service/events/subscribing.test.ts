import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fromSource } from '../../support/fromSource.ts';
import { blocksIn, itWithShell, pageToken, runPage } from '../../support/pageCommands.ts';
import { startServer, temporaryFolder } from '../../support/process.ts';

const run = promisify(execFile);
const root = new URL('../../../', import.meta.url).pathname;
const page = readFileSync(join(root, 'docs/subscribing.md'), 'utf8');
const password = 'correct-horse';

describe('docs/subscribing.md', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let logUrl: string;
  const folder = temporaryFolder();
  before(async () => {
    server = await startServer(`${folder}/data`, { ADMIN_PASSWORD: password, ESDB_PORT: '0' });
    logUrl = /event log on (\S+)/.exec(server.output().err)![1]!;
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  let token: string;
  before(async () => {
    token = await pageToken(server, password);
  });

  itWithShell('has commands that do what it says', () => runPage(page, { url: server.url, folder, token }));

  it('has programs that do what it says', async () => {
    const programs = blocksIn(page, 'ts');
    assert.equal(programs.length, 2);
    const client = createRequire(import.meta.url).resolve('@eventstore/db-client');
    const login = logUrl.replace('://', `://admin:${password}@`);
    for (const [n, program] of programs.entries()) {
      const file = join(folder, `program${n}.mts`);
      writeFileSync(
        file,
        program
          .replace("'@automation-platform/client'", `'${root}packages/client/src/index.ts'`)
          .replace("'@eventstore/db-client'", `'${client}'`)
          .replace(/'esdb:[^']*'/, `'${login}'`)
          .replace('http://127.0.0.1:3000', server.url),
      );
      const { stdout } = await run(process.execPath, [...fromSource(), file], {
        cwd: root,
        env: { ...process.env, API_TOKEN: token },
      });
      assert.match(stdout, /^\d+n? (shop:)?orderPlaced \{ order: 7 \}$/m);
    }
  });

  it('names the client as the package exports it', () => {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const { types, default: program } = exports['./client'];
    const source = program.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
    assert.ok(existsSync(join(root, source)), source);
    assert.equal(types, program.replace(/\.js$/, '.d.ts'));
  });
});
