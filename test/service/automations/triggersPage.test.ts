import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { startServer, temporaryFolder } from '../../support/process.ts';

const run = promisify(execFile);
const page = readFileSync(new URL('../../../docs/triggers.md', import.meta.url), 'utf8');
const missing = ['bash', 'curl'].filter((tool) => spawnSync(tool, ['--version']).error);
const password = 'correct-horse';

describe('docs/triggers.md', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  const folder = temporaryFolder();
  before(async () => {
    server = await startServer(`${folder}/data`, { ADMIN_PASSWORD: password });
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  (missing.length > 0 ? it.skip : it)('has commands that do what it says', async () => {
    const lines = [...page.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap(([, block = '']) => block.split('\n'));
    const script = lines.filter((line) => !line.startsWith('#=> ')).join('\n');
    const { stdout } = await run('bash', ['-e', '-c', script.replaceAll('http://127.0.0.1:3000', server.url)], {
      cwd: folder,
      timeout: 100_000,
    });
    for (const [, promised] of page.matchAll(/^#=> (.*)$/gm))
      assert.ok(stdout.includes(promised!), `${promised}\nis not in\n${stdout}`);
  }).timeout(120_000);
});
