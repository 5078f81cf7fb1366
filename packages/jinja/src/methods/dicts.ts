import { PythonError, typeError, valueError } from '../errors.ts';
import type { Builtin, Methods } from '../values/arguments.ts';
import { deleteKey, getKey, newDict, setKey } from '../values/dicts.ts';
import { each, itemAt, listOf } from '../values/iterate.ts';
import { repr } from '../values/print.ts';
import { type Dict, isDict, type Kwargs, orElse, type Run, tuple, type Value, type View } from '../values/values.ts';

/** Yields the pairs for dict() and update(), from a dict or from an iterable of pairs. */
const pairsOf = function* (run: Run, source: Value): Generator<readonly [Value, Value]> {
  if (isDict(source)) {
    yield* [...source.entries.values()];
    return;
  }
  let at = 0;
  for (const pair of each(run, source)) {
    let items: Value[];
    try {
      items = listOf(run, pair);
    } catch (error) {
      if (!(error instanceof PythonError && error.type === 'TypeError')) throw error;
      throw typeError(`cannot convert dictionary update sequence element #${at} to a sequence`);
    }
    if (items.length !== 2)
      throw valueError(`dictionary update sequence element #${at} has length ${items.length}; 2 is required`);
    at++;
    yield [itemAt(items, 0), itemAt(items, 1)];
  }
};

/** Adds the arguments of dict(...) or update(...) to a dict. */
export const merge = (run: Run, dict: Dict, args: readonly Value[], kwargs: Kwargs): void => {
  if (args.length > 1) throw typeError(`update expected at most 1 argument, got ${args.length}`);
  const add = (key: Value, value: Value): void => {
    run.budget.make(1);
    run.budget.step();
    setKey(dict, key, value);
  };
  if (args[0] !== undefined) for (const [key, value] of pairsOf(run, args[0])) add(key, value);
  for (const [key, value] of kwargs) add(key, value);
};

const view = (of: View['of']): Builtin => ({
  parameters: [],
  call: (_run, dict: Dict) => ({ kind: 'view', of, dict }),
});

/** Methods of dict. Those that change the dict do so in place. */
export const dictMethods: Methods = new Map(
  Object.entries({
    keys: view('keys'),
    values: view('values'),
    items: view('items'),
    get: {
      parameters: ['key', 'default?'],
      call: (_run, dict: Dict, key: Value, otherwise: Value = null) => orElse(getKey(dict, key), () => otherwise),
    },
    setdefault: {
      parameters: ['key', 'default?'],
      call: (run, dict: Dict, key: Value, otherwise: Value = null) => {
        const found = getKey(dict, key);
        if (found !== undefined) return found;
        run.budget.make(1);
        setKey(dict, key, otherwise);
        return otherwise;
      },
    },
    pop: {
      parameters: ['key', 'default?'],
      call: (run, dict: Dict, key: Value, otherwise?: Value) => {
        return orElse(deleteKey(dict, key), () =>
          orElse(otherwise, () => {
            throw new PythonError('KeyError', repr(run, key));
          }),
        );
      },
    },
    popitem: {
      parameters: [],
      call: (run, dict: Dict) => {
        run.budget.step(1 + (dict.entries.size >> 4));
        const last = [...dict.entries.values()].at(-1);
        if (!last) throw new PythonError('KeyError', "'popitem(): dictionary is empty'");
        deleteKey(dict, last[0]);
        return tuple(last);
      },
    },
    update: {
      parameters: [],
      call: (run, dict: Dict, args: readonly Value[], kwargs: Kwargs) => {
        merge(run, dict, args, kwargs);
        return null;
      },
    },
    copy: {
      parameters: [],
      call: (run, dict: Dict) => {
        run.budget.make(dict.entries.size);
        return newDict(dict.entries.values());
      },
    },
    clear: {
      parameters: [],
      call: (_run, dict: Dict) => {
        dict.entries.clear();
        return null;
      },
    },
    fromkeys: {
      parameters: ['keys', 'value?'],
      call: (run, _dict: Dict, keys: Value, value: Value = null) =>
        newDict(listOf(run, keys).map((key) => [key, value])),
    },
  } satisfies Record<string, Builtin>),
);
