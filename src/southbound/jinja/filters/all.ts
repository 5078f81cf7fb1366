import type { Filter, Filters } from './define.ts';
import { htmlFilters } from './html.ts';
import { numberFilters } from './numbers.ts';
import { selectFilters } from './select.ts';
import { defaultFilter, sequenceFilters } from './sequences.ts';
import { textFilters } from './texts.ts';

const all: Filters = {
  ...htmlFilters,
  ...numberFilters,
  ...selectFilters,
  ...sequenceFilters,
  ...textFilters,
  d: defaultFilter,
};

/** Jinja2's filters by name. */
export const filters: ReadonlyMap<string, Filter> = new Map(Object.entries(all));
