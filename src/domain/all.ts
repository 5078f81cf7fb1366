import type { Aggregate } from './engine/core.ts';
import * as list from './list.ts';

/** All kinds of streams. */
export const aggregates: readonly Aggregate[] = Object.values(list);

/** The topics of all streams. */
export const ownTopics: ReadonlySet<string> = new Set(aggregates.flatMap(({ evolve }) => Object.keys(evolve)));

/** Categories that the log itself uses beside the domain's: parts of large events, its identity, places of readers, keys. */
const unlinkedCategories: readonly string[] = ['payload', 'log', 'checkpoint', 'secret'];

/** The categories of the streams in which every event has a link to the one before it. */
export const linkedCategories: ReadonlySet<string> = new Set([...aggregates.map(({ category }) => category), 'digest']);

/** The categories of the platform's own streams. */
export const ownCategories: ReadonlySet<string> = new Set([...linkedCategories, ...unlinkedCategories]);
