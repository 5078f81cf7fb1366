import { readConfig } from '../../config.ts';
import { command, option, optionOr } from '../engine/command.ts';

const isCount = (text: string): boolean => /^[1-9]\d{0,8}$/.test(text);

export const auditLog = command({
  name: 'audit log',
  about: 'Find events of the log, the newest first',
  options: {
    actor: option('<id>', 'only events of this account, by its id'),
    resource: option('<kind>/<id>', 'only events of this resource'),
    source: option('<source>', 'only events of this source'),
    topic: option('<topic>', 'only events of this topic'),
    operation: option('<name>', 'only events of this operation or reaction'),
    requestId: option('<id>', 'only events of this request'),
    correlation: option('<id>', 'only events of this correlation'),
    since: option('<moment>', 'not before this position or time'),
    until: option('<moment>', 'not after this position or time'),
    limit: {
      ...optionOr('<count>', 'how many', '100'),
      fault: (text: string) => (isCount(text) ? undefined : 'It is no number from 1 on.'),
    },
  },
  help: 'It reads the log itself, also while the service runs, and so with all rights.',
  run: async ({ limit, ...wanted }) => {
    const { auditLog: find } = await import('../audit.ts');
    await find({ config: readConfig(process.env) }, wanted, Number(limit));
    return 0;
  },
});
