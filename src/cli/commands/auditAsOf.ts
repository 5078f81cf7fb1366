import { readConfig } from '../../config.ts';
import { argument, command } from '../engine/command.ts';
import { momentFault, resourceFault } from '../faults.ts';

export const auditAsOf = command({
  name: 'audit as-of',
  about: 'Show the document of a resource as it was',
  args: {
    resource: { ...argument('such as automation/65f0...'), value: '<kind/id>', fault: resourceFault },
    moment: {
      ...argument('a position of the log, or a time such as 2026-01-31T09:00:00Z'),
      fault: momentFault,
    },
  },
  help: 'It is the document that the events of the resource give: authors are ids, secrets are masked.',
  run: async ({ resource, moment }) => {
    const { auditAsOf: show } = await import('../audit.ts');
    await show({ config: readConfig(process.env) }, resource, moment);
    return 0;
  },
});
