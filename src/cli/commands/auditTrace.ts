import { readConfig } from '../../config.ts';
import { argument, command } from '../engine/command.ts';
import { emptyFault } from '../faults.ts';

export const auditTrace = command({
  name: 'audit trace',
  about: 'Show what followed from a request, as a tree',
  args: {
    correlation: { ...argument('the id of the request that began it (X-Request-Id)'), fault: emptyFault },
  },
  run: async ({ correlation }) => {
    const { auditTrace: trace } = await import('../audit.ts');
    await trace({ config: readConfig(process.env) }, correlation);
    return 0;
  },
});
