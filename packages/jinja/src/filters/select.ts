import { PythonError } from '../errors.ts';
import { ownAttribute } from '../values/access.ts';
import { needText } from '../values/arguments.ts';
import { each } from '../values/iterate.ts';
import { textRepr } from '../values/print.ts';
import {
  generator,
  type Kwargs,
  orElse,
  type Run,
  truthy,
  typeName,
  undefinedValue,
  type Value,
} from '../values/values.ts';
import { getter } from './attributes.ts';
import type { Filter, Filters } from './define.ts';

/**
 * A filter that keeps the items for which a test holds, or those for which it does not. With `byAttribute`, it tests an
 * attribute of the item.
 */
const choosing = (keep: boolean, byAttribute: boolean): Filter => ({
  all: (run: Run, value: Value, args: readonly Value[], kwargs: Kwargs) =>
    generator(
      `sync_do_${keep ? 'select' : 'reject'}${byAttribute ? 'attr' : ''}`,
      (function* () {
        if (!truthy(value)) return;
        const [path, ...afterPath] = args;
        if (byAttribute && path === undefined)
          throw new PythonError('FilterArgumentError', 'Missing parameter for attribute name');
        const [test, ...testArgs] = byAttribute ? afterPath : args;
        const get = byAttribute && path !== undefined ? getter(run, path) : (item: Value) => item;
        for (const item of each(run, value)) {
          const tested = get(item);
          if ((test === undefined ? truthy(tested) : run.test(test, tested, testArgs, kwargs)) === keep) yield item;
        }
      })(),
    ),
});

export const selectFilters: Filters = {
  select: choosing(true, false),
  reject: choosing(false, false),
  selectattr: choosing(true, true),
  rejectattr: choosing(false, true),
  map: {
    all: (run, value, args, kwargs) =>
      generator(
        'sync_do_map',
        (function* () {
          if (!truthy(value)) return;
          let change: (item: Value) => Value;
          const attribute = kwargs.get('attribute');
          if (args.length === 0 && attribute !== undefined) {
            const other = [...kwargs.keys()].find((name) => name !== 'attribute' && name !== 'default');
            if (other !== undefined)
              throw new PythonError('FilterArgumentError', `Unexpected keyword argument ${textRepr(other)}`);
            change = getter(run, attribute, kwargs.get('default'));
          } else {
            const [name, ...rest] = args;
            if (name === undefined) throw new PythonError('FilterArgumentError', 'map requires a filter argument');
            change = (item) => run.filter(name, item, rest, kwargs);
          }
          for (const item of each(run, value)) yield change(item);
        })(),
      ),
  },
  attr: {
    parameters: ['name'],
    call: (_run, value: Value, name: Value) =>
      orElse(ownAttribute(value, needText(name, 'attribute name')), () =>
        undefinedValue(`'${typeName(value)} object' has no attribute ${textRepr(needText(name))}`),
      ),
  },
};
