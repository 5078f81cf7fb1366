import { item } from '../values/access.ts';
import { needText } from '../values/arguments.ts';
import { isUndefined, type Run, textOf, type Value } from '../values/values.ts';

const partsOf = (path: Value): Value[] => {
  const text = textOf(path);
  if (text === undefined) return path === null ? [] : [path];
  return text.split('.').map((part) => (/^\d+$/.test(part) ? BigInt(part) : part));
};

/** Makes texts lower case. Other values stay unchanged. */
export const ignoreCase = (value: Value): Value => textOf(value)?.toLowerCase() ?? value;

/**
 * Returns a function that reads a path such as `a.b.0` of an item. If a part is undefined, `otherwise` takes its place,
 * unless `otherwise` is None.
 */
export const getter = (
  run: Run,
  path: Value,
  otherwise: Value = null,
  after: (value: Value) => Value = (value) => value,
): ((of: Value) => Value) => {
  const parts = partsOf(path);
  return (of) => {
    let value = of;
    for (const part of parts) {
      run.budget.step();
      value = item(run, value, part);
      if (otherwise !== null && isUndefined(value)) value = otherwise;
    }
    return after(value);
  };
};

/** The same for several paths with commas between them. The function returns a list. */
export const listGetter = (run: Run, paths: Value, after: (value: Value) => Value): ((of: Value) => Value) => {
  const text = textOf(paths);
  const getters = (text === undefined ? [paths] : needText(text).split(',')).map((path) =>
    getter(run, path, null, after),
  );
  return (of) => getters.map((get) => get(of));
};
