import { pino } from 'pino';
import { readConfig } from '../config.ts';
import { startService } from '../start.ts';
import { loadSample } from './load.ts';

const password = process.env.ADMIN_PASSWORD || 'demo-password';
const servesItsLog = !process.env.EVENTSTORE_URL?.startsWith('esdb');
const config = readConfig({ DATA_DIR: 'data/demo', ...(servesItsLog && { ESDB_PORT: '2113' }), ...process.env, ADMIN_PASSWORD: password });
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const service = await startService(config, pino({ level: config.LOG_LEVEL ?? 'info' }, pino.destination({ dest: 2, sync: true })), say);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void service.stop());

await loadSample(service.url, 'admin', password);
say(`The demo listens on ${service.url}; its data is in ${config.DATA_DIR}

  admin  ${password}          everything
  nora   nora-demo-password   network engineer: automations and plans
  carl   carl-demo-password   auditor: reads, keeps plans

  curl -u admin:${password} ${service.url}/operations-manager/automations
  ${service.url}/docs${service.logUrl === undefined ? '' : `
  ${service.logUrl.replace('://', `://admin:${encodeURIComponent(password)}@`)}   its log, for clients of EventStoreDB`}`);
