import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCutter } from '../../support/cutter.ts';
import { fromSource } from '../../support/fromSource.ts';
import { ok } from '../../support/people.ts';
import { type Program, temporaryFolder, watched } from '../../support/process.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const root = new URL('../../../', import.meta.url).pathname;
const page = readFileSync(join(root, 'docs/workers.md'), 'utf8');
const password = 'correct-horse';
const jobs = '/operations-manager/jobs';

/** The program on the page in this language. */
const programIn = (language: string): string => {
  const [, program = '', ...others] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(page) ?? [];
  assert.deepEqual(others, []);
  return program;
};

/** Lines of a program that say something. */
const linesIn = (program: string): number => program.split('\n').filter((line) => line.trim() !== '').length;

const inPython = spawnSync('python3', ['--version']).error ? it.skip : it;

describe('docs/workers.md', function () {
  this.timeout(120_000);
  const folder = temporaryFolder();
  const admin = { user: 'admin', password };
  const children: ChildProcess[] = [];
  let service: TestService;
  let token: string;
  before(async () => {
    service = await startService({ ADMIN_PASSWORD: password });
    await ask('POST', '/authorization/accounts', { username: 'backup', type: 'service', memberOf: ['operators'] });
    token = ok(await ask('POST', '/authorization/tokens', { name: 'worker', account: 'backup' })).data.token;
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (method: string, path: string, body?: unknown) => service.as(admin)(method, path, body);
  const started = (command: string, args: readonly string[]): Program => {
    const env = { ...process.env, API_TOKEN: token };
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env });
    children.push(child);
    return watched(child);
  };
  const start = async (workflow: string, devices: readonly string[]): Promise<string> =>
    ok(await ask('POST', `${jobs}/start`, { workflow, options: { variables: { devices } } })).data._id;
  const claimed = (id: string) => until(async () => (await get(id)).claim !== null, 'the claim');
  const get = async (id: string) => ok(await ask('GET', `${jobs}/${id}`)).data;
  const ended = async (id: string, { output }: Program) => {
    await until(async () => (await get(id)).status !== 'running', `the end of the job; ${output().err}`).catch(() =>
      assert.fail(output().err),
    );
    return get(id);
  };

  it('has a worker of 30 lines in TypeScript', async () => {
    const program = programIn('ts');
    assert.ok(linesIn(program) <= 30, `${linesIn(program)} lines`);
    const file = join(folder, 'worker.mts');
    writeFileSync(
      file,
      program
        .replace("'@automation-platform/client'", `'${root}packages/client/src/index.ts'`)
        .replace('http://127.0.0.1:3000', service.url),
    );
    const [good, bad] = [await start('Back up', ['edge-01', 'edge-02']), await start('Back up', [])];
    const worker = started(process.execPath, [...fromSource(), file]);
    assert.deepEqual((await ended(good, worker)).variables.saved, ['edge-01.cfg', 'edge-02.cfg']);
    const { status, error } = await ended(bad, worker);
    assert.deepEqual([status, error], ['error', 'There is nothing to back up']);
    worker.child.kill('SIGTERM');
    assert.equal(await worker.ended, 0, worker.output().err);
  });

  inPython('has a worker of 30 lines in Python', async () => {
    const program = programIn('py');
    assert.ok(linesIn(program) <= 30, `${linesIn(program)} lines`);
    const imports = [...program.matchAll(/^(?:import|from) (.*)$/gm)].flatMap(([, names = '']) => names.split(', '));
    assert.deepEqual(imports, [
      'http.client',
      'json',
      'os',
      'threading',
      'time',
      'urllib.error',
      'urllib.request',
      'uuid',
    ]);
    const file = join(folder, 'worker.py');
    writeFileSync(file, program.replace('http://127.0.0.1:3000', service.url));
    const worker = started('python3', [file]);
    const good = await start('Back up in Python', ['edge-01', 'edge-02']);
    assert.deepEqual((await ended(good, worker)).variables.saved, ['edge-01.cfg', 'edge-02.cfg']);
    const bad = ok(await ask('POST', `${jobs}/start`, { workflow: 'Back up in Python' })).data._id;
    const { status, error } = await ended(bad, worker);
    assert.deepEqual([status, error], ['error', 'There is nothing to back up']);
  });

  inPython(
    'has a worker in Python that goes on when connections break, a job is canceled, or a result refused',
    async () => {
      let connections = 0;
      // Of every other connection some bytes of the answer are lost.
      const cutter = await openCutter(Number(new URL(service.url).port), () => (connections++ % 2 ? Infinity : 300));
      const file = join(folder, 'cut.py');
      const held = "    if variables['devices'] == ['held']: time.sleep(2)\n";
      const refused = "    if variables['devices'] == ['refused']: return {'password': '********'}\n";
      const program = programIn('py')
        .replace('http://127.0.0.1:3000', cutter.url)
        .replace('Back up in Python', 'Cut off')
        .replace(/^def run.*\n/m, `$&${held}${refused}`);
      writeFileSync(file, program);
      const worker = started('python3', [file]);
      const canceled = await start('Cut off', ['held']);
      await claimed(canceled);
      ok(await ask('POST', `${jobs}/cancel`, { jobIds: [canceled] }));
      const { status, error } = await ended(await start('Cut off', ['refused']), worker);
      assert.equal(status, 'error');
      assert.equal(error, '******** keeps a secret, but there is none to keep here: give it');
      for (const device of ['edge-01', 'edge-02', 'edge-03'])
        assert.deepEqual((await ended(await start('Cut off', [device]), worker)).variables.saved, [`${device}.cfg`]);
      assert.ok(cutter.cuts() > 1);
      await cutter.close();
    },
  );
});
