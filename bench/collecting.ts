import { setTimeout as pause } from 'node:timers/promises';
import type { Service } from './processes.ts';
import { metricOf } from './requests.ts';

const program = `
  import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGUSR2', () => collect());
`;

/** Settings of a process that collects its garbage on SIGUSR2: what it uses then, it needs. */
export const collecting = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(program)}` };

/** Megabytes that such a process needs. */
export const memoryOf = async ({ pid, url }: Service): Promise<number> => {
  process.kill(pid, 'SIGUSR2');
  await pause(2000);
  const [heap, external] = [
    await metricOf(url, 'nodejs_heap_size_used_bytes'),
    await metricOf(url, 'nodejs_external_memory_bytes'),
  ];
  return (heap + external) / 2 ** 20;
};
