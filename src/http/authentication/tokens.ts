import { randomBytes, randomUUID } from 'node:crypto';
import { type GuardedClock, lruCache, mutex } from '@automation-platform/concurrency';
import { logIn, logOut, useLogin } from '../../commands/authorization/tokens.ts';
import type { AnyCommand } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import { longestMs, type Reason, writtenEveryMs } from '../../domain/authorization/logins.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Node } from '../../node.ts';
import { type Login, logins } from '../../projections/authorization/logins.ts';
import { documentIn, documentOf, pageOf } from '../../projections/engine/documents.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { callerOf, cameBy, type Known, type LoginSettings, type Principal } from './principal.ts';
import type { VerifiedAccounts } from './principals.ts';

/** `token`: the text of the login that begins; a new one unless given. It begins once. */
type Start = {
  readonly actor: Actor;
  readonly credential: string;
  readonly requestId: string;
  readonly token?: string;
};

const tokenForm = /^[A-Za-z0-9_-]{43}$/;

type Needs = { readonly settings: () => LoginSettings; readonly accounts: Pick<VerifiedAccounts, 'isRefuted'> };

/**
 * Keeps logins by their tokens. A token has 256 random bits; only its keyed digest is stored. A login ends after
 * `logoutTime` without use, and after 12 hours in any case.
 */
export const tokens = ({ model, settled, head, handle, digest, clock }: Node, needs: Needs) => {
  const { settings } = needs;
  const commands = loginCommands(handle);
  const cache = heldLogins(commands, needs, clock);
  const exclusively = mutex();

  const othersOf = async (account: string, id?: string): Promise<readonly string[]> => {
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
    fromCache: (token: string): Held | undefined => cache.fromCache(digest(token)),
    load: async (token: string): Promise<Held | undefined> => {
      if (!tokenForm.test(token)) return undefined;
      const id = digest(token);
      await settled();
      return cache.load(id, read);
    },
    /** Starts a login and gives its token. With `uniqueSession` the account's other logins end. */
    start: ({ actor, credential, requestId, token = randomBytes(32).toString('base64url') }: Start): Promise<string> =>
      exclusively(actor.id, async () => {
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
    /** Ends all logins of an account, also those that another node has made just now. */
    endAll: async (account: string, requestId: string): Promise<void> => {
      await settled(await head());
      for (let ids = await othersOf(account); ids.length > 0; ids = await othersOf(account))
        for (const id of ids) await commands.endOwn(id, account, 'logout', requestId);
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
    onEvent: cache.onEvent,
  };
};

export type LoginTokens = ReturnType<typeof tokens>;

/**
 * A login in memory; times in milliseconds. `exact`: `used` is the time of the last use. Otherwise `used` is only the
 * last time that was stored.
 */
export type Held = {
  readonly account: string;
  readonly credential: string;
  readonly created: number;
  used: number;
  written: number;
  exact: boolean;
  /** The caller who sends the token of this login. */
  readonly callerBy: (owner: Known) => Principal;
};

/**
 * Keeps logins in memory, by the digests of their tokens. The time of the last use is stored at most once a minute, and
 * less often the longer `logoutTime` is. A node that knows only the stored time lets the login last longer by that
 * interval.
 */
const heldLogins = (commands: LoginCommands, { settings, accounts }: Needs, { now, time }: GuardedClock) => {
  const cache = lruCache<Held>(20_000);
  // The logins that ended lately. One that was read meanwhile must not get in, and its streams end.
  const ended = lruCache<true>(20_000);

  const logoutMs = (): number => settings().logoutTime * 60_000;
  const writeEvery = (): number => Math.max(writtenEveryMs, logoutMs() / 10);

  const isOver = ({ created, used, exact }: Held): boolean =>
    now() - created >= longestMs || now() - used > logoutMs() + (exact ? 0 : writeEvery());

  /** Notes that the login is used now, and gives it; undefined when it is over. */
  const use = (id: string, login: Held): Held | undefined => {
    if (isOver(login)) {
      cache.delete(id);
      // By a clock that may be wrong it is refused, and not ended.
      if (time() !== undefined) commands.endOwn(id, login.account, 'expired').catch(() => undefined);
      return undefined;
    }
    login.used = now();
    login.exact = true;
    if (login.used - login.written >= writeEvery()) {
      login.written = login.used;
      commands.use(id, login.account).catch(() => undefined);
    }
    return login;
  };

  /** A stream that is open uses its login. */
  const hasEnded = (id: string, login: Held): boolean =>
    ended.has(id) || accounts.isRefuted(login) || use(id, login) === undefined;

  const heldOf = (id: string, { account, credential, created, used }: Login): Held => {
    const login: Held = {
      account,
      credential,
      created: Date.parse(created),
      used: Date.parse(used),
      written: Date.parse(used),
      exact: false,
      callerBy: callerOf((owner) => ({ ...cameBy(owner, 'cookie'), hasEnded: () => hasEnded(id, login) })),
    };
    return login;
  };

  return {
    /** A login from memory; does not wait. */
    fromCache: (id: string): Held | undefined => {
      const login = cache.get(id);
      return login && use(id, login);
    },
    /** Reads a login. */
    load: async (id: string, read: (id: string) => Promise<Login | undefined>): Promise<Held | undefined> => {
      const found = await read(id);
      if (!found || ended.has(id)) return undefined;
      const login = cache.get(id) ?? heldOf(id, found);
      cache.set(id, login);
      return use(id, login);
    },
    onEvent: ({ stream, topic, data }: Pick<Recorded, 'stream' | 'topic' | 'data'>): void => {
      const { id } = splitStream(stream);
      if (topic === 'loggedOut') {
        ended.set(id, true);
        cache.delete(id);
      }
      const login = topic === 'loginUsed' ? cache.get(id) : undefined;
      const used = login ? Date.parse((data as { readonly at: string } | null | undefined)?.at ?? '') : 0;
      // Another node has stored a later use, and the login may have been used there again since.
      if (login && used > login.used) Object.assign(login, { used, exact: false });
    },
  };
};

/** The arguments of a command on a login. Without `requestId` a new one is made. */
type Asked = {
  readonly id: string;
  readonly input: unknown;
  readonly actor: Actor;
  readonly requestId?: string | undefined;
};

/** The actor when a login or token is used, or a login is ended, in its own account's name. */
export const holder = (account: string): Actor => ({
  id: account,
  username: '',
  provenance: '',
  groups: [],
  admin: false,
});

/** The commands that change logins. An `id` is the digest of a login's token. */
const loginCommands = (handle: Handle) => {
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
