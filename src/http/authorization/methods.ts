import { lruCache } from '@automation-platform/concurrency';
import type { Method as LogMethod } from '@automation-platform/esdb-server';
import type { Entry } from '../../projections/engine/port.ts';
import { type CollectionIndex, collectionIndex } from '../../projections/index/collectionIndex.ts';
import type { Access, Principal } from '../authentication/principal.ts';
import type { AreaRoutes, Route } from '../engine/route.ts';
import { fullPathOf } from '../engine/router.ts';

/** A route as operation 1 lists it. */
export type Method = {
  readonly name: string;
  readonly provenance: string;
  readonly route: { readonly path: string; readonly verb: string; readonly fullPath: string };
  readonly deprecated: boolean;
};

const logArea = 'event-log';

const logMethod = (name: LogMethod, path: string): Method => ({
  name,
  provenance: logArea,
  route: { path, verb: 'POST', fullPath: `/event_store.client.streams.Streams${path}` },
  deprecated: false,
});

// The methods of the log. Only admins, and roles that list them, may call them. Their routes are gRPC calls.
const logMethods: readonly Method[] = [
  logMethod('readLog', '/Read'),
  logMethod('writeLog', '/BatchAppend'),
  logMethod('writeStreams', '/Append'),
];

/** True if a caller may use a method of the log over EventStoreDB's protocol. */
export const mayLog = ({ may }: Pick<Principal, 'may'>, method: LogMethod): boolean =>
  may(logArea, { name: method, access: [] });

/** Names of methods, by area. */
type Names = Readonly<Record<string, readonly string[]>>;

const allCallable = (areas: readonly AreaRoutes[], { may }: Pick<Principal, 'may'>): Names => {
  const allowed = new Map<string, readonly string[]>();
  for (const of of areas) {
    const rows = rowsOf(of).filter((row) => may(of.area, row));
    if (of.area !== 'service' && rows.length > 0)
      allowed.set(of.area, [...(allowed.get(of.area) ?? []), ...rows.map(({ name }) => name)]);
  }
  const log = logMethods.map(({ name }) => name).filter((name) => may(logArea, { name, access: [] }));
  return Object.fromEntries(log.length > 0 ? [...allowed, [logArea, log]] : allowed);
};

const namesByRights = new WeakMap<readonly AreaRoutes[], ReturnType<typeof lruCache<Names>>>();

/** Names of the methods that a caller may call, by area; areas without any are left out. Made once for equal rights. */
export const callable = (areas: readonly AreaRoutes[], caller: Pick<Principal, 'may' | 'rights'>): Names => {
  const byRights = namesByRights.get(areas) ?? lruCache<Names>(1_000);
  namesByRights.set(areas, byRights);
  const names = byRights.get(caller.rights) ?? allCallable(areas, caller);
  byRights.set(caller.rights, names);
  return names;
};

/** The methods of the API: all routes except `service` routes, and the methods of the log. */
export const methodsOf = (areas: readonly AreaRoutes[]): readonly Method[] => [
  ...areas
    .filter(({ area }) => area !== 'service')
    .flatMap((area) =>
      rowsOf(area).map(({ name, route }) => ({
        name,
        provenance: area.area,
        route: { path: route.path, verb: route.method.toUpperCase(), fullPath: fullPathOf(area, route) },
        deprecated: route.deprecated === true,
      })),
    ),
  ...logMethods,
];

type Row = { readonly name: string; readonly access: Access; readonly route: Route };

const rowsByArea = new WeakMap<AreaRoutes, readonly Row[]>();

/** The methods of an area, with the route of each, and without aliases. Several routes may have the same alternative. */
const rowsOf = (area: AreaRoutes): readonly Row[] => {
  const rows = rowsByArea.get(area) ?? makeRows(area);
  rowsByArea.set(area, rows);
  return rows;
};

const makeRows = ({ routes }: AreaRoutes): readonly Row[] => {
  const rows = new Map<string, Row>();
  for (const route of routes.filter(({ alias }) => !alias))
    for (const { name, access } of route.alternative ? [route, route.alternative] : [route])
      if (!rows.has(name)) rows.set(name, { name, access, route });
  return [...rows.values()];
};

/** The sort fields and filter fields of methods. */
export const methodList = {
  sorts: { name: ({ name }: Method) => name },
  filters: {
    name: ({ name }: Method) => name,
    provenance: ({ provenance }: Method) => provenance,
    deprecated: ({ deprecated }: Method) => String(deprecated),
  },
};

/** The index of the methods, with the order and filters of all lists. */
export const methodIndex = (areas: readonly AreaRoutes[]): CollectionIndex<Entry> => {
  const index = collectionIndex<Entry>({
    name: 'methods',
    sorts: Object.keys(methodList.sorts),
    filters: Object.keys(methodList.filters),
  });
  for (const method of methodsOf(areas)) {
    const { name, provenance } = method;
    index.put({
      id: `${provenance}/${name}`,
      revision: 0,
      text: JSON.stringify(method),
      sorts: { name },
      filters: Object.fromEntries(Object.entries(methodList.filters).map(([field, value]) => [field, [value(method)]])),
    });
  }
  return index;
};
