import { typeError } from './errors.ts';
import { bind } from './values/arguments.ts';
import { equal } from './values/compare.ts';
import { itemAt, iterator, knownLength } from './values/iterate.ts';
import {
  callable,
  type Kwargs,
  orElse,
  type Run,
  type Thing,
  tuple,
  undefinedValue,
  type Value,
} from './values/values.ts';

/**
 * A running loop. `next` returns the next item, or JavaScript's undefined at the end. `variable` is the variable `loop` of
 * the body.
 */
export type Loop = { readonly next: () => Value | undefined; readonly variable: Thing };

/** The items of a loop. A template may look at items after the current one. */
type Items = {
  readonly next: () => Value | undefined;
  readonly peek: () => Value | undefined;
  /** The number of all items. The caller has taken `passed` of them. */
  readonly count: (passed: number) => number;
};

const itemsOf = (run: Run, over: Value): Items => {
  const rest = iterator(run, over);
  const ahead: Value[] = [];
  let length: number | undefined;
  const peek = (): Value | undefined => {
    if (ahead.length === 0) {
      const item = rest();
      if (item === undefined) return undefined;
      ahead.push(item);
    }
    return ahead[0];
  };
  const count = (passed: number): number => {
    length ??= knownLength(over);
    if (length === undefined) {
      for (let item = rest(); item !== undefined; item = rest()) {
        run.budget.make(1);
        ahead.push(item);
      }
      length = passed + ahead.length;
    }
    return length;
  };
  return { next: () => (ahead.length > 0 ? ahead.shift() : rest()), peek, count };
};

/**
 * Starts a loop over the items of a value. `depth` is 0 for a loop that does not recurse. `again` renders a recursive
 * loop over other items.
 */
export const loopOver = (run: Run, over: Value, depth: number, again: ((over: Value) => Value) | undefined): Loop => {
  const items = itemsOf(run, over);
  let index = -1;
  let current: Value | undefined;
  let before: Value | undefined;
  let lastChange: Value | undefined;
  const count = (): number => items.count(index + 1);

  const method = (name: string, call: (args: readonly Value[]) => Value): Value =>
    callable('method', `<bound method LoopContext.${name}>`, (_run, args, kwargs) => {
      bind(
        name,
        args.map(() => 'value'),
        args,
        kwargs,
      );
      return call(args);
    });

  const attributes: ReadonlyMap<string, () => Value> = new Map<string, () => Value>([
    ['index', () => BigInt(index + 1)],
    ['index0', () => BigInt(index)],
    ['revindex', () => BigInt(count() - index)],
    ['revindex0', () => BigInt(count() - index - 1)],
    ['first', () => index === 0],
    ['last', () => items.peek() === undefined],
    ['length', () => BigInt(count())],
    ['depth', () => BigInt(depth + 1)],
    ['depth0', () => BigInt(depth)],
    ['previtem', () => orElse(before, () => undefinedValue('there is no previous item'))],
    ['nextitem', () => orElse(items.peek(), () => undefinedValue('there is no next item'))],
    [
      'cycle',
      () =>
        method('cycle', (args) => {
          if (args.length === 0) throw typeError('no items for cycling given');
          return itemAt(args, index % args.length);
        }),
    ],
    [
      'changed',
      () =>
        method('changed', (args) => {
          const now = tuple(args);
          if (lastChange !== undefined && equal(run, lastChange, now)) return false;
          lastChange = now;
          return true;
        }),
    ],
  ]);

  return {
    next: () => {
      const item = items.next();
      if (item === undefined) return undefined;
      index++;
      before = current;
      current = item;
      return item;
    },
    variable: {
      kind: 'thing',
      type: 'LoopContext',
      print: () => `<LoopContext ${index + 1}/${count()}>`,
      length: count,
      get: (name) => attributes.get(name)?.(),
      call: (_run: Run, args: readonly Value[], kwargs: Kwargs) => {
        const [inner = null] = bind('loop', ['iterable'], args, kwargs);
        if (!again) throw typeError("The loop must have the 'recursive' marker to be called recursively.");
        return again(inner);
      },
    },
  };
};
