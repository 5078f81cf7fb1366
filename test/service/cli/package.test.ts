import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/process.ts';
import { adminPassword, startService, type TestService } from '../../support/service.ts';

const run = promisify(execFile);
const root = new URL('../../../', import.meta.url).pathname;
/** A program of others, which publishes an event and subscribes to it. */
const program = `
import { calls, type PlatformEvent, subscribe } from '@automation-platform/client';

const [url = '', password = ''] = process.argv.slice(2);
const auth = { username: 'admin', password };
const { body } = await calls({ url, auth }).call('authorization.getAccounts');
console.log(body.results.map(({ username }) => username));
for await (const event of subscribe({ url, auth, source: 'shop', from: 'start' })) {
  const { topic, data }: PlatformEvent = event;
  console.log(topic, data);
  break;
}
`;

describe('the package, as npm run package makes it', function () {
  this.timeout(600_000);
  const folder = temporaryFolder();
  const installed = join(folder, 'program/node_modules/automation-platform');
  let service: TestService;
  let tarball: string;
  before(async () => {
    service = await startService();
    // `npm test` has built before: each build only looks for changes.
    for (const script of ['package', 'package:client'])
      await run('npm', ['run', '--silent', script, '--', '--silent', '--pack-destination', folder], { cwd: root });
    const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    tarball = join(folder, `${name}-${version}.tgz`);
    mkdirSync(installed, { recursive: true });
    // What npm does with a package when it installs it. The packages that the service needs are not needed here.
    await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  });
  after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has a client for programs of others, with its types and without another package', async () => {
    const project = join(folder, 'program');
    const client = join(project, 'node_modules/@automation-platform/client');
    mkdirSync(client, { recursive: true });
    const [packed] = readdirSync(folder).filter((name) => name.startsWith('automation-platform-client-'));
    await run('tar', ['-xzf', join(folder, packed!), '-C', client, '--strip-components=1']);
    assert.equal(JSON.parse(readFileSync(join(client, 'package.json'), 'utf8')).dependencies, undefined);
    writeFileSync(join(project, 'package.json'), '{"type": "module"}');
    writeFileSync(join(project, 'main.ts'), program);
    mkdirSync(join(project, 'node_modules/@types'));
    symlinkSync(join(root, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'));
    const options = '--module nodenext --target es2023 --strict --types node';
    await run(join(root, 'node_modules/.bin/tsc'), [...options.split(' '), 'main.ts'], { cwd: project });
    await service.ask('POST', '/operations-manager/events/shop/orderPlaced', { order: 7 });
    const { stdout } = await run(process.execPath, ['main.js', service.url, adminPassword], { cwd: project });
    assert.equal(stdout, "[ 'admin' ]\norderPlaced { order: 7 }\n");
  });

  it('has the client under its old name as well', async () => {
    const script = "import('automation-platform/client').then((all) => console.log(typeof all.subscribe))";
    const { stdout } = await run(process.execPath, ['-e', script], { cwd: join(folder, 'program') });
    assert.equal(stdout, 'function\n');
  });

  it('has the program, and no sources or notes of the build', async () => {
    const { stdout } = await run('tar', ['-tzf', tarball]);
    const files = stdout.trim().split('\n');
    const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    assert.ok(files.includes(`package/${bin['automation-platform']}`));
    const ours = files.filter((file) => !/^package\/node_modules\/(?!@automation-platform\/)/.test(file));
    const built =
      /^package\/(node_modules\/@automation-platform\/[a-z-]+\/)?(dist\/.*\.(js|js\.map|d\.ts|json)|static\/.*\.(css|svg)|package\.json|README\.md)$/;
    assert.deepEqual(
      ours.filter((file) => !built.test(file)),
      [],
    );
    for (const name of readdirSync(join(root, 'packages')))
      assert.ok(files.includes(`package/node_modules/@automation-platform/${name}/dist/index.js`), name);
    assert.match(readFileSync(join(installed, bin['automation-platform']), 'utf8'), /^#!\/usr\/bin\/env node\n/);
  });
});
