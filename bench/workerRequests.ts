import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loader } from './loader.ts';
import { type Service, startService, temporary } from './processes.ts';
import { admin, basic, request } from './requests.ts';
import { ready } from './service.ts';

export const om = '/operations-manager';
export const authorization = basic(admin);

/** The service on an empty log. */
export const start = async (): Promise<Service> => {
  const folder = join(await temporary(), 'data');
  mkdirSync(folder);
  const service = await startService(folder);
  await ready(service.url);
  return service;
};

export const post = (path: string, body: object): Buffer =>
  request('POST', `${om}${path}`, { Authorization: authorization }, JSON.stringify(body));

export const startJobs = async (service: Service, workflow: string, count: number): Promise<void> => {
  const load = loader([post('/jobs/start', { workflow, options: { variables: { site: 'Bonn', ports: [1, 2, 3] } } })]);
  await load.run('start', service, { connections: 32, status: 200, count });
  await load.stop();
};

/** How many workers work at once. */
export const workers = 32;
