import { randomBytes, randomUUID } from 'node:crypto';
import { provideAccount } from '../commands/authorization/accounts.ts';
import { provideGroup } from '../commands/authorization/groups.ts';
import { provideLab } from '../commands/configuration-manager/adapters.ts';
import type { AnyCommand } from '../commands/engine/define.ts';
import type { Handle } from '../commands/engine/handle.ts';
import { builtInGroups } from '../domain/authorization/groups.ts';
import { labName } from '../domain/configuration-manager/adapters.ts';
import { platform } from '../domain/engine/core.ts';
import { derivedId } from '../store/derivedIds.ts';
import { isUnusable } from '../store/tampered.ts';

type Needs = {
  readonly handle: Handle;
  /** Password of the account `admin`; if undefined, a random one is made. */
  readonly adminPassword: string | undefined;
  /**
   * Called with the random password once the account has it, and with a line for each resource that cannot be provided.
   */
  readonly tell: (line: string) => void;
};

const username = 'admin';

/** The id is always the same, so that two processes that start at once use the same stream. */
const idOf = (kind: string, name: string): string => derivedId(`built-in ${kind} ${name}`);

/**
 * Makes sure that the built-in groups exist. At the first start it also creates the account `admin` in `admins`, and
 * the adapter `lab` with three simulated devices.
 */
export const bootstrap = async ({ handle, adminPassword, tell }: Needs): Promise<void> => {
  /** A resource that cannot be used is shown by health; the service starts all the same. */
  const provide = async (command: AnyCommand, id: string, input: unknown): Promise<{ readonly changed: boolean }> => {
    try {
      return await handle(command, { id, input, actor: platform, operation: 'bootstrap', requestId: randomUUID() });
    } catch (error) {
      if (!isUnusable(error)) throw error;
      tell(`Cannot provide ${command.aggregate.category} ${id}: ${error.message}`);
      return { changed: false };
    }
  };
  for (const name of Object.keys(builtInGroups)) await provide(provideGroup, idOf('group', name), { name });
  await provide(provideLab, labName, {});
  const password = adminPassword ?? randomBytes(18).toString('base64url');
  const { changed } = await provide(provideAccount, idOf('account', username), { username, password });
  if (changed && adminPassword === undefined)
    tell(`Account ${username} has the password ${password}; change it with POST /authorization/whoami/password`);
};
