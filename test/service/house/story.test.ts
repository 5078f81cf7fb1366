import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { programOf } from '../../support/programs.ts';

const run = promisify(execFile);
const source = (file: string): string => new URL(`../../../${file}`, import.meta.url).pathname;
const blockIn = (file: string, mark: string): string =>
  new RegExp(`<!-- ${mark} -->\n\`\`\`\\w+\n([^]*?)\`\`\``).exec(readFileSync(source(file), 'utf8'))![1]!;

const tour = blockIn('docs/story.md', 'tour');
const [setup = ''] = tour.split(/^# (?=\d)/m);
const missing = ['bash', 'curl', 'grep'].filter((tool) => spawnSync(tool, ['--version']).error);

/** A step of the story: its commands, and the texts that the page promises in their output, in that order. */
type Step = { readonly commands: string; readonly promised: readonly string[] };

const steps: readonly Step[] = tour
  .split(/^# (?=\d)/m)
  .slice(1)
  .map((text) => {
    const lines = text.split('\n').slice(1);
    return {
      commands: lines.filter((line) => !line.startsWith('#')).join('\n'),
      promised: lines.filter((line) => line.startsWith('#=> ')).map((line) => line.slice(4)),
    };
  });

/** The first promised text that the output does not have behind the ones before it; undefined: it has them all. */
const brokenPromise = (output: string, promised: readonly string[]): string | undefined => {
  let end = 0;
  return promised.find((text) => {
    const at = output.indexOf(text, end);
    end = at + text.length;
    return at < 0;
  });
};

(missing.length > 0 ? describe.skip : describe)(
  `the story${missing.length > 0 ? ` (needs ${missing.join(', ')})` : ''}`,
  () => {
    const folder = temporaryFolder();
    const data = `${folder}/data`;
    let server: Server;
    before(async () => {
      server = await startServer(data, { ADMIN_PASSWORD: 'correct-horse' });
    });
    after(async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    /** The output of a step's commands, for this service and from source. */
    const outputOf = async ({ commands }: Step): Promise<string> => {
      const script = `${setup}\n${commands}`
        .replaceAll('http://127.0.0.1:3000', server.url)
        .replace('npm run --silent cli --', `'${process.execPath}' ${programOf('main.ts').join(' ')}`);
      const { stdout } = await run('bash', ['-c', script], { env: { ...process.env, DATA_DIR: data } });
      return stdout;
    };

    for (const [i, step] of steps.entries())
      it(`keeps what step ${i + 1} promises`, async () => {
        assert.ok(step.promised.length > 0);
        const output = await outputOf(step);
        assert.equal(brokenPromise(output, step.promised), undefined, `${step.commands}\nprinted\n${output}`);
      });

    it('breaks the promise of step 4 for a circuit that the device does not show', async () => {
      const check = steps[3]!;
      const other = await outputOf({ ...check, commands: check.commands.replace('CID-4711', 'CID-4712') });
      assert.ok(other.includes('"result":false'), other);
      assert.equal(brokenPromise(other, check.promised), check.promised[0]);
    });

    it('has the answer that the README shows', async () => {
      const output = await outputOf(steps[3]!);
      assert.deepEqual(JSON.parse(output), JSON.parse(blockIn('README.md', 'answer')));
    });
  },
);
