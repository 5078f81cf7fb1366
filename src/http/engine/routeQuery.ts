import { defined } from '../../domain/engine/defined.ts';
import type { Collection } from '../../projections/engine/define.ts';
import { type ListFields, listQueryParser, queryParser } from './query.ts';
import type { ListRoute, Route } from './route.ts';

/** The fields of a route that describe its list. */
type Listing = Pick<ListRoute, 'query' | 'order' | 'limit'> & { readonly list: Pick<Collection, 'sorts' | 'filters'> };

/** True if the route answers a list. */
export const isListing = (route: Route): route is Route & Listing => 'list' in route && route.list !== undefined;

/** The sort fields, filter fields and defaults of a route's list. */
export const listFieldsOf = ({ list, order, limit }: Listing): ListFields =>
  defined({ sorts: Object.keys(list.sorts), filters: Object.keys(list.filters), order, limit });

/** The parser of a route's query parameters. */
export const queryOf = ({ query = {} }: Pick<Route, 'query'>) => queryParser(query);

/** The parser of a list route's query parameters. */
export const listQueryOf = (route: Listing) => listQueryParser(route.query ?? {}, listFieldsOf(route));
