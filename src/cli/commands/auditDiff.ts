import { readConfig } from '../../config.ts';
import { argument, command } from '../engine/command.ts';

export const auditDiff = command({
  name: 'audit diff',
  about: 'Show how the document of a resource differs between two moments',
  args: {
    resource: { ...argument('such as automation/65f0...'), value: '<kind>/<id>' },
    from: argument('a position of the log, or a time'),
    to: argument('the same'),
  },
  help: 'Each line is an operation of a JSON Patch (RFC 6902).',
  run: async ({ resource, from, to }) => {
    const { auditDiff: compare } = await import('../audit.ts');
    await compare({ config: readConfig(process.env) }, resource, { from, to });
    return 0;
  },
});
