import { type CollectionIndex, collectionIndex } from '../projections/collectionIndex.ts';
import type { Entry } from '../projections/port.ts';
import type { AreaRows, Row } from './route.ts';
import { fullPathOf } from './router.ts';

/** A row as operation 1 lists it. */
export type Method = { readonly name: string; readonly provenance: string; readonly route: { readonly path: string; readonly verb: string; readonly fullPath: string } };

type Listed = { readonly row: Row; readonly method: Method };

/** `service` rows are not listed. */
const listed = (areas: readonly AreaRows[]): readonly Listed[] =>
  areas.filter(({ area }) => area !== 'service').flatMap((area) => area.rows.map((row) => ({
    row,
    method: { name: row.name, provenance: area.area, route: { path: row.path, verb: row.method.toUpperCase(), fullPath: fullPathOf(area, row) } },
  })));

/** The methods of the API: the route table itself. */
export const methodsOf = (areas: readonly AreaRows[]): readonly Method[] => listed(areas).map(({ method }) => method);

/** By what methods are sorted and filtered. */
export const methodList = {
  sorts: { name: ({ method }: Listed) => method.name },
  filters: {
    name: ({ method }: Listed) => method.name,
    provenance: ({ method }: Listed) => method.provenance,
    deprecated: ({ row }: Listed) => String(row.deprecated === true),
  },
};

/** The methods in the order and with the filters of all lists. */
export const methodIndex = (areas: readonly AreaRows[]): CollectionIndex<Entry> => {
  const index = collectionIndex<Entry>({ name: 'methods', sorts: Object.keys(methodList.sorts), filters: Object.keys(methodList.filters) });
  for (const item of listed(areas)) {
    const { name, provenance } = item.method;
    index.put({
      id: `${provenance}/${name}`, revision: 0, text: JSON.stringify(item.method), sorts: { name },
      filters: Object.fromEntries(Object.entries(methodList.filters).map(([field, value]) => [field, [value(item)]])),
    });
  }
  return index;
};
