import { RequestError, refuseFaults } from './requestError.ts';

/** A resource that refers to another: its kind and its name. `stream`: its own, which answers do not show. */
export type Referrer = { readonly kind: string; readonly name: string; readonly stream?: string };

/** Replaces the name of a referrer that the actor may not see. */
export const hidden = '(hidden)';

/** The group names and role names in a request that do not exist. */
export type Unknown = { readonly groups: readonly string[]; readonly roles: readonly string[] };

/** Throws `not_found` with all unknown groups and roles, if there are any. */
export const refuseUnknown = ({ groups, roles }: Unknown): void => {
  refuseFaults('not_found', [
    ...groups.map((name) => ({ message: `No group is named ${JSON.stringify(name)}`, path: '/memberOf', name })),
    ...roles.map((name) => ({ message: `No role is named ${JSON.stringify(name)}`, path: '/assignedRoles', name })),
  ]);
};

/** Throws `not_found` with all unknown groups of the list at `path`, if there are any. */
export const refuseUnknownGroups = (unknown: readonly string[], path: string): void => {
  if (unknown.length > 0)
    throw new RequestError('not_found', `No such groups: ${unknown.join(', ')}`, {
      faults: unknown.map((name) => ({ message: `No group is named ${JSON.stringify(name)}`, path, name })),
    });
};

/** Throws `not_found` with all ids at `path` for which the actor can see no `what`, if there are any. */
export const refuseUnknownIds = (ids: readonly string[], what: string, path: string, all = `${what}s`): void => {
  if (ids.length > 0)
    throw new RequestError('not_found', `No such ${all}: ${ids.join(', ')}`, {
      faults: ids.map((id) => ({ message: `No ${what} has the id ${JSON.stringify(id)}`, path, id })),
    });
};

/** Throws `forbidden` with all ids at `path` of what the actor may see and not change, if there are any. */
export const refuseClosed = (ids: readonly string[], what: string, path: string): void => {
  if (ids.length > 0)
    throw new RequestError('forbidden', `You may see these ${what}s, but not change them: ${ids.join(', ')}`, {
      faults: ids.map((id) => ({ message: `You may not change this ${what}`, path, id })),
    });
};

/**
 * Throws `conflict` with the referrers, if there are any. `what` is the rejected change: deleted or renamed. Of each
 * kind, hidden ones are named once: nobody counts what they may not see.
 */
export const refuseReferred = (all: readonly Referrer[], what: string): void => {
  const referrers = all.filter(
    ({ kind, name }, n) => name !== hidden || n === all.findIndex((one) => one.kind === kind && one.name === hidden),
  );
  if (referrers.length === 0) return;
  const faults = referrers.map(({ kind, name }) => ({
    message: `The ${kind} ${JSON.stringify(name)} refers to it`,
    kind,
    name,
  }));
  const named = referrers.map(({ kind, name }) => `the ${kind} ${JSON.stringify(name)}`).join(', ');
  throw new RequestError('conflict', `It cannot be ${what}: ${named} refer${referrers.length === 1 ? 's' : ''} to it`, {
    faults,
  });
};
