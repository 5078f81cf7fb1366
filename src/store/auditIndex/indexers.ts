import { found } from './found.ts';
import type { Indexer } from './indexer.ts';
import { times } from './times.ts';

/** All tables of the audit index. */
export const indexers: readonly Indexer[] = [times, found];
