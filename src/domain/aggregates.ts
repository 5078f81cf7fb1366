import * as all from './all.ts';
import type { Aggregate } from './engine/core.ts';

/** All kinds of streams. */
export const aggregates: readonly Aggregate[] = Object.values(all);
