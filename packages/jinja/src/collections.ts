/** A table under its short names, and under its full names in Ansible's collections. */
export const within = <T>(collections: readonly string[], all: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(
    Object.entries(all).flatMap(([name, found]) =>
      [name, ...collections.map((collection) => `${collection}.${name}`)].map((full) => [full, found]),
    ),
  );

/** A name without its collection. */
export const shortName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
