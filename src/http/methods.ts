import { type CollectionIndex, collectionIndex } from '../projections/collectionIndex.ts';
import type { Entry } from '../projections/port.ts';
import type { AreaRows } from './route.ts';
import { fullPathOf } from './router.ts';

/** A row as operation 1 lists it. `service` rows are not listed. */
export type Method = { readonly name: string; readonly provenance: string; readonly route: { readonly path: string; readonly verb: string; readonly fullPath: string } };

const methodIn = (area: AreaRows) => (row: AreaRows['rows'][number]): Method => ({
  name: row.name,
  provenance: area.area,
  route: { path: row.path, verb: row.method.toUpperCase(), fullPath: fullPathOf(area, row) },
});

/** The methods of the API: the route table itself. */
export const methodsOf = (areas: readonly AreaRows[]): readonly Method[] =>
  areas.filter(({ area }) => area !== 'service').flatMap((area) => area.rows.map(methodIn(area)));

/** By what methods are sorted and filtered. */
export const methodList = {
  sorts: { name: ({ name }: Method) => name },
  filters: { name: ({ name }: Method) => name, provenance: ({ provenance }: Method) => provenance, deprecated: () => 'false' },
};

/** The methods in the order and with the filters of all lists. */
export const methodIndex = (areas: readonly AreaRows[]): CollectionIndex<Entry> => {
  const index = collectionIndex<Entry>({ name: 'methods', sorts: Object.keys(methodList.sorts), filters: Object.keys(methodList.filters) });
  for (const area of areas) {
    if (area.area === 'service') continue;
    for (const row of area.rows) {
      const method = methodIn(area)(row);
      index.put({
        id: `${method.provenance}/${method.name}`, revision: 0, text: JSON.stringify(method),
        sorts: { name: method.name },
        filters: { name: [method.name], provenance: [method.provenance], deprecated: [String(row.deprecated === true)] },
      });
    }
  }
  return index;
};
