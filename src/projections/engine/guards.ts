import type { Actor, Gbac } from '../../domain/engine/core.ts';
import type { Collection } from './define.ts';

const groupsPrefix = 'groups:';
const bothPrefix = 'both:';

/** Guard of a document with access lists: the names of the groups that may read it, sorted; undefined: everybody. */
export const groupsGuard = ({ read, write }: Gbac): string | undefined =>
  read.length + write.length === 0
    ? undefined
    : groupsPrefix + JSON.stringify([...new Set([...read, ...write])].sort());

/** Guard of a document that follows another one. */
export const documentGuard = ({ collection }: Collection, id: string): string => `${collection}:${id}`;

/** Guard of a document that only those may read whom both let pass. */
export const bothGuards = (a: string | undefined, b: string | undefined): string | undefined =>
  a !== undefined && b !== undefined ? bothPrefix + JSON.stringify([a, b]) : (a ?? b);

/**
 * Whether an actor may read what a guard protects. `guardOf` tells the guard of a document: null when everybody may
 * read it, undefined when there is no such document; what follows a document that is not there, nobody may read.
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
