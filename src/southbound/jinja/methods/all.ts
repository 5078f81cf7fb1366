import { type Builtin, invoke, type Methods } from '../values/arguments.ts';
import { type Value, isDict, isTuple, textOf, typeName } from '../values/values.ts';
import { dictMethods } from './dicts.ts';
import { listMethods, tupleMethods } from './lists.ts';
import { numberAttribute } from './numbers.ts';
import { strMethods } from './strings.ts';
import { safely } from './safeStrings.ts';

/** Methods that Python takes keywords for. */
const withKeywords = new Set(['split', 'rsplit', 'splitlines', 'expandtabs', 'sort', 'encode', 'to_bytes']);

const methodsOf = (value: Value): Methods | undefined =>
  textOf(value) !== undefined
    ? strMethods
    : Array.isArray(value)
      ? listMethods
      : isTuple(value)
        ? tupleMethods
        : isDict(value)
          ? dictMethods
          : undefined;

/** An attribute that values of this type have in Python, else undefined. */
export const methodOf = (value: Value, name: string): Value | undefined => {
  const method = methodsOf(value)?.get(name);
  if (!method) return numberAttribute(value, name);
  return {
    kind: 'thing',
    type: 'builtin_function_or_method',
    shown: () => `<built-in method ${name} of ${typeName(value)} object>`,
    call: (run, args, kwargs) => {
      if (name === 'format') return safely(run, value, name, () => method.call(run, value, args, kwargs));
      if (name === 'update' && isDict(value)) return method.call(run, value, args, kwargs);
      const bound = invokeWith(method, value);
      return safely(
        run,
        value,
        name,
        (given, named) => invoke(run, name, bound, given, named, withKeywords.has(name)),
        args,
        kwargs,
      );
    },
  };
};

const invokeWith = ({ parameters, call }: Builtin, self: Value): Builtin => ({
  parameters,
  call: (run, ...args) => call(run, self, ...args),
});
