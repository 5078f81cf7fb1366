import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { startServer, temporaryFolder } from '../../support/process.ts';

const run = promisify(execFile);
const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
const tour = /<!-- tour -->\n```sh\n([\s\S]*?)```/.exec(readme)![1]!;
const missing = ['bash', 'curl', 'sqlite3'].filter((tool) => spawnSync(tool, ['--version']).error);

/** The tour's commands, each with the texts that the README promises in its output. */
const steps = (): { command: string; promised: string[] }[] => {
  const found: { command: string; promised: string[] }[] = [];
  let lines: string[] = [];
  for (const line of tour.split('\n')) {
    if (line.startsWith('#=> ')) {
      if (lines.length > 0) found.push({ command: lines.join('\n'), promised: [] });
      lines = [];
      found.at(-1)!.promised.push(line.slice(4));
    } else if (!line.startsWith('#') && line.trim() !== '') lines.push(line);
  }
  return found;
};

describe('README', () => {
  it('names every setting', async () => {
    const { settingsHelp } = await import('../../../src/config.ts');
    for (const [, name] of settingsHelp().matchAll(/^ +([A-Z_]+) /gm)) assert.ok(readme.includes(`\`${name}\``), name);
  });

  it('names every library that the project depends on', () => {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    );
    for (const name of Object.keys({ ...dependencies, ...devDependencies }).filter(
      (name) => !name.startsWith('@types/'),
    ))
      assert.ok(readme.includes(name), name);
  });

  (missing.length > 0 ? it.skip : it)(
    `keeps what its tour promises${missing.length > 0 ? ` (needs ${missing.join(', ')})` : ''}`,
    async function () {
      this.timeout(300_000);
      const folder = temporaryFolder();
      const server = await startServer(`${folder}/data`, { ADMIN_PASSWORD: 'correct-horse' });
      try {
        const [setup] = tour.split('\n');
        for (const { command, promised } of steps()) {
          const script = `${setup!.replace('http://127.0.0.1:3000', server.url)}\n${command.replace(setup!, '')}`;
          const { stdout } = await run('bash', ['-c', script], { cwd: folder });
          for (const text of promised) assert.ok(stdout.includes(text), `${command}\nprinted\n${stdout}\nnot ${text}`);
        }
      } finally {
        await server.stop();
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
