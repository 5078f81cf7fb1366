import type { GuardedClock } from '../../concurrency/guardedClock.ts';
import { lruCache } from '../../concurrency/lruCache.ts';
import { longestMs, writtenEveryMs } from '../../domain/authorization/logins.ts';
import type { Login } from '../../projections/authorization/logins.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import type { LoginCommands } from './loginCommands.ts';

type Needs = {
  readonly commands: Pick<LoginCommands, 'endOwn' | 'use'>;
  /** `logoutTime` in minutes. */
  readonly settings: () => { readonly logoutTime: number };
  readonly clock: Pick<GuardedClock, 'now' | 'time'>;
};

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
};

const heldOf = ({ account, credential, created, used }: Login): Held => ({
  account,
  credential,
  created: Date.parse(created),
  used: Date.parse(used),
  written: Date.parse(used),
  exact: false,
});

/**
 * Keeps logins in memory, by the digests of their tokens. The time of the last use is stored at most once a minute, and
 * less often the longer `logoutTime` is. A node that knows only the stored time lets the login last longer by that
 * interval.
 */
export const heldLogins = ({ commands, settings, clock: { now, time } }: Needs) => {
  const held = lruCache<Held>(20_000);
  // If this number changes during a read, the login that was read may have ended.
  let ended = 0;

  const logoutMs = (): number => settings().logoutTime * 60_000;
  const writeEvery = (): number => Math.max(writtenEveryMs, logoutMs() / 10);

  const isOver = ({ created, used, exact }: Held): boolean =>
    now() - created >= longestMs || now() - used > logoutMs() + (exact ? 0 : writeEvery());

  /** Notes that the login is used now, and gives it; undefined when it is over. */
  const use = (id: string, login: Held): Held | undefined => {
    if (isOver(login)) {
      held.delete(id);
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

  return {
    /** A login from memory; does not wait. */
    kept: (id: string): Held | undefined => {
      const login = held.get(id);
      return login && use(id, login);
    },
    /** Reads a login. It is kept in memory unless a login has ended meanwhile. */
    load: async (id: string, read: (id: string) => Promise<Login | undefined>): Promise<Held | undefined> => {
      const before = ended;
      const found = await read(id);
      if (!found) return undefined;
      const login = held.get(id) ?? heldOf(found);
      if (before === ended) held.set(id, login);
      return use(id, login);
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
      // Another node has stored a later use, and the login may have been used there again since.
      if (login && used > login.used) Object.assign(login, { used, exact: false });
    },
  };
};
