#!/usr/bin/env node
import { Command } from 'commander';
import { pino } from 'pino';
import { setPassword } from './cli/account.ts';
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

  const { url, warmUp } = await starting;
  if (!config.TLS_CERT_FILE && !['127.0.0.1', '::1', 'localhost'].includes(config.HOST))
    logger.warn('Passwords cross the network in clear: HOST is not loopback and TLS_CERT_FILE is not set');
  process.stderr.write(`automation-platform ${version} listens on ${url}\n`);
  await warmUp();
};

const program = new Command('automation-platform')
  .description('HTTP API of a network automation and orchestration platform')
  .version(version)
  .addHelpText('after', `\nSettings, from the environment, all optional:\n${settingsHelp()}`)
  .action(serve);
program.command('account').description('Accounts, offline').command('passwd <name>').description('Set the password of an account while the service is stopped')
  .action((name: string) => setPassword(readConfig(process.env), name));

await program.parseAsync().catch(fail);
