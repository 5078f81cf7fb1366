import { readConfig } from '../../config.ts';
import { version } from '../../version.ts';
import { command } from '../engine/command.ts';

export const serve = command({
  name: 'serve',
  about: 'Run the service. This is what the program does without a command',
  help: `\
SIGTERM or SIGINT stops it in order, with status 0; one that arrives more than a second later kills it. Nothing acknowledged is lost
either way (docs/operations.md, "Stopping").`,
  run: async () => {
    const { runService } = await import('../../service/runService.ts');
    await runService(readConfig(process.env), ({ url, logUrl }) => {
      if (logUrl !== undefined) process.stderr.write(`event log on ${logUrl}\n`);
      process.stderr.write(`automation-platform ${version} listens on ${url}\n`);
    });
    return 0;
  },
});
