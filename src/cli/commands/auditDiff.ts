import { readConfig } from '../../config.ts';
import { argument, command } from '../engine/command.ts';
import { momentFault, resourceFault } from '../faults.ts';

export const auditDiff = command({
  name: 'audit diff',
  about: 'Show how the document of a resource differs between two moments',
  args: {
    resource: { ...argument('such as automation/65f0...'), value: '<kind/id>', fault: resourceFault },
    from: { ...argument('a position of the log, or a time'), fault: momentFault },
    to: { ...argument('the same'), fault: momentFault },
  },
  help: 'Each line is an operation of a JSON Patch (RFC 6902).',
  run: async ({ resource, from, to }) => {
    const { auditDiff: compare } = await import('../audit.ts');
    await compare({ config: readConfig(process.env) }, resource, { from, to });
    return 0;
  },
});
