import { LRUCache } from 'lru-cache';
import { type Admins, givesAdmin } from '../../domain/authorization/admins.ts';
import type { OpenTo } from '../../domain/authorization/groups.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { type GroupMapping, groupMappingId } from '../../domain/group-mappings/groupMappings.ts';
import type { Account } from '../../projections/authorization/accounts.ts';
import { type Credential, credentialTag } from '../../projections/authorization/credentials.ts';
import type { Group } from '../../projections/authorization/groups.ts';
import type { Role } from '../../projections/authorization/roles.ts';
import { refuseParked } from '../../projections/engine/parked.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { type Recorded, splitStream } from '../../store/event.ts';

/**
 * Who may call an operation. `open`: anybody; `login`: whoever is logged in; else admins, those with a role that lists
 * it, and members of these built-in groups. What `readers` may call stores nothing.
 */
export type Access = 'open' | 'login' | readonly OpenTo[];

/** The caller: who, and what they may do. */
export type Principal = {
  readonly actor: Actor;
  readonly firstname: string;
  readonly email: string;
  /** Names of roles, by whatever way the account has them. */
  readonly roles: readonly string[];
  readonly groups: readonly { readonly name: string; readonly provenance: string }[];
  /** Whether an operation of an area may be called. */
  readonly may: (area: string, operation: { readonly name: string; readonly access: Access }) => boolean;
};

type Needs = {
  readonly model: ReadStore;
  /** `admins` is the same list as long as it has not changed; `principalTimeout` in minutes. */
  readonly settings: () => { readonly admins: Admins; readonly principalTimeout: number };
  readonly now: () => number;
};

/** An account that may log in; `credential` changes with its password, `mapped`: group mappings concern it. */
export type Known = { readonly principal: Principal; readonly credential: string; readonly mapped: boolean };

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
  const held = new LRUCache<string, Held>({ max: 20_000 });
  const loading = new Map<string, Promise<Known | undefined>>();
  // What was read while one of these moved may be from before.
  let epoch = 0;
  let mappings = 0;
  let accounts = 0;

  const timeoutMs = (): number => settings().principalTimeout * 60_000;

  const named = async <T>(collection: string, names: readonly string[]): Promise<T[]> => {
    const ids = await Promise.all(names.map((name) => model.idsNamed(collection, name)));
    const entries = await model.getMany(collection, ids.flat());
    return entries.flatMap((entry) => (entry ? [JSON.parse(entry.text) as T] : []));
  };

  /** The groups, and those that they are members of, however far up. */
  const withAllAbove = async (names: readonly string[]): Promise<Group[]> => {
    const found = new Map<string, Group>();
    const asked = new Set(names);
    for (let next = [...asked]; next.length > 0; ) {
      const level = await named<Group>('groups', next);
      for (const group of level) found.set(group.name, group);
      next = level.flatMap(({ memberOf }) => memberOf).filter((name) => !asked.has(name) && asked.add(name));
    }
    return [...found.values()];
  };

  const mapped = async ({ provenance, externalGroups }: Account): Promise<string[]> => {
    const found = await model.getMany(
      'groupMappings',
      externalGroups.map((name) => groupMappingId(provenance, name)),
    );
    return found.flatMap((entry) => (entry ? (JSON.parse(entry.text) as GroupMapping).platformGroups : []));
  };

  const read = async (id: string): Promise<{ account: Account; known: Known } | undefined> => {
    const [entry, credential] = await Promise.all([model.get('accounts', id), model.get('credentials', id)]);
    if (!entry || !credential) {
      await refuseParked(model, 'accounts', id);
      return undefined;
    }
    const account = JSON.parse(entry.text) as Account;
    const groups = await withAllAbove([...account.memberOf, ...(await mapped(account))]);
    const roles = await named<Role>('roles', [
      ...new Set([...account.assignedRoles, ...groups.flatMap(({ assignedRoles }) => assignedRoles)]),
    ]);
    return {
      account,
      known: {
        principal: principalOf(account, groups, roles, settings().admins),
        credential: credentialTag(JSON.parse(credential.text) as Credential),
        mapped: account.externalGroups.length > 0,
      },
    };
  };

  const load = (id: string): Promise<Known | undefined> => {
    const under = loading.get(id);
    if (under) return under;
    const before = { epoch, mappings, accounts, admins: settings().admins };
    const work = (async () => {
      const found = await read(id);
      const known = found && !found.account.inactive ? found.known : undefined;
      const moved =
        before.epoch !== epoch || (found?.known.mapped && before.mappings !== mappings) || before.accounts !== accounts;
      if (!moved)
        held.set(id, {
          known,
          admins: before.admins,
          epoch,
          mappings: found?.known.mapped ? mappings : undefined,
          since: now(),
        });
      return known;
    })().finally(() => {
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

const principalOf = (account: Account, groups: readonly Group[], roles: readonly Role[], admins: Admins): Principal => {
  const names = groups.map(({ name }) => name);
  const admin = groups.some((group) => givesAdmin(admins, group));
  const everything = admin || names.includes('admins');
  const allowed = new Map<string, Set<string>>();
  for (const { provenance, name } of roles.flatMap(({ allowedMethods }) => allowedMethods))
    allowed.set(provenance, (allowed.get(provenance) ?? new Set()).add(name));
  return {
    actor: { id: account._id, username: account.username, provenance: account.provenance, groups: names, admin },
    firstname: account.firstname,
    email: account.email,
    roles: roles.map(({ name }) => name),
    groups: groups.map(({ name, provenance }) => ({ name, provenance })),
    may: (area, { name, access }) =>
      typeof access === 'string' ||
      everything ||
      access.some((group) => names.includes(group)) ||
      allowed.get(area)?.has(name) === true,
  };
};
