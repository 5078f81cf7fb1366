import { PythonError, typeError, valueError } from './errors.ts';
import { merge } from './methods/dicts.ts';
import { bind, needInt } from './values/arguments.ts';
import { newDict, setKey } from './values/dicts.ts';
import { itemAt } from './values/iterate.ts';
import { repr, textRepr } from './values/print.ts';
import { callable, type Thing, undefinedValue, type Value } from './values/values.ts';

const mostInRange = 100_000n;

const range = callable('type', "<class 'range'>", (_run, args, kwargs) => {
  const [first = null, second, by = 1n] = bind('range', ['start', 'stop?', 'step?'], args, kwargs, false);
  const start = second === undefined ? 0n : needInt(first);
  const stop = needInt(second === undefined ? first : second);
  const step = needInt(by);
  if (step === 0n) throw valueError('range() arg 3 must not be zero');
  const distance = step > 0n ? stop - start : start - stop;
  const size = step > 0n ? step : -step;
  const length = distance <= 0n ? 0n : (distance + size - 1n) / size;
  if (length > mostInRange)
    throw new PythonError(
      'OverflowError',
      `Range too big. The sandbox blocks ranges larger than MAX_RANGE (${mostInRange}).`,
    );
  return { kind: 'range', start, stop, step, length: Number(length) };
});

const dict = callable('type', "<class 'dict'>", (run, args, kwargs) => {
  const dict = newDict();
  merge(run, dict, args, kwargs);
  return dict;
});

const namespace = callable('type', "<class 'jinja2.utils.Namespace'>", (run, args, kwargs) => {
  const attributes = newDict();
  merge(run, attributes, args, kwargs);
  return {
    kind: 'thing',
    type: 'Namespace',
    print: () => `<Namespace ${repr(run, attributes)}>`,
    get: (name) => attributes.entries.get(name)?.[1],
    set: (name, value) => {
      run.budget.make(1);
      setKey(attributes, name, value);
    },
  };
});

const method = (name: string, call: () => Value): Value =>
  callable('method', `<bound method ${name}>`, (_run, args, kwargs) => {
    bind(name, [], args, kwargs);
    return call();
  });

const cycler = callable('type', "<class 'jinja2.utils.Cycler'>", (_run, args, kwargs) => {
  bind(
    'cycler',
    args.map(() => 'item'),
    args,
    kwargs,
  );
  if (args.length === 0) throw new PythonError('RuntimeError', 'at least one item has to be provided');
  let at = 0;
  const attributes: ReadonlyMap<string, () => Value> = new Map([
    ['current', () => itemAt(args, at)],
    [
      'next',
      () =>
        method('Cycler.next', () => {
          const item = itemAt(args, at);
          at = (at + 1) % args.length;
          return item;
        }),
    ],
    [
      'reset',
      () =>
        method('Cycler.reset', () => {
          at = 0;
          return null;
        }),
    ],
    ['pos', () => BigInt(at)],
  ]);
  return {
    kind: 'thing',
    type: 'Cycler',
    print: () => '<jinja2.utils.Cycler object>',
    get: (name) => attributes.get(name)?.(),
  };
});

const joiner = callable('type', "<class 'jinja2.utils.Joiner'>", (_run, args, kwargs) => {
  const [separator = ', '] = bind('joiner', ['sep?'], args, kwargs);
  let used = false;
  const thing: Thing = {
    kind: 'thing',
    type: 'Joiner',
    print: () => '<jinja2.utils.Joiner object>',
    get: (name) => {
      if (name === 'sep') return separator;
      return name === 'used' ? used : undefined;
    },
    call: () => {
      if (used) return separator;
      used = true;
      return '';
    },
  };
  return thing;
});

const lipsum = callable('function', '<function lipsum>', () => {
  throw typeError(`${textRepr('lipsum')} is not supported: the same template and variables give the same text`);
});

/** Undefined as in Jinja2; a call of it says why it is refused. */
const lookup = (name: string): Value =>
  undefinedValue(
    `'${name}' is undefined. Ansible's function is refused: a template reads no files, programs or addresses`,
  );

/** The names that every template knows, with their values. */
export const globals: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['range', range],
  ['dict', dict],
  ['namespace', namespace],
  ['cycler', cycler],
  ['joiner', joiner],
  ['lipsum', lipsum],
  ...['lookup', 'query', 'q'].map((name) => [name, lookup(name)] as const),
]);
