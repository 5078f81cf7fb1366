import { within } from '../collections.ts';
import { jsonQuery } from '../jmespath/jsonQuery.ts';
import { addressFilters } from './addresses.ts';
import { dataFilters } from './data.ts';
import type { Filter, Filters } from './define.ts';
import { htmlFilters } from './html.ts';
import { numberFilters } from './numbers.ts';
import { patternFilters } from './patterns.ts';
import { selectFilters } from './select.ts';
import { defaultFilter, sequenceFilters } from './sequences.ts';
import { serializeFilters } from './serialize.ts';
import { textFilters } from './texts.ts';
import { valueFilters } from './values.ts';

const jinja: Filters = {
  ...htmlFilters,
  ...numberFilters,
  ...selectFilters,
  ...sequenceFilters,
  ...textFilters,
  d: defaultFilter,
};

/** Filters by name: those of Jinja2 and those of Ansible. If both have a name, the name means Ansible's filter. */
export const filters: ReadonlyMap<string, Filter> = new Map(
  Object.entries({
    ...jinja,
    ...within(['ansible.builtin'], { ...dataFilters, ...patternFilters, ...serializeFilters, ...valueFilters }),
    ...within(['community.general'], { json_query: jsonQuery }),
    ...within(['ansible.utils', 'ansible.netcommon'], addressFilters),
  }),
);
