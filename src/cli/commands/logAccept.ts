import { readConfig } from '../../config.ts';
import { command } from '../engine/command.ts';

export const accept = command({
  name: 'log accept',
  about: 'Accept that the log lacks events that were in it, and what is damaged in it',
  run: async () => {
    const { logAccept } = await import('../logAccept.ts');
    await logAccept(readConfig(process.env));
    return 0;
  },
});
