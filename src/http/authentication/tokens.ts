import { randomBytes, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { logIn, logOut, useLogin } from '../../commands/authorization/logins.ts';
import type { AnyCommand } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import { mutex } from '../../concurrency/mutex.ts';
import { longestMs, type Reason, writtenEveryMs } from '../../domain/authorization/logins.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { Refusal } from '../../domain/engine/refusal.ts';
import type { Login } from '../../projections/authorization/logins.ts';
import type { Entry, ReadStore } from '../../projections/engine/port.ts';
import { type Recorded, splitStream } from '../../store/event.ts';

type Needs = {
  readonly model: ReadStore;
  /** Resolves once the read models show all that this node has acknowledged, and the position. */
  readonly settled: (least?: number) => Promise<void> | undefined;
  /** Position of the newest event in the log. */
  readonly head: () => Promise<number>;
  readonly handle: Handle;
  readonly digest: (text: string) => string;
  /** `logoutTime` in minutes. */
  readonly settings: () => { readonly logoutTime: number; readonly uniqueSession: boolean };
  readonly now: () => number;
};

/**
 * A login while it lasts, in milliseconds. `exact`: `used` is when it was used last, not only when that was written
 * down.
 */
type Held = {
  readonly account: string;
  readonly credential: string;
  readonly created: number;
  used: number;
  written: number;
  exact: boolean;
};

const tokenForm = /^[A-Za-z0-9_-]{43}$/;

/** Who acts when a login ends or is used: its account. */
const holder = ({ account }: { readonly account: string }): Actor => ({
  id: account,
  username: '',
  provenance: '',
  groups: [],
  admin: false,
});

/**
 * Logins by their tokens (256 random bits; only their keyed digest is kept anywhere). A login ends after `logoutTime`
 * without use, and in any case after 12 hours. When it was used last is kept in memory and written down at most once a
 * minute, rarer the longer `logoutTime` is; who knows only what was written grants the time in between.
 */
export const tokens = ({ model, settled, head, handle, digest, settings, now }: Needs) => {
  const held = new LRUCache<string, Held>({ max: 20_000 });
  const inTurn = mutex();
  // What was read while this moved may have ended.
  let ended = 0;

  const logoutMs = (): number => settings().logoutTime * 60_000;
  const writeEvery = (): number => Math.max(writtenEveryMs, logoutMs() / 10);

  const carryOut = (command: AnyCommand, id: string, input: unknown, actor: Actor, requestId: string = randomUUID()) =>
    handle(command, { id, input, actor, operation: command.name, requestId });

  const end = async (id: string, reason: Reason, actor: Actor, requestId?: string): Promise<void> => {
    await carryOut(logOut, id, { reason }, actor, requestId).catch((error) => {
      if (!(error instanceof Refusal && error.code === 'not_found')) throw error;
    });
  };

  const isOver = ({ created, used, exact }: Held): boolean =>
    now() - created >= longestMs || now() - used > logoutMs() + (exact ? 0 : writeEvery());

  /** The login as used just now; undefined when it is over. */
  const use = (id: string, login: Held): Held | undefined => {
    if (isOver(login)) {
      held.delete(id);
      end(id, 'expired', holder(login)).catch(() => undefined);
      return undefined;
    }
    login.used = now();
    login.exact = true;
    if (login.used - login.written >= writeEvery()) {
      login.written = login.used;
      carryOut(useLogin, id, {}, holder(login)).catch(() => undefined);
    }
    return login;
  };

  const othersOf = async (account: string, id: string): Promise<readonly string[]> => {
    await settled();
    const { entries } = await model.list('logins', {
      where: { field: 'account', op: 'equals', value: account },
      sort: 'name',
      order: 1,
      skip: 0,
      limit: 1000,
    });
    return entries.map((entry) => entry.id).filter((other) => other !== id);
  };

  /** A login that another node has made a moment ago. */
  const justMade = async (id: string): Promise<Entry | undefined> => {
    await settled(await head());
    return model.get('logins', id);
  };

  return {
    /** A login that is known without waiting. */
    kept: (token: string): Held | undefined => {
      const id = digest(token);
      const login = held.get(id);
      return login && use(id, login);
    },
    load: async (token: string): Promise<Held | undefined> => {
      if (!tokenForm.test(token)) return undefined;
      const id = digest(token);
      await settled();
      const before = ended;
      const entry = (await model.get('logins', id)) ?? (await justMade(id));
      if (!entry) return undefined;
      const { account, credential, created, used } = JSON.parse(entry.text) as Login;
      const login = held.get(id) ?? {
        account,
        credential,
        created: Date.parse(created),
        used: Date.parse(used),
        written: Date.parse(used),
        exact: false,
      };
      if (before === ended) held.set(id, login);
      return use(id, login);
    },
    /** A new login's token. With `uniqueSession` the account's other logins end. */
    start: (actor: Actor, credential: string, requestId: string): Promise<string> =>
      inTurn(actor.id, async () => {
        const token = randomBytes(32).toString('base64url');
        const id = digest(token);
        await carryOut(logIn, id, { account: actor.id, credential }, actor, requestId);
        if (settings().uniqueSession)
          for (const other of await othersOf(actor.id, id)) await end(other, 'replaced', actor, requestId);
        return token;
      }),
    /** Ends a token's login; nothing happens when there is none. */
    end: async (token: string, requestId: string): Promise<void> => {
      const id = digest(token);
      await settled();
      const entry = await model.get('logins', id);
      if (entry) await end(id, 'logout', holder(JSON.parse(entry.text) as Login), requestId);
    },
    /** Ends the logins that are older than any may be, so that they leave the read models. */
    sweep: async (): Promise<void> => {
      for (let more = true; more; ) {
        const { entries } = await model.list('logins', { sort: 'name', order: 1, skip: 0, limit: 100 });
        const old = entries.filter(({ text }) => now() - Date.parse((JSON.parse(text) as Login).created) >= longestMs);
        for (const { id, text } of old) await end(id, 'expired', holder(JSON.parse(text) as Login));
        await settled();
        more = old.length === 100;
      }
    },
    onEvent: ({ stream, topic, data }: Pick<Recorded, 'stream' | 'topic' | 'data'>): void => {
      const { category, id } = splitStream(stream);
      if (category !== 'login') return;
      if (topic === 'loggedOut') {
        ended++;
        held.delete(id);
      }
      const login = topic === 'loginUsed' ? held.get(id) : undefined;
      const used = login ? Date.parse((data as { readonly at: string } | null | undefined)?.at ?? '') : 0;
      // Later than known here: another node was called, and may have been again since.
      if (login && used > login.used) Object.assign(login, { used, exact: false });
    },
  };
};

/** `Set-Cookie` that sets a token, or drops it (undefined). */
export const cookieText = (name: string, token: string | undefined, secure: boolean): string =>
  `${name}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}${token === undefined ? '; Max-Age=0' : ''}`;

/** The value of a cookie in a `Cookie` header. */
export const cookieValue = (cookies: string, name: string): string | undefined =>
  cookies
    .split(';')
    .map((cookie) => cookie.trim())
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.slice(name.length + 1);
