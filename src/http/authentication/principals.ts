import { lruCache } from '../../concurrency/lruCache.ts';
import type { Admins } from '../../domain/authorization/admins.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { accountReader } from './accountReader.ts';
import type { Known } from './principal.ts';

type Needs = {
  readonly model: ReadStore;
  /** `admins` stays the same object until it changes; `principalTimeout` is in minutes. */
  readonly settings: () => { readonly admins: Admins; readonly principalTimeout: number };
  readonly now: () => number;
};

type Held = {
  readonly known: Known | undefined;
  readonly admins: Admins;
  readonly epoch: number;
  /**
   * How many changes of group mappings had been seen when the account was read; undefined: they do not concern the
   * account.
   */
  readonly mappings: number | undefined;
  readonly since: number;
};

/**
 * Keeps accounts with the rights that their groups, roles and mappings give, as the read models show them. An account
 * is kept for `principalTimeout` or until an event changes it. It is read again ahead of time while in use.
 */
export const principals = ({ model, settings, now }: Needs) => {
  const read = accountReader({ model, settings });
  const held = lruCache<Held>(20_000);
  const loading = new Map<string, Promise<Known | undefined>>();
  // If one of these numbers changes during a read, the result may be out of date.
  let epoch = 0;
  let mappings = 0;
  let accounts = 0;

  const timeoutMs = (): number => settings().principalTimeout * 60_000;

  /** Reads an account. It is kept unless an event has changed it meanwhile. */
  const readAndKeep = async (id: string): Promise<Known | undefined> => {
    const before = { epoch, mappings, accounts, admins: settings().admins };
    const found = await read(id);
    const known = found && !found.account.inactive ? found.known : undefined;
    const mapped = found?.known.mapped === true;
    const moved = before.epoch !== epoch || (mapped && before.mappings !== mappings) || before.accounts !== accounts;
    if (!moved)
      held.set(id, { known, admins: before.admins, epoch, mappings: mapped ? mappings : undefined, since: now() });
    return known;
  };

  /** Reads an account; callers that come while it is being read share the result. */
  const load = (id: string): Promise<Known | undefined> => {
    const under = loading.get(id);
    if (under) return under;
    const work = readAndKeep(id).finally(() => {
      if (loading.get(id) === work) loading.delete(id);
    });
    loading.set(id, work);
    return work;
  };

  /** The kept account; undefined if an event has changed it. */
  const unchanged = (id: string): Held | undefined => {
    const known = held.get(id);
    if (known?.epoch !== epoch || known.admins !== settings().admins) return undefined;
    return known.mappings === undefined || known.mappings === mappings ? known : undefined;
  };

  return {
    /** The account from memory, if it is still valid; does not wait. */
    kept: (id: string): Known | undefined => {
      const held = unchanged(id);
      const left = held ? held.since + timeoutMs() - now() : 0;
      if (!held || left <= 0) return undefined;
      if (left < timeoutMs() / 2) load(id).catch(() => undefined);
      return held.known;
    },
    /** The account from memory, if no event has changed it, however long ago it was read. */
    everSince: (id: string): Known | undefined => unchanged(id)?.known,
    /** Reads the account from the read models; undefined: no such account, or an inactive one. */
    load,
    /** Drops everything. */
    clear: (): void => {
      epoch++;
      loading.clear();
    },
    /** Call with an event whose documents can be read: drops the accounts that it may change. */
    onEvent: ({ stream }: Pick<Recorded, 'stream'>): void => {
      const { category, id } = splitStream(stream);
      if (category === 'group' || category === 'role') epoch++;
      else if (category === 'groupMapping') mappings++;
      else if (category === 'account') {
        accounts++;
        held.delete(id);
      } else return;
      // Callers from now on must not get the result of a read that began before the event.
      loading.clear();
    },
  };
};

export type Principals = ReturnType<typeof principals>;
