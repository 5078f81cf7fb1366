const atOnce = 100;

/** Works on the items, 100 at a time: the next ones once these are done. What they append shares its writes to the disk. */
export const inGroups = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  for (let from = 0; from < items.length; from += atOnce) await Promise.all(items.slice(from, from + atOnce).map(work));
};
