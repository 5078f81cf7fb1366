import { PythonError, valueError } from '../errors.ts';
import { type Builtin, bounds, type Methods, needInt, toIndex } from '../values/arguments.ts';
import { equal, sorted } from '../values/compare.ts';
import { itemAt, listOf } from '../values/iterate.ts';
import { repr } from '../values/print.ts';
import { isThing, noKwargs, type Run, type Thing, type Tuple, truthy, type Value } from '../values/values.ts';

const count = (run: Run, items: readonly Value[], item: Value): Value =>
  BigInt(items.filter((other) => equal(run, other, item)).length);

/** The first index of an item within the bounds, or -1. */
const indexOf = (run: Run, items: readonly Value[], item: Value, [from, to]: readonly [number, number]): number => {
  for (let i = from; i < to; i++) if (equal(run, itemAt(items, i), item)) return i;
  return -1;
};

const replaceAll = (list: Value[], items: readonly Value[]): null => {
  list.length = 0;
  for (const item of items) list.push(item);
  return null;
};

/** Methods of list. Those that change the list do so in place. */
export const listMethods: Methods = new Map(
  Object.entries({
    append: {
      parameters: ['item'],
      call: (run, list: Value[], item: Value) => {
        run.budget.make(1);
        list.push(item);
        return null;
      },
    },
    extend: {
      parameters: ['items'],
      call: (run, list: Value[], items: Value) => {
        for (const item of listOf(run, items)) list.push(item);
        return null;
      },
    },
    insert: {
      parameters: ['index', 'item'],
      call: (run, list: Value[], at: Value, item: Value) => {
        run.budget.make(1);
        run.budget.step(1 + (list.length >> 6));
        list.splice(toIndex(needInt(at)), 0, item);
        return null;
      },
    },
    pop: {
      parameters: ['index?'],
      call: (run, list: Value[], at?: Value) => {
        if (list.length === 0) throw new PythonError('IndexError', 'pop from empty list');
        const i = at === undefined ? -1 : toIndex(needInt(at));
        const from = i < 0 ? i + list.length : i;
        if (from < 0 || from >= list.length) throw new PythonError('IndexError', 'pop index out of range');
        run.budget.step(1 + ((list.length - from) >> 6));
        const item = itemAt(list, from);
        list.splice(from, 1);
        return item;
      },
    },
    remove: {
      parameters: ['item'],
      call: (run, list: Value[], item: Value) => {
        const at = list.findIndex((other) => equal(run, other, item));
        if (at < 0) throw valueError('list.remove(x): x not in list');
        list.splice(at, 1);
        return null;
      },
    },
    index: {
      parameters: ['item', 'start?', 'stop?'],
      call: (run, list: Value[], item: Value, start?: Value, stop?: Value) => {
        const at = indexOf(run, list, item, bounds(list.length, start, stop));
        if (at < 0) throw valueError(`${repr(run, item)} is not in list`);
        return BigInt(at);
      },
    },
    count: { parameters: ['item'], call: (run, list: Value[], item: Value) => count(run, list, item) },
    sort: {
      parameters: ['key?', 'reverse?'],
      call: (run, list: Value[], key?: Value, reverse?: Value) => {
        const by = key !== undefined && isThing(key) ? (key as Thing).call : undefined;
        return replaceAll(
          list,
          sorted(
            run,
            list,
            (item) => (by ? by(run, [item], noKwargs) : item),
            reverse !== undefined && truthy(reverse),
          ),
        );
      },
    },
    reverse: {
      parameters: [],
      call: (run, list: Value[]) => {
        run.budget.step(1 + (list.length >> 4));
        list.reverse();
        return null;
      },
    },
    copy: { parameters: [], call: (run, list: Value[]) => listOf(run, list) },
    clear: { parameters: [], call: (_run, list: Value[]) => replaceAll(list, []) },
  } satisfies Record<string, Builtin>),
);

/** Methods of tuple. */
export const tupleMethods: Methods = new Map(
  Object.entries({
    index: {
      parameters: ['item', 'start?', 'stop?'],
      call: (run, { items }: Tuple, item: Value, start?: Value, stop?: Value) => {
        const at = indexOf(run, items, item, bounds(items.length, start, stop));
        if (at < 0) throw valueError('tuple.index(x): x not in tuple');
        return BigInt(at);
      },
    },
    count: { parameters: ['item'], call: (run, { items }: Tuple, item: Value) => count(run, items, item) },
  } satisfies Record<string, Builtin>),
);
