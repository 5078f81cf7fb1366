import { pino } from 'pino';
import type { Config } from '../config.ts';
import { forPeople, serviceLogger } from '../process/logger.ts';
import { fail, onStopSignal } from '../process/program.ts';
import { version } from '../version.ts';
import type { Clocks } from './serviceNode.ts';
import { type Running, startService } from './start.ts';

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/**
 * The log on stdout: lines for people on a terminal, JSON elsewhere. JSON is written in batches; the rest is written when
 * the process ends, however it ends.
 */
const logOnStdout = (level: string) => {
  if (process.stdout.isTTY)
    return { logger: serviceLogger(level, forPeople(pino.destination({ sync: true }))), flush: () => undefined };
  const destination = pino.destination({ sync: false, minLength: 8192 });
  const flush = (): void => destination.flushSync();
  setInterval(() => destination.flush(), 500).unref();
  process.on('exit', flush);
  return { logger: serviceLogger(level, destination), flush };
};

/**
 * Runs the service until SIGTERM or SIGINT, then ends the process with status 0. A later signal kills it. Logs a
 * line for each step. `ready` is called once the service answers.
 */
export const runService = async (
  config: Config,
  ready: (service: Running) => Promise<void> | void,
  clocks?: Clocks,
): Promise<void> => {
  const { logger, flush } = logOnStdout(config.LOG_LEVEL ?? 'info');
  logger.info({ version, pid: process.pid, node: process.version, dataDir: config.DATA_DIR }, 'starting');
  const leaving = new AbortController();
  const starting = startService(config, logger, say, { leaving: leaving.signal, clocks });

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    logger.info({ signal }, 'stopping');
    leaving.abort();
    const started = await starting.catch(() => undefined);
    await started?.stop();
    logger.info('stopped');
    process.exit(0);
  };
  onStopSignal(
    (signal) => void stop(signal).catch(fail),
    () => {
      flush();
      // An exit would break off the threads that are in the database, which aborts the process.
      process.kill(process.pid, 'SIGKILL');
    },
  );

  const service = await starting.catch((error: unknown) => {
    // A start that is broken off is no failure: `stop` ends the process.
    if (leaving.signal.aborted) return new Promise<never>(() => undefined);
    throw error;
  });
  void service.damaged.then(fail);
  const { url, logUrl } = service;
  logger.info({ url, logUrl }, 'ready');
  if (!config.TLS_CERT_FILE && !['127.0.0.1', '::1', 'localhost'].includes(config.HOST))
    logger.warn('Passwords cross the network in clear: HOST is not loopback and TLS_CERT_FILE is not set');
  try {
    await ready(service);
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  }
};
