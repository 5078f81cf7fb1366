import '../process/soundJson.ts';
import { existsSync } from 'node:fs';
import { readConfig } from '../config.ts';
import { fail } from '../process/program.ts';
import { runService } from '../service/runService.ts';
import type { Running } from '../service/start.ts';
import { lateClocks } from './lateClocks.ts';
import { loadSample } from './load.ts';
import { demoSettings } from './settings.ts';
import { longAgo } from './step.ts';

type LateClocks = ReturnType<typeof lateClocks>;

/** `late`: the clocks of a demo that starts for the first time, long ago. */
const demonstrate = async ({ url, logUrl }: Running, password: string, late?: LateClocks): Promise<void> => {
  await loadSample(url, 'admin', password, late?.setDays);
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
  // A log that is there has its history.
  const isNew = !process.env.EVENTSTORE_URL && !existsSync(settings.DATA_DIR);
  const late = isNew ? lateClocks(longAgo) : undefined;
  await runService(readConfig(settings), (service) => demonstrate(service, settings.ADMIN_PASSWORD, late), late);
};
void run().catch(fail);
