import type { Actor, Gbac } from '../../domain/engine/core.ts';
import type { Collection } from './define.ts';
import type { Query } from './port.ts';

const groupsPrefix = 'groups:';
const bothPrefix = 'both:';

/** The guard of a document with access lists: the sorted names of the groups that may read it; undefined: everybody. */
export const groupsGuard = ({ read, write }: Gbac): string | undefined =>
  read.length + write.length === 0
    ? undefined
    : groupsPrefix + JSON.stringify([...new Set([...read, ...write])].sort());

/** The guard of a document whose readers are those of another document. */
export const documentGuard = ({ collection }: Pick<Collection, 'collection'>, id: string): string =>
  `${collection}:${id}`;

/** The guard of a document that a caller may read only if both guards allow it. */
export const bothGuards = (a: string | undefined, b: string | undefined): string | undefined =>
  a !== undefined && b !== undefined ? bothPrefix + JSON.stringify([a, b]) : (a ?? b);

/** The documents that a guard follows: their collections and ids. */
export const followedBy = (guard: string): readonly (readonly [collection: string, id: string])[] => {
  if (guard.startsWith(groupsPrefix)) return [];
  if (guard.startsWith(bothPrefix)) return (JSON.parse(guard.slice(bothPrefix.length)) as string[]).flatMap(followedBy);
  const colon = guard.indexOf(':');
  return [[guard.slice(0, colon), guard.slice(colon + 1)]];
};

/**
 * Makes the function that tells whether an actor may read a document with a given guard. `guardOf` gives the guard of a
 * document: null if everybody may read it, undefined if there is no such document. Nobody may read a document that
 * follows a missing one.
 */
export const mayReadGuard = (
  actor: Pick<Actor, 'admin' | 'groups'>,
  guardOf: (collection: string, id: string) => string | null | undefined,
) => {
  const may = (guard: string): boolean => {
    if (guard.startsWith(groupsPrefix))
      return (
        actor.admin ||
        (JSON.parse(guard.slice(groupsPrefix.length)) as string[]).some((name) => actor.groups.includes(name))
      );
    if (guard.startsWith(bothPrefix)) return (JSON.parse(guard.slice(bothPrefix.length)) as string[]).every(may);
    const colon = guard.indexOf(':');
    const next = guardOf(guard.slice(0, colon), guard.slice(colon + 1));
    return next === null || (next !== undefined && may(next));
  };
  return may;
};

/** The part of a query that leaves out what the actor may not read. */
export const readableBy = (
  actor: Pick<Actor, 'admin' | 'groups'>,
  guardOf: Parameters<typeof mayReadGuard>[1],
): Pick<Query, 'may'> => (actor.admin ? {} : { may: mayReadGuard(actor, guardOf) });
