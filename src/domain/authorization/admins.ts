/** Members of which groups are admins: names, or names with their provenance. Empty: the group `admins`. */
export type Admins = readonly (string | { readonly group: string; readonly provenance?: string | undefined })[];

/** The names of groups that the list gives. */
export const adminNames = (admins: Admins): readonly string[] =>
  (admins.length > 0 ? admins : ['admins']).map((item) => (typeof item === 'string' ? item : item.group));

/** Whether members of the group are admins by the list. */
export const givesAdmin = (admins: Admins, group: { readonly name: string; readonly provenance: string }): boolean =>
  (admins.length > 0 ? admins : ['admins']).some((item) =>
    typeof item === 'string'
      ? item === group.name
      : item.group === group.name && (item.provenance === undefined || item.provenance === group.provenance),
  );
