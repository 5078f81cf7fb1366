import type { Collection } from '../../projections/engine/define.ts';
import type { Tools } from '../engine/define.ts';
import { unknownNames } from '../engine/references.ts';

const longest = 256;

/** The n-th candidate for a name: "x", "x (2)", "x (3)", cut to the longest name. */
const numbered = (name: string, n: number): string => {
  if (n === 1) return name;
  const suffix = ` (${n})`;
  // The cut may leave half of a surrogate pair.
  return name.slice(0, longest - suffix.length).replace(/[\ud800-\udbff]$/, '') + suffix;
};

/**
 * Returns a function that gives a free name: the first of "x", "x (2)", "x (3)" that no document has. It gives each
 * name only once.
 */
export const freeNames = <Doc extends { readonly name: string }>(
  collection: Collection<Doc, string, 'name'>,
  tools: Tools,
) => {
  const given = new Set<string>();
  const searches = new Map<string, { next: number; free: string[] }>();
  return async (name: string): Promise<string> => {
    const search = searches.get(name) ?? { next: 1, free: [] };
    searches.set(name, search);
    for (;;) {
      const found = search.free.shift();
      if (found === undefined) {
        // Each query asks for more candidates than the one before. So a name with a thousand namesakes needs few
        // queries.
        const last = Math.min(search.next * 2, search.next + 500) - 1;
        const wanted = Array.from({ length: last - search.next + 1 }, (_, i) => numbered(name, search.next + i));
        search.free = [...(await unknownNames(tools, collection, wanted))];
        search.next = last + 1;
      } else if (!given.has(found)) {
        given.add(found);
        return found;
      }
    }
  };
};
