import type { Actor, Gbac } from '../../domain/engine/core.ts';
import type { Collection, Projection } from './define.ts';
import { keyOf, parkedSpec } from './parked.ts';
import type { Change, CollectionSpec, Entry, Query, ReadModel } from './port.ts';

const groupsPrefix = 'groups:';
const bothPrefix = 'both:';
const ownerPrefix = 'owner:';

/** The guard of a document with access lists: the sorted names of the groups that may read it; undefined: everybody. */
export const groupsGuard = ({ read, write }: Gbac): string | undefined =>
  read.length + write.length === 0
    ? undefined
    : groupsPrefix + JSON.stringify([...new Set([...read, ...write])].sort());

/** The guard of a document that only an account itself and admins may read. */
export const ownerGuard = (account: string): string => ownerPrefix + account;

/** The guard of a document that may be read by those who may read all of these documents; undefined: everybody. */
export const documentsGuard = (of: Pick<Collection, 'collection'>, ids: readonly string[]): string | undefined =>
  ids.length === 0 ? undefined : bothPrefix + JSON.stringify(ids.map((id) => documentGuard(of, id)));

/** The guard of a document whose readers are those of another document. */
export const documentGuard = ({ collection }: Pick<Collection, 'collection'>, id: string): string =>
  `${collection}:${id}`;

/** The guard of a document that a caller may read only if both guards allow it. */
export const bothGuards = (a: string | undefined, b: string | undefined): string | undefined =>
  a !== undefined && b !== undefined ? bothPrefix + JSON.stringify([a, b]) : (a ?? b);

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
export const mayReadGuard = (actor: Pick<Actor, 'id' | 'admin' | 'groups'>, model: Guards) => {
  const may = (guard: string): boolean => {
    if (guard.startsWith(groupsPrefix))
      return (
        actor.admin ||
        (JSON.parse(guard.slice(groupsPrefix.length)) as string[]).some((name) => actor.groups.includes(name))
      );
    if (guard.startsWith(ownerPrefix)) return actor.admin || guard.slice(ownerPrefix.length) === actor.id;
    if (guard.startsWith(bothPrefix)) return (JSON.parse(guard.slice(bothPrefix.length)) as string[]).every(may);
    const colon = guard.indexOf(':');
    const next = lastGuard(model, guard.slice(0, colon), guard.slice(colon + 1));
    return next === null || (next !== undefined && may(next));
  };
  return may;
};

/** The part of a query that leaves out what the actor may not read. */
export const readableBy = (actor: Pick<Actor, 'id' | 'admin' | 'groups'>, model: Guards): Pick<Query, 'may'> =>
  actor.admin ? {} : { may: mayReadGuard(actor, model) };

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
    drain: (changes: Change[]): void => {
      for (const [id, entry] of newlyGone) changes.push({ collection: goneSpec.name, id, entry });
      newlyGone.clear();
    },
  };
};
