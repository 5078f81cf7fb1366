import { RequestError } from './requestError.ts';

/** Somebody that names a group or role: what it is and what it is called. */
export type Referrer = { readonly kind: string; readonly name: string };

/** Names that a request gives and nobody has, by what they were to name. */
export type Unknown = { readonly groups: readonly string[]; readonly roles: readonly string[] };

/** Throws `not_found`, naming all, if a request names groups or roles that are not there. */
export const refuseUnknown = ({ groups, roles }: Unknown): void => {
  const faults = [
    ...groups.map((name) => ({ message: `No group is named ${JSON.stringify(name)}`, path: '/memberOf', name })),
    ...roles.map((name) => ({ message: `No role is named ${JSON.stringify(name)}`, path: '/assignedRoles', name })),
  ];
  if (faults.length > 0)
    throw new RequestError('not_found', faults.map(({ message }) => message).join('; '), { faults });
};

/** Throws `not_found`, naming all, if the list of groups at `path` names some that nobody has. */
export const refuseUnknownGroups = (unknown: readonly string[], path: string): void => {
  if (unknown.length > 0)
    throw new RequestError('not_found', `No such groups: ${unknown.join(', ')}`, {
      faults: unknown.map((name) => ({ message: `No group is named ${JSON.stringify(name)}`, path, name })),
    });
};

/** Throws `not_found`, naming all, if there are ids at `path` that no `what` has, as far as the actor may see. */
export const refuseUnknownIds = (ids: readonly string[], what: string, path: string): void => {
  if (ids.length > 0)
    throw new RequestError('not_found', `No such ${what}s: ${ids.join(', ')}`, {
      faults: ids.map((id) => ({ message: `No ${what} has the id ${JSON.stringify(id)}`, path, id })),
    });
};

/** Throws `conflict`, naming the referrers, if there are any. `what`: deleted or renamed. */
export const refuseReferred = (referrers: readonly Referrer[], what: string): void => {
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
