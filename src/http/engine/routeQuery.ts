import { defined } from '../../domain/engine/defined.ts';
import type { Collection } from '../../projections/engine/define.ts';
import { type ListFields, listQueryParser, queryParser } from './query.ts';
import type { ListRoute, Route } from './route.ts';

/** What a route that answers a list says of it. */
type Listing = Pick<ListRoute, 'query' | 'order' | 'limit'> & { readonly list: Pick<Collection, 'sorts' | 'filters'> };

/** Whether a route answers a list. */
export const isListing = (route: Route): route is Route & Listing => 'list' in route && route.list !== undefined;

/** How the list of a route can be asked for. */
export const listFieldsOf = ({ list, order, limit }: Listing): ListFields =>
  defined({ sorts: Object.keys(list.sorts), filters: Object.keys(list.filters), order, limit });

/** The reader of a route's query parameters. */
export const queryOf = ({ query = {} }: Pick<Route, 'query'>) => queryParser(query);

/** The same of a route that answers a list. */
export const listQueryOf = (route: Listing) => listQueryParser(route.query ?? {}, listFieldsOf(route));
