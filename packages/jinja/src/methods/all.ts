import { type Builtin, type Given, invoke, type Methods } from '../values/arguments.ts';
import { isDict, isTuple, noKwargs, textOf, typeName, type Value } from '../values/values.ts';
import { dictMethods } from './dicts.ts';
import { listMethods, tupleMethods } from './lists.ts';
import { numberAttribute } from './numbers.ts';
import { safely } from './safeStrings.ts';
import { strMethods } from './strings.ts';

/** Methods that accept keyword arguments in Python. */
const withKeywords = new Set(['split', 'rsplit', 'splitlines', 'expandtabs', 'sort', 'encode', 'to_bytes']);

const methodsOf = (value: Value): Methods | undefined => {
  if (textOf(value) !== undefined) return strMethods;
  if (Array.isArray(value)) return listMethods;
  if (isTuple(value)) return tupleMethods;
  return isDict(value) ? dictMethods : undefined;
};

const noArguments: Given = { args: [], kwargs: noKwargs };

/** A method or attribute that values of this type have in Python; undefined if they have none of this name. */
export const methodOf = (value: Value, name: string): Value | undefined => {
  const method = methodsOf(value)?.get(name);
  if (!method) return numberAttribute(value, name);
  return {
    kind: 'thing',
    type: 'builtin_function_or_method',
    print: () => `<built-in method ${name} of ${typeName(value)} object>`,
    call: (run, args, kwargs) => {
      if (name === 'format')
        return safely(run, value, [name, () => method.call(run, value, args, kwargs)], noArguments);
      if (name === 'update' && isDict(value)) return method.call(run, value, args, kwargs);
      const bound = invokeWith(method, value);
      const invoked = (callArgs: Given): Value => invoke(run, [name, bound], callArgs, withKeywords.has(name));
      return safely(run, value, [name, invoked], { args, kwargs });
    },
  };
};

const invokeWith = ({ parameters, call }: Builtin, self: Value): Builtin => ({
  parameters,
  call: (run, ...args) => call(run, self, ...args),
});
