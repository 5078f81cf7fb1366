import { readConfig } from '../../config.ts';
import { command } from '../engine/command.ts';

export const auditStats = command({
  name: 'audit stats',
  about: 'Count the events of the log by source and topic, by account and by day',
  help: 'It also counts events, streams, and bytes of data and metadata. It reads the whole log.',
  run: async () => {
    const { auditStats: count } = await import('../audit.ts');
    await count({ config: readConfig(process.env) });
    return 0;
  },
});
