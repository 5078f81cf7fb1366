import type { Projection } from './engine/define.ts';
import * as list from './list.ts';

/** All projections. Commands of an aggregate answer with the document of its first one. */
export const projections: readonly Projection[] = Object.values<Projection>(list).sort(
  (one, other) => Number(one.beside ?? false) - Number(other.beside ?? false),
);
