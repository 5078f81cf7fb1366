import { PythonError } from './errors.ts';
import { type Order, ordered } from './values/compare.ts';
import { str } from './values/print.ts';
import { type Run, textOf, truthy, type Value } from './values/values.ts';

const versionError = (message: string): PythonError => new PythonError('AnsibleFilterError', message);
const invalid = (text: string): PythonError => versionError(`invalid version number '${text}'`);

/** Numbers and words: `15.2(4)M3` is 15, 2, `(`, 4, `)M`, 3. Python reads at most 4,300 digits as a number. */
const loose = (text: string): Value[] =>
  (text.match(/\d+|[a-z]+|[^\da-z.]+/g) ?? []).map((part) => (/^\d{1,4300}$/.test(part) ? BigInt(part) : part));

/** Two or three numbers, and `a` or `b` with a number, which comes before the version without. */
const strict = (text: string): Value[] => {
  const form = /^(\d{1,4300})\.(\d{1,4300})(?:\.(\d{1,4300}))?(?:([ab])(\d{1,4300}))?\n?$/;
  const [, major, minor, patch = '0', letter, number = '0'] = form.exec(text) ?? [];
  if (major === undefined || minor === undefined) throw invalid(text);
  return [BigInt(major), BigInt(minor), BigInt(patch), letter === undefined, letter ?? '', BigInt(number)];
};

/** A number comes before a word. */
const identifier = (part: string): Value => [!/^\d+$/.test(part), /^\d+$/.test(part) ? BigInt(part) : part];

/** Semantic Versioning 2.0.0 */
const semantic = (text: string): Value[] => {
  const form = /^(\d+)\.(\d+)\.(\d+)(?:-([\dA-Za-z.-]+))?(?:\+([\dA-Za-z.-]+))?\n?$/;
  const [, major, minor, patch, before, build = 'none'] = form.exec(text) ?? [];
  const parts = before?.split('.') ?? [];
  const numbers = [major, minor, patch].filter((part) => part !== undefined);
  const wrong = [...numbers, ...parts].some((part) => /^$|^0\d+$|^\d{4301}/.test(part));
  if (numbers.length < 3 || wrong || build.split('.').includes('')) throw invalid(text);
  return [...numbers.map(BigInt), before === undefined, parts.map(identifier)];
};

/** How versions of each type are read: as lists in the order of the versions. */
const readers: ReadonlyMap<string, (text: string) => Value[]> = new Map([
  ['loose', loose],
  ['strict', strict],
  ['semver', semantic],
  ['semantic', semantic],
]);

type Holds = (run: Run, a: Value[], b: Value[]) => boolean;

// Versions that are not equal must have an order, also where only equality is asked.
const same: Holds = (run, a, b) => {
  const before = ordered(run, '<', a, b);
  return !before && !ordered(run, '>', a, b);
};
const isOrdered =
  (order: Order): Holds =>
  (run, a, b) =>
    ordered(run, order, a, b);

const operators: ReadonlyMap<string, Holds> = new Map<string, Holds>([
  ...['==', '=', 'eq'].map((name) => [name, same] as const),
  ...['!=', '<>', 'ne'].map((name) => [name, (run: Run, a: Value[], b: Value[]) => !same(run, a, b)] as const),
  ...['<', 'lt'].map((name) => [name, isOrdered('<')] as const),
  ...['<=', 'le'].map((name) => [name, isOrdered('<=')] as const),
  ...['>', 'gt'].map((name) => [name, isOrdered('>')] as const),
  ...['>=', 'ge'].map((name) => [name, isOrdered('>=')] as const),
]);

const readerOf = (run: Run, exact: Value, type: Value) => {
  if (exact !== null && type !== null) throw versionError("Cannot specify both 'strict' and 'version_type'");
  const name = truthy(exact) ? 'strict' : 'loose';
  const reader = readers.get(truthy(type) ? (textOf(type) ?? '') : name);
  if (reader) return reader;
  throw versionError(`Invalid version type (${str(run, type)}). Must be one of ${[...readers.keys()].join(', ')}`);
};

const needVersion = (run: Run, version: Value): string => {
  if (!truthy(version)) throw versionError('A version to compare cannot be empty');
  const text = str(run, version);
  run.budget.make(text.length);
  return text;
};

/** Ansible's comparison of versions: a filter in its early versions, a test in later ones. */
export const versionCompare = {
  parameters: ['version', 'operator?', 'strict?', 'version_type?'],
  call: (
    run: Run,
    value: Value,
    version: Value,
    operator: Value = 'eq',
    exact: Value = null,
    type: Value = null,
  ): boolean => {
    const read = readerOf(run, exact, type);
    const [a, b] = [needVersion(run, value), needVersion(run, version)];
    const holds = operators.get(textOf(operator) ?? '');
    if (!holds)
      throw versionError(
        `Invalid operator type (${str(run, operator)}). Must be one of ${[...operators.keys()].join(', ')}`,
      );
    return holds(run, read(a), read(b));
  },
};
