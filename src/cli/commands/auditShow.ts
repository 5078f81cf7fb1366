import { readConfig } from '../../config.ts';
import { argument, command } from '../engine/command.ts';
import { resourceFault } from '../faults.ts';

export const auditShow = command({
  name: 'audit show',
  about: 'Show what happened to a resource, the newest first, and what each event changed',
  args: { resource: { ...argument('such as automation/65f0...'), value: '<kind/id>', fault: resourceFault } },
  run: async ({ resource }) => {
    const { auditShow: show } = await import('../audit.ts');
    await show({ config: readConfig(process.env) }, resource);
    return 0;
  },
});
