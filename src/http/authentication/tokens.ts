import { randomBytes } from 'node:crypto';
import type { Handle } from '../../commands/engine/handle.ts';
import type { GuardedClock } from '../../concurrency/guardedClock.ts';
import { mutex } from '../../concurrency/mutex.ts';
import { longestMs } from '../../domain/authorization/logins.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { type Login, logins } from '../../projections/authorization/logins.ts';
import { documentIn, documentOf, pageOf } from '../../projections/engine/documents.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { type Held, heldLogins } from './heldLogins.ts';
import { loginCommands } from './loginCommands.ts';

type Needs = {
  readonly model: ReadStore;
  /** Resolves once the read models show `least` and all that this node has acknowledged. */
  readonly settled: (least?: number) => Promise<void> | undefined;
  /** Position of the newest event in the log. */
  readonly head: () => Promise<number>;
  readonly handle: Handle;
  readonly digest: (text: string) => string;
  /** `logoutTime` in minutes. */
  readonly settings: () => { readonly logoutTime: number; readonly uniqueSession: boolean };
  readonly clock: Pick<GuardedClock, 'now' | 'time'>;
};

const tokenForm = /^[A-Za-z0-9_-]{43}$/;

/**
 * Keeps logins by their tokens. A token has 256 random bits; only its keyed digest is stored. A login ends after
 * `logoutTime` without use, and after 12 hours in any case.
 */
export const tokens = ({ model, settled, head, handle, digest, settings, clock }: Needs) => {
  const commands = loginCommands(handle);
  const held = heldLogins({ commands, settings, clock });
  const exclusively = mutex();

  const othersOf = async (account: string, id: string): Promise<readonly string[]> => {
    await settled();
    const { entries } = await pageOf(model, logins, {
      where: { field: 'account', op: 'equals', value: account },
      sort: 'name',
      order: 1,
      skip: 0,
      limit: 1000,
    });
    return entries.map((entry) => entry.id).filter((other) => other !== id);
  };

  /** Reads a login that another node may have made just now: waits until the read models show the log's head. */
  const justMade = async (id: string): Promise<Login | undefined> => {
    await settled(await head());
    return documentOf(model, logins, id);
  };

  const read = async (id: string): Promise<Login | undefined> =>
    (await documentOf(model, logins, id)) ?? (await justMade(id));

  return {
    /** A login from memory; does not wait. */
    kept: (token: string): Held | undefined => held.kept(digest(token)),
    load: async (token: string): Promise<Held | undefined> => {
      if (!tokenForm.test(token)) return undefined;
      const id = digest(token);
      await settled();
      return held.load(id, read);
    },
    /** Starts a login and gives its token. With `uniqueSession` the account's other logins end. */
    start: (actor: Actor, credential: string, requestId: string): Promise<string> =>
      exclusively(actor.id, async () => {
        const token = randomBytes(32).toString('base64url');
        const id = digest(token);
        await commands.start(id, actor, credential, requestId);
        if (settings().uniqueSession)
          for (const other of await othersOf(actor.id, id)) await commands.end(other, 'replaced', actor, requestId);
        return token;
      }),
    /** Ends a token's login; does nothing if there is none. */
    end: async (token: string, requestId: string): Promise<void> => {
      const id = digest(token);
      await settled();
      const login = await documentOf(model, logins, id);
      if (login) await commands.endOwn(id, login.account, 'logout', requestId);
    },
    /** Ends the logins that have reached the longest duration, so that they leave the read models. */
    sweep: async (): Promise<void> => {
      const now = clock.time();
      if (now === undefined) return;
      for (let more = true; more; ) {
        const { entries } = await pageOf(model, logins, { sort: 'name', order: 1, skip: 0, limit: 100 });
        const read = entries.map((entry) => ({ id: entry.id, login: documentIn(logins, entry) }));
        const old = read.filter(({ login }) => now - Date.parse(login.created) >= longestMs);
        for (const { id, login } of old) await commands.endOwn(id, login.account, 'expired');
        await settled();
        more = old.length === 100;
      }
    },
    onEvent: held.onEvent,
  };
};
