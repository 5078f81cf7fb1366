import { RequestError } from '../engine/requestError.ts';

/**
 * The groups whose members are admins: names, or names with a provenance. If it is empty, that is the group `admins`.
 */
export type Admins = readonly (string | { readonly group: string; readonly provenance?: string | undefined })[];

/** The names of the groups in the list. */
export const adminNames = (admins: Admins): readonly string[] =>
  (admins.length > 0 ? admins : ['admins']).map((item) => (typeof item === 'string' ? item : item.group));

/** True if the list makes members of the group admins. */
export const givesAdmin = (admins: Admins, group: { readonly name: string; readonly provenance: string }): boolean =>
  (admins.length > 0 ? admins : ['admins']).some((item) =>
    typeof item === 'string'
      ? item === group.name
      : item.group === group.name && (item.provenance === undefined || item.provenance === group.provenance),
  );

/** Throws `conflict` if no admin would remain. */
export const refuseWithoutAdmin = ({ adminRemains }: { readonly adminRemains: boolean }): void => {
  if (!adminRemains)
    throw new RequestError('conflict', 'The last admin stays one: no active account would be left that is an admin');
};
