import { lruCache } from '@automation-platform/concurrency';
import type { Admins } from '../../domain/authorization/admins.ts';
import { groupMappingId } from '../../domain/group-mappings/groupMappings.ts';
import type { Node } from '../../node.ts';
import { type Account, accounts, credentials, credentialTag } from '../../projections/authorization/accounts.ts';
import { groups as allGroups, type Group } from '../../projections/authorization/groups.ts';
import { roles as allRoles } from '../../projections/authorization/roles.ts';
import type { Collection } from '../../projections/engine/define.ts';
import { documentOf, documentsOf } from '../../projections/engine/documents.ts';
import { refuseParked } from '../../projections/engine/parked.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { groupMappings } from '../../projections/group-mappings/groupMappings.ts';
import { type EventNotice, type Recorded, splitStream } from '../../store/event.ts';
import { type Known, type LoginSettings, type Principal, principalOf } from './principal.ts';
import { type Memberships, waysOf } from './ways.ts';

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
export const principals = (model: ReadStore, settings: () => LoginSettings, now: () => number) => {
  const read = accountReader(model, settings);
  const cache = lruCache<Held>(20_000);
  const loading = new Map<string, Promise<Known | undefined>>();
  // An account that was kept at other numbers is read again.
  let epoch = 0;
  let mappings = 0;

  const timeoutMs = (): number => settings().principalTimeout * 60_000;

  /** Reads an account. It is kept if `isCurrent` says afterwards that no event has changed it meanwhile. */
  const readAndKeep = async (id: string, isCurrent: () => boolean): Promise<Known | undefined> => {
    const { admins } = settings();
    const found = await read(id);
    const known = found && !found.account.inactive ? found.known : undefined;
    const isMapped = found?.known.mapped === true;
    if (isCurrent()) cache.set(id, { known, admins, epoch, mappings: isMapped ? mappings : undefined, since: now() });
    return known;
  };

  /** Reads an account; callers that come while it is being read share the result. */
  const load = (id: string): Promise<Known | undefined> => {
    const under = loading.get(id);
    if (under) return under;
    const isCurrent = (): boolean => loading.get(id) === work;
    const work = readAndKeep(id, isCurrent).finally(() => {
      if (isCurrent()) loading.delete(id);
    });
    loading.set(id, work);
    return work;
  };

  /** The kept account; undefined if an event has changed it. */
  const unchanged = (id: string): Held | undefined => {
    const cacheEntry = cache.get(id);
    if (cacheEntry?.epoch !== epoch || cacheEntry.admins !== settings().admins) return undefined;
    return cacheEntry.mappings === undefined || cacheEntry.mappings === mappings ? cacheEntry : undefined;
  };

  return {
    /** The account from memory, if it is still valid; does not wait. */
    fromCache: (id: string): Known | undefined => {
      const cache = unchanged(id);
      const restMs = cache ? cache.since + timeoutMs() - now() : 0;
      if (!cache || restMs <= 0) return undefined;
      if (restMs < timeoutMs() / 2) load(id).catch(() => undefined);
      return cache.known;
    },
    /** The account from memory, if no event has changed it, however long ago it was read. */
    everSince: (id: string): Known | undefined => unchanged(id)?.known,
    /** Reads the account from the read models; undefined: no such account, or an inactive one. */
    load,
    /** The account as the read models show it, with the ways to its rights; no principal if it is inactive. */
    rightsOf: async (id: string) => {
      const found = await read(id);
      const principal = found?.account.inactive ? undefined : found?.known.principal;
      return found && { principal, ...waysOf(found, settings().admins) };
    },
    /** Drops everything. */
    clear: (): void => {
      epoch++;
      loading.clear();
    },
    /** Call with an event whose documents can be read: drops the accounts that it may change. */
    onEvent: ({ stream }: Pick<Recorded, 'stream'>): void => {
      const { category, id } = splitStream(stream);
      if (category === 'account') {
        cache.delete(id);
        loading.delete(id);
        return;
      }
      if (category === 'group' || category === 'role') epoch++;
      else if (category === 'groupMapping') mappings++;
      else return;
      // Callers from now on must not get the result of a read that began before the event.
      loading.clear();
    },
  };
};

export type Principals = ReturnType<typeof principals>;

/** Reads accounts with the rights that their groups, roles and mappings give, as the read models show them. */
const accountReader = (model: ReadStore, settings: () => { readonly admins: Admins }) => {
  const named = async <Doc>(of: Collection<Doc>, names: readonly string[]): Promise<readonly Doc[]> => {
    const ids = await Promise.all(names.map((name) => model.idsNamed(of.collection, name)));
    return documentsOf(model, of, ids.flat());
  };

  /** The groups, and the groups of which they are members, at any depth. */
  const withAllAbove = async (names: readonly string[]): Promise<Group[]> => {
    const found = new Map<string, Group>();
    const visited = new Set(names);
    for (let next = [...visited]; next.length > 0; ) {
      const level = await named(allGroups, next);
      for (const group of level) found.set(group.name, group);
      next = level.flatMap(({ memberOf }) => memberOf).filter((name) => !visited.has(name) && visited.add(name));
    }
    return [...found.values()];
  };

  const mappingsOf = ({ provenance, externalGroups }: Account) =>
    documentsOf(
      model,
      groupMappings,
      externalGroups.map((name) => groupMappingId(provenance, name)),
    );

  /** Gives undefined if there is no such account. */
  return async (id: string): Promise<(Memberships & { readonly known: Known }) | undefined> => {
    const [account, credential] = await Promise.all([
      documentOf(model, accounts, id),
      documentOf(model, credentials, id),
    ]);
    if (!account || !credential) {
      await refuseParked(model, accounts.collection, id);
      return undefined;
    }
    const mappings = await mappingsOf(account);
    const groups = await withAllAbove([
      ...account.memberOf,
      ...mappings.flatMap(({ platformGroups }) => platformGroups),
    ]);
    const roles = await named(allRoles, [
      ...new Set([...account.assignedRoles, ...groups.flatMap(({ assignedRoles }) => assignedRoles)]),
    ]);
    return {
      account,
      mappings,
      groups,
      roles,
      known: {
        principal: principalOf({ account, groups, roles, admins: settings().admins }),
        credential: credentialTag(credential),
        deactivated: credential.deactivated ?? 0,
        mapped: account.externalGroups.length > 0,
        isProvided: credential.provider !== undefined,
      },
    };
  };
};

