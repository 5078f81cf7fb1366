import { type Actor, type Gbac, mayName, seesAll } from '../../domain/engine/core.ts';
import type { Collection, Projection } from './define.ts';
import { keyOf, parkedSpec } from './parked.ts';
import type { Change, CollectionSpec, Entry, Query, ReadModel } from './port.ts';

const groupsPrefix = 'groups:';
const bothPrefix = 'both:';
const ownerPrefix = 'owner:';
const eitherPrefix = 'either:';
const followedPrefix = 'followed:';
const onlyPrefix = 'only:';

/** The parts of an actor that decide about guards. */
export type Reader = Pick<Actor, 'id' | 'admin' | 'groups' | 'only'>;

const sorted = (names: readonly string[]): string => JSON.stringify([...new Set(names)].sort());

/** The guard of a document with access lists: the sorted names of those who may read it; undefined: everybody. */
export const listsGuard = ({ read, write, accounts }: Gbac): string | undefined => {
  const ofGroups = read.length + write.length === 0 ? [] : [groupsPrefix + sorted([...read, ...write])];
  if (!accounts || accounts.read.length + accounts.write.length === 0) return ofGroups[0];
  const ofAccounts = [...accounts.read, ...accounts.write].map(ownerGuard);
  return eitherPrefix + sorted([...ofGroups, ...ofAccounts]);
};

/** The guard of a document that follows another one, if there is or was such a document; else everybody may read it. */
export const followedGuard = ({ collection }: Pick<Collection, 'collection'>, id: string): string =>
  `${followedPrefix}${collection}:${id}`;

/** The guard of a document that only an account itself and admins may read. */
export const ownerGuard = (account: string): string => ownerPrefix + account;

/** The guard of a document that is hidden from a caller who may name only other resources of the kind. */
export const onlyGuard = (kind: string, id: string): string => `${onlyPrefix}${kind}:${id}`;

/** The guard of a document whose readers are those of another document. */
export const documentGuard = ({ collection }: Pick<Collection, 'collection'>, id: string): string =>
  `${collection}:${id}`;

/** The guard of a document that a caller may read only if all of these guards allow it; without any: everybody. */
export const allGuards = (all: readonly (string | undefined)[]): string | undefined => {
  const [first, ...others] = all.filter((guard) => guard !== undefined);
  return others.length === 0 ? first : bothPrefix + JSON.stringify([first, ...others]);
};

type Guards = Pick<ReadModel, 'guard'>;

/**
 * The guard by which a document is judged, whatever time is asked for: the one that it has now or, if it is deleted or
 * parked, that it had last (docs/behaviour/access.md). null: everybody may read it; undefined: there never was such a
 * document, or it is retired.
 */
export const lastGuard = (model: Guards, collection: string, id: string): string | null | undefined => {
  const now = model.guard(collection, id);
  if (now !== undefined) return now;
  const key = keyOf(collection, id);
  const parked = model.guard(parkedSpec.name, key);
  // One that was parked after its deletion had no guard any more.
  const last = parked == null ? model.guard(goneSpec.name, key) : undefined;
  return last === undefined ? parked : last;
};

/**
 * Makes the function that tells whether an actor may read a document with a given guard, as of now. Nobody may read a
 * document that follows one which never was.
 */
export const mayReadGuard = (actor: Reader, model: Guards) => {
  const may = (guard: string): boolean => {
    if (guard.startsWith(groupsPrefix))
      return (
        actor.admin ||
        (JSON.parse(guard.slice(groupsPrefix.length)) as string[]).some((name) => actor.groups.includes(name))
      );
    if (guard.startsWith(ownerPrefix)) return actor.admin || guard.slice(ownerPrefix.length) === actor.id;
    if (guard.startsWith(bothPrefix)) return (JSON.parse(guard.slice(bothPrefix.length)) as string[]).every(may);
    if (guard.startsWith(eitherPrefix)) return (JSON.parse(guard.slice(eitherPrefix.length)) as string[]).some(may);
    if (guard.startsWith(onlyPrefix)) {
      const [, kind = '', ...id] = guard.split(':');
      return mayName(actor, kind, id.join(':'));
    }
    const isFollowed = guard.startsWith(followedPrefix);
    const key = isFollowed ? guard.slice(followedPrefix.length) : guard;
    const colon = key.indexOf(':');
    const next = lastGuard(model, key.slice(0, colon), key.slice(colon + 1));
    return next == null ? next === null || isFollowed : may(next);
  };
  return may;
};

/** The part of a query that leaves out what the actor may not read. */
export const readableBy = (actor: Reader, model: Guards): Pick<Query, 'may'> =>
  seesAll(actor) ? {} : { may: mayReadGuard(actor, model) };

/**
 * The collection of the last guards of documents that were deleted. An entry's id is `<collection>/<id>`. It stays when
 * the document is made anew, and is written again when that one is deleted. A retired document has none: it keeps its guard
 * as long as it is there.
 */
export const goneSpec: CollectionSpec = { name: 'gone', sorts: ['name'], filters: [] };

/** Keeps the last guards of the documents that were deleted since the last drain. */
export const newGone = () => {
  const newlyGone = new Map<string, Entry>();
  return {
    note: ({ collection, guard }: Projection, id: string, last: unknown, revision: number): void => {
      if (!guard) return;
      const key = keyOf(collection, id);
      const entry = { id: key, text: '{}', revision, sorts: { name: key }, filters: {} };
      const own = guard(last);
      newlyGone.set(key, own === undefined ? entry : { ...entry, guard: own });
    },
    reset: (): void => newlyGone.clear(),
    *drain(): Generator<Change> {
      for (const [id, entry] of newlyGone) yield { collection: goneSpec.name, id, entry };
      newlyGone.clear();
    },
  };
};
