import { stopSignal } from '../../process/program.ts';
import { askOptions } from '../askOptions.ts';
import { argument, command, flag, optionOr } from '../engine/command.ts';

export const migrate = command({
  name: 'migrate',
  about: 'Import the documents of a folder, a file, or another platform (its URL) into the running service',
  args: { source: argument('a folder, a file or a URL') },
  options: {
    ...askOptions,
    sourceUser: optionOr('<name>', 'the account to read the other platform with', 'admin'),
    dryRun: flag('only say what would be imported'),
    overwrite: flag('replace other content under a used id or name'),
  },
  help: `\
Documents are imported in the order in which they name each other. Each is reported: as a line of JSON, or on a terminal in
words if it is refused. Documents that are there already are no change, so run the same command again to go on after a stop.
Passwords come from AUTOMATION_PLATFORM_PASSWORD and AUTOMATION_PLATFORM_SOURCE_PASSWORD, or are asked for.
The exit status is 3 if a document of a known kind, or a part of a package, stayed out.`,
  run: async ({ url, user, source, sourceUser, dryRun, overwrite }) => {
    const { accessFrom, passwordFrom } = await import('../askService.ts');
    const { migrate: importAll } = await import('../migrate/migrate.ts');
    const target = await accessFrom({ url, user });
    const sourcePassword = /^https?:/.test(source)
      ? await passwordFrom('AUTOMATION_PLATFORM_SOURCE_PASSWORD', `Password of ${sourceUser} at ${source}: `)
      : '';
    const sourceAccess = { username: sourceUser, password: sourcePassword };
    const signal = stopSignal('Stopped; run the same command again to go on');
    const leftOut = await importAll({ source, sourceAccess, target, dryRun, overwrite }, signal);
    return leftOut > 0 ? 3 : 0;
  },
});
