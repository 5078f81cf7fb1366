import '../soundJson.ts';
import { readConfig } from '../config.ts';
import { fail } from '../program.ts';
import { runService } from '../runService.ts';
import type { Running } from '../start.ts';
import { loadSample } from './load.ts';

const password = process.env.ADMIN_PASSWORD || 'demo-password';
const servesItsLog = !process.env.EVENTSTORE_URL?.startsWith('esdb');
const preset = servesItsLog ? { DATA_DIR: 'data/demo', ESDB_PORT: '2113' } : { DATA_DIR: 'data/demo' };

const demonstrate = async ({ url, logUrl }: Running): Promise<void> => {
  await loadSample(url, 'admin', password);
  const log =
    logUrl === undefined
      ? ''
      : `
  ${logUrl.replace('://', `://admin:${encodeURIComponent(password)}@`)}   its log, for clients of EventStoreDB`;
  process.stderr.write(`The demo listens on ${url}

  admin  ${password}          everything
  nora   nora-demo-password   network engineer: automations and plans
  carl   carl-demo-password   auditor: reads, keeps plans

  curl -u admin:${password} ${url}/operations-manager/automations
  ${url}/docs${log}
`);
};

const run = async (): Promise<void> =>
  runService(readConfig({ ...preset, ...process.env, ADMIN_PASSWORD: password }), demonstrate);
await run().catch(fail);
