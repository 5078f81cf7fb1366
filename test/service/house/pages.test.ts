import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadSample } from '../../../src/demo/load.ts';
import { freePort } from '../../support/freePort.ts';
import { itWithShell, pageToken, runPage } from '../../support/pageCommands.ts';
import { temporaryFolder } from '../../support/process.ts';
import { routerShell } from '../../support/routerShell.ts';
import { sampled } from '../../support/sample.ts';
import { startService, type TestService } from '../../support/service.ts';
import { isWithoutSlapd } from '../../support/slapd.ts';
import { sshDevice } from '../../support/sshDevice.ts';

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));

// Each page has its own service, whose admin has the password that the pages say.
const pages = [
  'people',
  'directories',
  'single-sign-on',
  'triggers',
  'first-workflow',
  'golden-configurations',
  'compliance-reports',
  'devices',
  'inventories',
];
for (const name of sampled(pages, 4))
  describe(`docs/${name}.md`, () => {
    const page = readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');
    const folder = temporaryFolder();
    let service: TestService;
    before(async () => {
      service = await startService({ ADMIN_PASSWORD: 'correct-horse', OUTBOUND_ALLOW: '127.0.0.1' });
      if (page.includes('npm run demo')) await loadSample(service.url, 'admin', 'correct-horse');
    });
    after(async () => {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    if (page.includes('slapd') && isWithoutSlapd) {
      it('is not tested here: needs slapd (apt-get install slapd)');
      return;
    }
    itWithShell('has commands that do what it says', async () => {
      const directory = `ldap://127.0.0.1:${await freePort()}`;
      const issuer = `http://127.0.0.1:${await freePort()}`;
      if (page.includes('oidc-provider')) symlinkSync(modules, `${folder}/node_modules`);
      const token = await pageToken(service, 'correct-horse');
      const router = await sshDevice(routerShell('hostname core-1\ninterface Loopback7\n description none\n'));
      const device = `ssh://127.0.0.1:${router.port}`;
      await runPage(page, { url: service.url, folder, token, directory, issuer, device }).finally(router.close);
    }).timeout(120_000);
  });
