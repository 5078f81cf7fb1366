import { readConfig } from '../../config.ts';
import { command, option, optionOr } from '../engine/command.ts';
import { emptyFault, momentFault, resourceFault } from '../faults.ts';

const textOption = (value: string, about: string) => ({ ...option(value, about), fault: emptyFault });
const momentOption = (about: string) => ({ ...option('<moment>', about), fault: momentFault });

const isCount = (text: string): boolean => /^[1-9]\d{0,8}$/.test(text);

export const auditLog = command({
  name: 'audit log',
  about: 'Find events of the log, the newest first',
  options: {
    actor: textOption('<id>', 'only events of this account, by its id'),
    resource: { ...option('<kind>/<id>', 'only events of this resource'), fault: resourceFault },
    source: textOption('<source>', 'only events of this source'),
    topic: textOption('<topic>', 'only events of this topic'),
    operation: textOption('<name>', 'only events of this operation or reaction'),
    requestId: textOption('<id>', 'only events of this request'),
    correlation: textOption('<id>', 'only events of this correlation'),
    since: momentOption('not before this position or time'),
    until: momentOption('not after this position or time'),
    limit: {
      ...optionOr('<count>', 'how many', '100'),
      fault: (text: string) => (isCount(text) ? undefined : 'It is no number from 1 on.'),
    },
  },
  help: `\
It reads the log itself, also while the service runs, and so with all rights. It says when there may be older events than
those that it shows.`,
  run: async ({ limit, ...wanted }) => {
    const { auditLog: find } = await import('../audit.ts');
    await find({ config: readConfig(process.env) }, wanted, Number(limit));
    return 0;
  },
});
