import type { Kind } from './engine/kinds.ts';
import * as list from './list.ts';

/** All kinds but packages and projects, which need to know these kinds. */
export const kinds: readonly Kind[] = Object.values<Kind>(list);

const byCategory = new Map(kinds.map((kind) => [kind.of.category, kind]));

export const kindOf = (category: string): Kind | undefined => byCategory.get(category);
