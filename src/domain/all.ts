import type { Aggregate } from './engine/core.ts';
import * as list from './list.ts';

/** All kinds of streams. */
export const aggregates: readonly Aggregate[] = Object.values(list);
