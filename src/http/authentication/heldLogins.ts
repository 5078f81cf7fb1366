import { LRUCache } from 'lru-cache';
import { longestMs, writtenEveryMs } from '../../domain/authorization/logins.ts';
import type { Login } from '../../projections/authorization/logins.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import type { LoginCommands } from './loginCommands.ts';

type Needs = {
  readonly commands: Pick<LoginCommands, 'endOwn' | 'use'>;
  /** `logoutTime` in minutes. */
  readonly settings: () => { readonly logoutTime: number };
  readonly now: () => number;
};

/**
 * A login while it lasts, in milliseconds. `exact`: `used` is when it was used last, not only when that was written
 * down.
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
 * Logins in memory, by the digests of their tokens. When one was used last is written down at most once a minute, rarer
 * the longer `logoutTime` is; who knows only what was written grants the time in between.
 */
export const heldLogins = ({ commands, settings, now }: Needs) => {
  const held = new LRUCache<string, Held>({ max: 20_000 });
  // What was read while this moved may have ended.
  let ended = 0;

  const logoutMs = (): number => settings().logoutTime * 60_000;
  const writeEvery = (): number => Math.max(writtenEveryMs, logoutMs() / 10);

  const isOver = ({ created, used, exact }: Held): boolean =>
    now() - created >= longestMs || now() - used > logoutMs() + (exact ? 0 : writeEvery());

  /** The login as used just now; undefined when it is over. */
  const use = (id: string, login: Held): Held | undefined => {
    if (isOver(login)) {
      held.delete(id);
      commands.endOwn(id, login.account, 'expired').catch(() => undefined);
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
    /** A login that is known without waiting. */
    kept: (id: string): Held | undefined => {
      const login = held.get(id);
      return login && use(id, login);
    },
    /** A login that has to be read; it is kept unless one has ended meanwhile. */
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
      // Later than known here: another node was called, and may have been again since.
      if (login && used > login.used) Object.assign(login, { used, exact: false });
    },
  };
};
