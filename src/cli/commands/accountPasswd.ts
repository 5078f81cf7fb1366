import { readConfig } from '../../config.ts';
import { argument, command, flag } from '../engine/command.ts';

export const accountPasswd = command({
  name: 'account passwd',
  about: 'Set the password of an account while the service is stopped (with esdb:// also while it runs)',
  args: { name: argument('the name of the account') },
  options: {
    newKey: flag('when the key of the log is lost: seal with SECRET_KEY, or a new secret.key, from now on'),
  },
  help: 'On a terminal the password is asked for; elsewhere it is the first line of standard input.',
  run: async ({ name, newKey }) => {
    const { setPassword } = await import('../account.ts');
    await setPassword(readConfig(process.env), name, { newKey });
    return 0;
  },
});
