import { randomUUID } from 'node:crypto';
import { logIn, logOut, useLogin } from '../../commands/authorization/logins.ts';
import type { AnyCommand } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import type { Reason } from '../../domain/authorization/logins.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';

/** The arguments of a command on a login. Without `requestId` a new one is made. */
type Asked = {
  readonly id: string;
  readonly input: unknown;
  readonly actor: Actor;
  readonly requestId?: string | undefined;
};

/** The actor when a login is used, or ended in its own account's name. */
const holder = (account: string): Actor => ({ id: account, username: '', provenance: '', groups: [], admin: false });

/** The commands that change logins. An `id` is the digest of a login's token. */
export const loginCommands = (handle: Handle) => {
  const carryOut = (command: AnyCommand, { id, input, actor, requestId = randomUUID() }: Asked) =>
    handle(command, { id, input, actor, operation: command.name, requestId });

  /** Ends a login; does nothing if there is none. */
  const end = async (id: string, reason: Reason, actor: Actor, requestId?: string): Promise<void> => {
    await carryOut(logOut, { id, input: { reason }, actor, requestId }).catch((error) => {
      if (!(error instanceof RequestError && error.code === 'not_found')) throw error;
    });
  };

  return {
    start: async (id: string, actor: Actor, credential: string, requestId: string): Promise<void> => {
      await carryOut(logIn, { id, input: { account: actor.id, credential }, actor, requestId });
    },
    end,
    /** Ends a login with its account as the actor. */
    endOwn: (id: string, account: string, reason: Reason, requestId?: string): Promise<void> =>
      end(id, reason, holder(account), requestId),
    /** Stores that a login was used. */
    use: async (id: string, account: string): Promise<void> => {
      await carryOut(useLogin, { id, input: {}, actor: holder(account) });
    },
  };
};

export type LoginCommands = ReturnType<typeof loginCommands>;
