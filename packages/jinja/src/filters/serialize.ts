import { PythonError, typeError } from '../errors.ts';
import { needInt, toIndex } from '../values/arguments.ts';
import { parseJson } from '../values/parseJson.ts';
import { isTuple, type Kwargs, type Run, textOf, truthy, typeName, type Value } from '../values/values.ts';
import { dumpYaml } from '../yaml/dump.ts';
import type { Filter, Filters } from './define.ts';
import { dumpJson, unitOf } from './json.ts';

const separatorsOf = (value: Value): readonly [string, string] | undefined => {
  if (value === null) return undefined;
  const list = Array.isArray(value) ? value : [];
  const [item, key, ...more] = (isTuple(value) ? value.items : list).map(textOf);
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

/** A keyword argument of `yaml.dump` that is a number. 0 stands for the default. */
const numberOf = (value: Value | undefined): number =>
  value === undefined || value === null ? 0 : toIndex(needInt(value));

const yamlOptions = ['indent', 'width', 'sort_keys', 'default_flow_style', 'explicit_start'];

const yaml = (run: Run, value: Value, kwargs: Kwargs): string => {
  for (const name of kwargs.keys()) {
    if (!yamlOptions.includes(name)) throw typeError(`'${name}' is not supported: only ${yamlOptions.join(', ')}`);
  }
  const flow = kwargs.get('default_flow_style') ?? null;
  return dumpYaml(run, value, {
    indent: numberOf(kwargs.get('indent')),
    width: numberOf(kwargs.get('width')),
    sorted: truthy(kwargs.get('sort_keys') ?? true),
    flow: flow === null ? null : truthy(flow),
    start: truthy(kwargs.get('explicit_start') ?? false),
  });
};

// Ansible ignores other positional arguments, so they are ignored here, too.
const toYaml: Filter = { all: (run, value, _args, kwargs) => yaml(run, value, kwargs) };

const toNiceYaml: Filter = {
  all: (run, value, [indent = 4n], kwargs) => {
    if (kwargs.has('default_flow_style')) throw typeError("to_nice_yaml has no 'default_flow_style'");
    return yaml(run, value, new Map<string, Value>([['indent', indent], ...kwargs, ['default_flow_style', false]]));
  },
};

/** Ansible's filters that read and write JSON and YAML, by name. */
export const serializeFilters: Filters = {
  to_json: toJson,
  to_nice_json: toNiceJson,
  from_json: fromJson,
  to_yaml: toYaml,
  to_nice_yaml: toNiceYaml,
};
