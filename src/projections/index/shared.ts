import type { Entry } from '../engine/port.ts';

type Fields = Pick<Entry, 'id' | 'sorts' | 'filters'>;

const none: readonly string[] = Object.freeze([]);
const noFilters: Entry['filters'] = Object.freeze({});
/** How many values of a field are remembered. A field with more, such as a name, has few that are the same. */
const mostValues = 1000;

/**
 * Makes the entries of a collection share what is the same: there may be millions. The values of a filter field are one
 * list for all entries that have them. A text that an entry has several times is kept once.
 */
export const shared = <E extends Fields>() => {
  const lists = new Map<string, Map<string, readonly string[]>>();

  const listOf = (field: string, values: readonly string[]): readonly string[] => {
    const [value] = values;
    if (value === undefined) return none;
    if (values.length > 1) return values;
    const known = lists.get(field) ?? new Map<string, readonly string[]>();
    lists.set(field, known);
    const list = known.get(value);
    if (list) return list;
    if (known.size < mostValues) known.set(value, values);
    return values;
  };

  const filtersOf = ({ filters }: E): Entry['filters'] => {
    let found: Record<string, readonly string[]> | undefined;
    for (const field in filters) {
      found ??= {};
      found[field] = listOf(field, filters[field] ?? none);
    }
    return found ?? noFilters;
  };

  const sortsOf = ({ id, sorts }: E, filters: Entry['filters']): Entry['sorts'] => {
    const found: Record<string, string> = {};
    for (const field in sorts) {
      const value = sorts[field] ?? '';
      const same = value === id ? id : filters[field]?.[0];
      found[field] = same === value ? same : value;
    }
    return found;
  };

  return (entry: E): E => {
    const filters = filtersOf(entry);
    return { ...entry, filters, sorts: sortsOf(entry, filters) };
  };
};
