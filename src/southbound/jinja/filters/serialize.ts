import { PythonError, typeError } from '../errors.ts';
import { parseJson } from '../values/parseJson.ts';
import { isTuple, type Run, textOf, truthy, typeName, type Value } from '../values/values.ts';
import type { Filter, Filters } from './define.ts';
import { dumpJson, unitOf } from './json.ts';

const separatorsOf = (value: Value): readonly [string, string] | undefined => {
  if (value === null) return undefined;
  const [item, key, ...more] = (isTuple(value) ? value.items : Array.isArray(value) ? value : []).map(textOf);
  if (item === undefined || key === undefined || more.length > 0)
    throw typeError('separators must be two texts: between items, and behind a key');
  return [item, key];
};

const jsonOptions = ['indent?', 'sort_keys?', 'separators?', 'ensure_ascii?'];

type Options = { readonly indent: Value; readonly sort: Value; readonly separators: Value; readonly ascii: Value };

const json = (run: Run, value: Value, { indent, sort, separators, ascii }: Options): string =>
  dumpJson(run, value, {
    unit: unitOf(run, indent),
    sorted: truthy(sort),
    separators: separatorsOf(separators),
    ascii: truthy(ascii),
  });

const toJson: Filter = {
  parameters: jsonOptions,
  call: (run, value: Value, indent: Value = null, sort: Value = false, separators: Value = null, ascii: Value = true) =>
    json(run, value, { indent, sort, separators, ascii }),
};

const toNiceJson: Filter = {
  parameters: ['indent?', 'sort_keys?', 'ensure_ascii?'],
  call: (run, value: Value, indent: Value = 4n, sort: Value = true, ascii: Value = true) =>
    json(run, value, { indent, sort, separators: [',', ': '], ascii }),
};

const fromJson: Filter = {
  parameters: [],
  call: (run, value: Value) => {
    const text = textOf(value);
    if (text === undefined) throw typeError(`the JSON object must be str, bytes or bytearray, not ${typeName(value)}`);
    if (text.startsWith('\ufeff')) throw new PythonError('JSONDecodeError', 'Unexpected UTF-8 BOM');
    return parseJson(run, text);
  },
};

/** Ansible's filters for texts in JSON and YAML. */
export const serializeFilters: Filters = { to_json: toJson, to_nice_json: toNiceJson, from_json: fromJson };
