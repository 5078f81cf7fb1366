import '../process/soundJson.ts';
import { readConfig } from '../config.ts';
import { fail } from '../process/program.ts';
import { runService } from '../service/runService.ts';
import type { Running } from '../service/start.ts';
import { loadSample } from './load.ts';
import { demoSettings } from './settings.ts';

const demonstrate = async ({ url, logUrl }: Running, password: string): Promise<void> => {
  await loadSample(url, 'admin', password);
  const log =
    logUrl === undefined
      ? ''
      : `
  ${logUrl.replace('://', `://admin:${encodeURIComponent(password)}@`)}   its log, for clients of EventStoreDB`;
  process.stderr.write(`The demo listens on ${url}

  admin  ${password.padEnd(20)} everything
  nora   nora-demo-password   network engineer: automations and plans
  carl   carl-demo-password   auditor: reads, keeps plans

  curl -u admin:${password} ${url}/operations-manager/automations
  ${url}/console   a page for people
  ${url}/docs      every operation, with an example${log}
`);
};

const run = async (): Promise<void> => {
  const settings = await demoSettings(process.env);
  await runService(readConfig(settings), (service) => demonstrate(service, settings.ADMIN_PASSWORD));
};
void run().catch(fail);
