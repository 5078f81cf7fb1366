import { LRUCache } from 'lru-cache';
import type { Admins } from '../../domain/authorization/admins.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { accountReader } from './accountReader.ts';
import type { Known } from './principal.ts';

type Needs = {
  readonly model: ReadStore;
  /** `admins` is the same list as long as it has not changed; `principalTimeout` in minutes. */
  readonly settings: () => { readonly admins: Admins; readonly principalTimeout: number };
  readonly now: () => number;
};

type Held = {
  readonly known: Known | undefined;
  readonly admins: Admins;
  readonly epoch: number;
  /** Of the group mappings; undefined: they do not concern the account. */
  readonly mappings: number | undefined;
  readonly since: number;
};

/**
 * Accounts with all that follows from their groups, roles and mappings, as the read models show them. Kept for
 * `principalTimeout` and until an event changes them, and renewed ahead of time while in use.
 */
export const principals = ({ model, settings, now }: Needs) => {
  const read = accountReader({ model, settings });
  const held = new LRUCache<string, Held>({ max: 20_000 });
  const loading = new Map<string, Promise<Known | undefined>>();
  // What was read while one of these moved may be from before.
  let epoch = 0;
  let mappings = 0;
  let accounts = 0;

  const timeoutMs = (): number => settings().principalTimeout * 60_000;

  /** Reads an account, and keeps it unless an event has changed it meanwhile. */
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

  /** All who ask for an account while it is being read are given the same. */
  const load = (id: string): Promise<Known | undefined> => {
    const under = loading.get(id);
    if (under) return under;
    const work = readAndKeep(id).finally(() => {
      if (loading.get(id) === work) loading.delete(id);
    });
    loading.set(id, work);
    return work;
  };

  /** What no event has changed. */
  const unchanged = (id: string): Held | undefined => {
    const known = held.get(id);
    if (known?.epoch !== epoch || known.admins !== settings().admins) return undefined;
    return known.mappings === undefined || known.mappings === mappings ? known : undefined;
  };

  return {
    /** What is known without waiting, if it is still so. */
    kept: (id: string): Known | undefined => {
      const held = unchanged(id);
      const left = held ? held.since + timeoutMs() - now() : 0;
      if (!held || left <= 0) return undefined;
      if (left < timeoutMs() / 2) load(id).catch(() => undefined);
      return held.known;
    },
    /** The same however long ago it was read. */
    everSince: (id: string): Known | undefined => unchanged(id)?.known,
    /** From the read models as they are; undefined: no such account, or an inactive one. */
    load,
    /** Drops everything. */
    clear: (): void => {
      epoch++;
      loading.clear();
    },
    /** Drops what an event that is readable now changes. */
    onEvent: ({ stream }: Pick<Recorded, 'stream'>): void => {
      const { category, id } = splitStream(stream);
      if (category === 'group' || category === 'role') epoch++;
      else if (category === 'groupMapping') mappings++;
      else if (category === 'account') {
        accounts++;
        held.delete(id);
      } else return;
      // Whoever asks from now on must not be given what is being read.
      loading.clear();
    },
  };
};

export type Principals = ReturnType<typeof principals>;
