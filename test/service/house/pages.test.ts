import { readFileSync, rmSync } from 'node:fs';
import { loadSample } from '../../../src/demo/load.ts';
import { itWithShell, runPage } from '../../support/pageCommands.ts';
import { startServer, temporaryFolder } from '../../support/process.ts';

// Each page has its own service, whose admin has the password that the pages say.
for (const name of ['people', 'triggers', 'first-workflow', 'golden-configurations'])
  describe(`docs/${name}.md`, () => {
    const page = readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');
    const folder = temporaryFolder();
    let server: Awaited<ReturnType<typeof startServer>>;
    before(async () => {
      server = await startServer(`${folder}/data`, { ADMIN_PASSWORD: 'correct-horse' });
      if (page.includes('npm run demo')) await loadSample(server.url, 'admin', 'correct-horse');
    });
    after(async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    itWithShell('has commands that do what it says', () => runPage(page, { url: server.url, folder })).timeout(120_000);
  });
