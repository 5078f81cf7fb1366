#!/usr/bin/env node
import { Command } from 'commander';
import { pino } from 'pino';
import { setPassword } from './cli/account.ts';
import { logCopy } from './cli/logCopy.ts';
import { readConfig, settingsHelp } from './config.ts';
import { startService } from './start.ts';
import { version } from './version.ts';

const fail = (error: unknown): never => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
};

const serve = async (): Promise<void> => {
  const config = readConfig(process.env);
  const destination = pino.destination({ sync: false, minLength: 8192 });
  const logger = pino({ level: config.LOG_LEVEL ?? 'info', base: null }, destination);
  setInterval(() => destination.flush(), 500).unref();
  const starting = startService(config, logger, (line) => process.stderr.write(`${line}\n`));

  let signals = 0;
  const stop = async (): Promise<void> => {
    if (++signals > 1) process.exit(1);
    await (await starting).stop();
    destination.flushSync();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop().catch(fail));

  const { url, logUrl, warmUp } = await starting;
  if (!config.TLS_CERT_FILE && !['127.0.0.1', '::1', 'localhost'].includes(config.HOST))
    logger.warn('Passwords cross the network in clear: HOST is not loopback and TLS_CERT_FILE is not set');
  if (logUrl !== undefined) process.stderr.write(`event log on ${logUrl}\n`);
  process.stderr.write(`automation-platform ${version} listens on ${url}\n`);
  await warmUp();
};

/** Aborts at the first signal; at the second the process ends. */
const stopped = (reason: string): AbortSignal => {
  const controller = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => (controller.signal.aborted ? process.exit(1) : controller.abort(new Error(reason))));
  return controller.signal;
};

const program = new Command('automation-platform')
  .description('HTTP API of a network automation and orchestration platform')
  .version(version)
  .addHelpText('after', `\nSettings, from the environment, all optional:\n${settingsHelp()}`)
  .action(serve);
program.command('account').description('Accounts, offline').command('passwd <name>').description('Set the password of an account while the service is stopped (with esdb:// also while it runs)')
  .action((name: string) => setPassword(readConfig(process.env), name));
program.command('log').description('The event log, offline').command('copy <from> <to>').description('Copy a log to another place: sqlite:<file> or esdb://...; run it again to go on after a stop')
  .action((from: string, to: string) => logCopy(from, to, stopped('Stopped; run the same command again to go on')));

await program.parseAsync().catch(fail);
