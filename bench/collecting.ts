const program = `
  import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGUSR2', () => collect());
`;

/** Settings of a process that collects its garbage on SIGUSR2: what it uses then, it needs. */
export const collecting = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(program)}` };
