#!/usr/bin/env node
import './soundJson.ts';
import { Command, InvalidArgumentError } from 'commander';
import { setPassword } from './cli/account.ts';
import { type AskOptions, accessFrom, askOptions, passwordFrom } from './cli/askService.ts';
import { allOf, jsonFault, publishEvent } from './cli/events.ts';
import { fromIn, type TailOptions, tailEvents } from './cli/eventsTail.ts';
import { logAccept } from './cli/logAccept.ts';
import { logCopy } from './cli/logCopy.ts';
import { migrate } from './cli/migrate/migrate.ts';
import { readConfig, settingsHelp } from './config.ts';
import { fail, runService } from './program.ts';
import { version } from './version.ts';

const serve = (): Promise<void> =>
  runService(readConfig(process.env), async ({ url, logUrl, warmUp }) => {
    if (logUrl !== undefined) process.stderr.write(`event log on ${logUrl}\n`);
    process.stderr.write(`automation-platform ${version} listens on ${url}\n`);
    await warmUp();
  });

/** The signal aborts at the first SIGTERM or SIGINT; a second one ends the process. */
const stopped = (reason: string): AbortSignal => {
  const controller = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => (controller.signal.aborted ? process.exit(1) : controller.abort(new Error(reason))));
  return controller.signal;
};

const program = new Command('automation-platform')
  .description('HTTP API of a network automation and orchestration platform')
  .version(version)
  // What is called wrongly ends with 2, what goes wrong with 1.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .addHelpText('after', `\nSettings, from the environment, all optional:\n${settingsHelp()}`)
  .action(serve);
program
  .command('account')
  .description('Accounts, offline')
  .command('passwd <name>')
  .description('Set the password of an account while the service is stopped (with esdb:// also while it runs)')
  .option('--new-key', 'when the key of the log is lost: seal with SECRET_KEY, or a new secret.key, from now on')
  .action((name: string, { newKey }: { newKey?: boolean }) => setPassword(readConfig(process.env), name, { newKey }));
const copyHelp = `
Events are copied byte by byte, those of other tools with their content types. Streams that were deleted, or deleted for
ever, are so in the copy. Not copied: streams and events of EventStoreDB's own (names and types that begin with $), but
for the metadata of streams of other tools. What stays behind is named at the end.`;
const log = program.command('log').description('The event log, offline');
log
  .command('copy <from> <to>')
  .description('Copy a log to another place: sqlite:<file> or esdb://...; run it again to go on after a stop')
  .option(
    '--skip-incomplete',
    'leave out streams of other tools that have lost events, as by scavenging; without it such a stream ends the copy',
  )
  .addHelpText('after', copyHelp)
  .action((from: string, to: string, { skipIncomplete }: { skipIncomplete?: boolean }) =>
    logCopy(from, to, stopped('Stopped; run the same command again to go on'), { skipIncomplete }),
  );
log
  .command('accept')
  .description(
    'Accept that the log lacks events that were in it, as after an older backup was restored, and what is ' +
      'damaged in it',
  )
  .action(() => logAccept(readConfig(process.env)));

const migrateHelp = `
Documents are imported in the order in which they name each other. Each is reported: as a line of JSON, or on a terminal in
words if it is refused. Documents that are there already are no change, so run the same command again to go on after a stop.
Passwords come from AUTOMATION_PLATFORM_PASSWORD and AUTOMATION_PLATFORM_SOURCE_PASSWORD, or are asked for.
Exit status: 0, 1 after an error, 3 if a document was refused.`;
type MigrateOptions = AskOptions & { sourceUser: string; dryRun?: boolean; overwrite?: boolean };
program
  .command('migrate <source>')
  .description('Import the documents of a folder, a file, or another platform (its URL) into the running service')
  .option(...askOptions.url)
  .option(...askOptions.user)
  .option('--source-user <name>', 'the account to read the other platform with', 'admin')
  .option('--dry-run', 'only say what would be imported')
  .option('--overwrite', 'replace other content under a used id or name')
  .addHelpText('after', migrateHelp)
  .action(async (source: string, { url, user, sourceUser, dryRun = false, overwrite = false }: MigrateOptions) => {
    const target = await accessFrom({ url, user });
    const sourcePassword = /^https?:/.test(source)
      ? await passwordFrom('AUTOMATION_PLATFORM_SOURCE_PASSWORD', `Password of ${sourceUser} at ${source}: `)
      : '';
    const refused = await migrate(
      {
        source,
        sourceAccess: { username: sourceUser, password: sourcePassword },
        target,
        dryRun,
        overwrite,
      },
      stopped('Stopped; run the same command again to go on'),
    );
    process.exitCode = refused > 0 ? 3 : 0;
  });

const askHelp = `\nThe password comes from AUTOMATION_PLATFORM_PASSWORD, or is asked for.`;
const payloadArgument = (given: string): string => {
  const fault = given === '-' ? undefined : jsonFault(given);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return given;
};
const events = program.command('events').description('Events of the running service');
events
  .command('publish')
  .description('Publish an event')
  .argument('<source>', 'not beginning with @platform/ or $')
  .argument('<topic>', 'without a colon')
  .argument('[payload]', 'JSON; - reads it from standard input', payloadArgument, 'null')
  .option(...askOptions.url)
  .option(...askOptions.user)
  .addHelpText('after', askHelp)
  .action(async (source: string, topic: string, payload: string, options: AskOptions) => {
    if (payload === '-' && process.env.AUTOMATION_PLATFORM_PASSWORD === undefined)
      events.error('error: standard input has the payload, so AUTOMATION_PLATFORM_PASSWORD must have the password');
    const text = payload === '-' ? await allOf(process.stdin) : payload;
    await publishEvent({ source, topic, payload: text }, await accessFrom(options), stopped('Stopped'));
  });
const fromArgument = (given: string): string => {
  if (fromIn(given) === undefined) throw new InvalidArgumentError('It is neither start, now nor a position.');
  return given;
};
events
  .command('tail')
  .description('Show events as they happen: as a table, or as lines of JSON if the output is no terminal')
  .option('--source <source>', 'only events of this source')
  .option('--topic <topic>', 'only events of this topic')
  .option('--resource <resource>', 'only events of a kind of resource (job), or of one (job/65f0...)')
  .option('--from <position>', 'the position after which to begin, or start, or now', fromArgument, 'now')
  .option(...askOptions.url)
  .option(...askOptions.user)
  .addHelpText('after', askHelp)
  .action(async (options: AskOptions & TailOptions) => {
    await tailEvents(options, await accessFrom(options), stopped('Stopped'));
  });

await program.parseAsync().catch(fail);