const concerningAll = new Set(['group', 'role', 'provider']);

/** Categories of the streams whose events change who may log in, or what they may do. */
export const concerning = new Set([...concerningAll, 'account', 'groupMapping', 'login', 'token']);

/**
 * Keeps positions: up to which changes of accounts, groups, roles and group mappings are stored in the log, and up to
 * which this node has shown them. Between the two, cached accounts may be out of date: after a change of an account that
 * one alone, so that first logins make nobody else wait. `onUntold` is called when the read models have advanced and
 * `onShown` was not called for each event.
 */
export const accountChanges = (caughtUp: Node['settled'], onUntold: () => void) => {
  let stored = 0;
  let storedForAll = 0;
  let storedMappings = 0;
  let projected = 0;
  /** The positions of changes of single accounts that may not be shown yet. */
  const changed = new Map<string, number>();

  return {
    /** True if changes of this account, or of groups, roles or providers, are stored and not yet shown. */
    awaited: (account: string): boolean => storedForAll > projected || (changed.get(account) ?? 0) > projected,
    /** True if changes of group mappings are stored and not yet shown. */
    mappingsAwaited: (): boolean => storedMappings > projected,
    /**
     * Waits until the read models show all changes of accounts that the log had at the start or this node has stored
     * since.
     */
    upToDate: async (): Promise<void> => {
      const target = stored;
      await caughtUp(target);
      if (target <= projected) return;
      onUntold();
      projected = target;
      for (const [id, position] of changed) if (position <= target) changed.delete(id);
    },
    /** Call with each event as soon as it is stored. */
    onStored: ({ stream, position }: EventNotice): void => {
      if (position <= projected) return;
      const { category, id } = splitStream(stream);
      if (category === 'account') changed.set(id, position);
      else if (concerningAll.has(category)) storedForAll = Math.max(storedForAll, position);
      else if (category === 'groupMapping') storedMappings = Math.max(storedMappings, position);
      else return;
      stored = Math.max(stored, position);
    },
    /** Call with each event once its documents can be read. */
    onShown: ({ stream, position }: EventNotice): void => {
      projected = position;
      const { category, id } = splitStream(stream);
      if (category === 'account' && (changed.get(id) ?? 0) <= position) changed.delete(id);
    },
  };
};

export type AccountChanges = ReturnType<typeof accountChanges>;

const sameName = ({ username }: Principal['actor'], account: Known | undefined): Known | undefined =>
  account?.principal.actor.username === username ? account : undefined;

/**
 * An account that was verified before. A login goes on as long as `credential` stays the same; a token, which outlives the
 * password, as long as `deactivated` does.
 */
export type Proof =
  | { readonly account: string; readonly credential: string }
  | { readonly account: string; readonly deactivated: number };

const holds = (proof: Proof, { credential, deactivated }: Known): boolean =>
  'credential' in proof ? credential === proof.credential : deactivated === proof.deactivated;

/** Gives accounts that were verified before, if they are unchanged; else undefined. */
export const verifiedAccounts = (accounts: Principals, changes: AccountChanges) => {
  /** The account from memory; does not wait. `everSince`: however long ago it was read. */
  const keptAs = (proof: Proof, everSince = false): Known | undefined => {
    if (changes.awaited(proof.account)) return undefined;
    const cachedAccount = everSince ? accounts.everSince(proof.account) : accounts.fromCache(proof.account);
    if (!cachedAccount || !holds(proof, cachedAccount)) return undefined;
    return cachedAccount.mapped && changes.mappingsAwaited() ? undefined : cachedAccount;
  };

  /** The account as the read models show it now. */
  const loadAs = async (proof: Proof): Promise<Known | undefined> => {
    const loadedAccount = await accounts.load(proof.account);
    return loadedAccount && holds(proof, loadedAccount) ? loadedAccount : undefined;
  };

  return {
    keptAs,
    loadAs,
    /** True if the account is known to have another credential since. Reads only memory. */
    isRefuted: (proof: Proof): boolean => {
      const account = accounts.everSince(proof.account);
      return account !== undefined && !holds(proof, account);
    },
    /** Like `keptAs`, for a caller who sent the account's name: undefined if the name has changed. */
    keptLike: ({ principal: { actor }, credential }: Known, everSince = false): Known | undefined =>
      sameName(actor, keptAs({ account: actor.id, credential }, everSince)),
    /** Like `loadAs`, for a caller who sent the account's name: undefined if the name has changed. */
    loadLike: async ({ principal: { actor }, credential }: Known): Promise<Known | undefined> =>
      sameName(actor, await loadAs({ account: actor.id, credential })),
  };
};

export type VerifiedAccounts = ReturnType<typeof verifiedAccounts>;
