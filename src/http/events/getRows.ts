import { projections } from '../../projections/all.ts';
import type { Projection } from '../../projections/engine/define.ts';
import type { AreaRoutes, Common } from '../engine/route.ts';

/** A row with method GET that shows a resource. */
export type GetRow = {
  readonly area: string;
  readonly row: Pick<Common, 'name' | 'access'>;
  readonly shows: Projection;
};

/** The last parts of a path are the furthest from the resource: `/automations/:id/export` is below `/automations/:id`. */
const depth = (path: string): number => path.split('/').length;

/**
 * The GET row of each category: the one with the shortest path that shows one document, else the list. A category that
 * has neither is not in the map.
 */
export const getRows = (areas: readonly AreaRoutes[]): ReadonlyMap<string, GetRow> => {
  const found = new Map<string, GetRow & { readonly rank: number }>();
  const offer = (rank: number, { of }: Projection, row: GetRow): void => {
    if (rank < (found.get(of.category)?.rank ?? Infinity)) found.set(of.category, { ...row, rank });
  };
  for (const { area, routes } of areas) {
    for (const row of routes) {
      const one = 'get' in row ? row.get : undefined;
      const shown = one ?? ('run' in row ? row.shows : undefined);
      if (shown) offer(depth(row.path), shown, { area, row, shows: shown });
      const listed = 'list' in row && row.method === 'get' ? projectionListed(row.list) : undefined;
      if (listed) offer(Number.MAX_SAFE_INTEGER, listed, { area, row, shows: listed });
    }
  }
  return found;
};

const projectionListed = (list: unknown): Projection | undefined => projections.find((each) => each === list);
