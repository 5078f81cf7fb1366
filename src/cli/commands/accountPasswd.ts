import { type Config, readConfig } from '../../config.ts';
import { argument, command, flag } from '../engine/command.ts';
import { type Input, readPassword } from '../password.ts';

export const accountPasswd = command({
  name: 'account passwd',
  about: 'Set the password of an account while the service is stopped (with esdb:// also while it runs)',
  args: { name: argument('the name of the account') },
  options: {
    newKey: flag('when the key of the log is lost: seal with SECRET_KEY, or a new secret.key, from now on'),
  },
  help: 'On a terminal the password is asked for; elsewhere it is the first line of standard input.',
  run: async ({ name, newKey }) => {
    await setPassword(readConfig(process.env), name, { newKey });
    return 0;
  },
});

type Options = {
  readonly newKey?: boolean | undefined;
  readonly input?: Input;
  readonly output?: NodeJS.WritableStream;
};

/** Sets the password of an account in the log. It is typed on a terminal, or is the first line of standard input. */
export const setPassword = async (config: Config, username: string, options: Options = {}): Promise<void> => {
  const { newKey = false, input = process.stdin, output = process.stderr } = options;
  const { setPasswordIn } = await import('../../service/accountPassword.ts');
  await setPasswordIn(config, username, { newKey, ask: () => readPassword(input, output) });
  output.write(`The password of ${username} is set\n`);
};
