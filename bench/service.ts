import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { progress } from './compare.ts';
import { mappings } from './kinds.ts';
import { writeLog } from './logs.ts';
import { type Service, startService, temporary } from './processes.ts';

/**
 * Waits until the service says it is ready; asks every 5 ms. Each time on a connection of its own: a service that comes back
 * from 5 s without a turn closes those that rested, also under a question.
 */
export const ready = async (url: string): Promise<void> => {
  while ((await fetch(`${url}/health/ready`, { headers: { Connection: 'close' } })).status !== 200)
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
};

/** The service on a log of its own with so many group mappings, ready. */
export const startWithMappings = async (
  documents: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<Service> => {
  progress(`writing a log of ${documents} group mappings`);
  const folder = join(await temporary(), 'data');
  mkdirSync(folder);
  writeLog(join(folder, 'events.db'), { kinds: [mappings], documents, eventsEach: 1 });
  const service = await startService(folder, settings);
  await ready(service.url);
  return service;
};
