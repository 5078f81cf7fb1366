import { PythonError, valueError } from '../errors.ts';
import type { Given } from '../values/arguments.ts';
import { escaped, repr, str } from '../values/print.ts';
import { charactersOf, isMarkup, type Run, type Text, type Value } from '../values/values.ts';
import { formatValue } from './spec.ts';

/** Yields the steps in a field's name after its first part: `.attribute` and `[key]`. */
const steps = function* (path: string): Generator<readonly ['.' | '[', string]> {
  let i = 0;
  while (i < path.length) {
    if (path[i] === '.') {
      const end = path.slice(i + 1).search(/[.[]/);
      const name = end < 0 ? path.slice(i + 1) : path.slice(i + 1, i + 1 + end);
      if (name === '') throw valueError('Empty attribute in format string');
      yield ['.', name];
      i += 1 + name.length;
    } else {
      const end = path.indexOf(']', i);
      if (path[i] !== '[') throw valueError("Only '.' or '[' may follow ']' in format field specifier");
      if (end < 0) throw valueError("Missing ']' in format string");
      if (end === i + 1) throw valueError('Empty attribute in format string');
      yield ['[', path.slice(i + 1, end)];
      i = end + 1;
    }
  }
};

const isNumber = (text: string): boolean => /^\d+$/.test(text);

/** Returns a function that finds the value of a field by its name. Fields without a name are numbered. */
const fieldsOf = (run: Run, { args, kwargs }: Given): ((name: string) => Value) => {
  let automatic = 0;
  let manual = false;
  const firstOf = (written: string): string => {
    if (written === '') {
      if (manual) throw valueError('cannot switch from manual field specification to automatic field numbering');
      return String(automatic++);
    }
    if (isNumber(written)) {
      if (automatic > 0) throw valueError('cannot switch from automatic field numbering to manual field specification');
      manual = true;
    }
    return written;
  };
  const startOf = (first: string): Value => {
    const start = isNumber(first) ? args[Number(first)] : kwargs.get(first);
    if (start !== undefined) return start;
    if (!isNumber(first)) throw new PythonError('KeyError', `'${first}'`);
    throw new PythonError('IndexError', `Replacement index ${first} out of range for positional args tuple`);
  };
  return (name) => {
    const end = name.search(/[.[]/);
    let value = startOf(firstOf(end < 0 ? name : name.slice(0, end)));
    if (end < 0) return value;
    for (const [how, part] of steps(name.slice(end)))
      value = how === '.' ? run.attribute(value, part) : run.item(value, isNumber(part) ? BigInt(part) : part);
    return value;
  };
};

const converted = (run: Run, value: Value, conversion: string | undefined): Value => {
  switch (conversion) {
    case undefined:
      return value;
    case 's':
      return str(run, value);
    case 'r':
    case 'a':
      return repr(run, value);
    default:
      throw valueError(`Unknown conversion specifier ${conversion}`);
  }
};

/** The index after the bracket that closes the one at `start`. */
const closingOf = (text: string, start: number): number => {
  let open = 1;
  let end = start + 1;
  for (; end < text.length && open > 0; end++) {
    if (text[end] === '{') open++;
    else if (text[end] === '}') open--;
  }
  if (open === 0) return end;
  throw valueError(end === start + 1 ? "Single '{' encountered in format string" : "expected '}' before end of string");
};

const fieldForm = /^([^!:{}[\]]*(?:\[[^\]]*\][^!:{}[\]]*)*)(?:!(.))?(?::(.*))?$/su;

/** text.format(*args, **kwargs). Fields can read the same attributes as templates. A safe text escapes the values. */
export const strFormat = (run: Run, self: Text, callArgs: Given): string => {
  const field = fieldsOf(run, callArgs);
  const formatField = (name: string, conversion: string | undefined, spec: string): string => {
    run.budget.step();
    const value = converted(run, field(name), conversion);
    if (!isMarkup(self)) return formatValue(run, value, spec);
    if (isMarkup(value) && spec !== '') throw valueError('Unsupported format specification for Markup.');
    return escaped(run, isMarkup(value) ? value : formatValue(run, value, spec)).text;
  };
  const expand = (text: string, depth: number): string => {
    if (depth < 0) throw valueError('Max string recursion exceeded');
    let result = '';
    let i = 0;
    while (i < text.length) {
      const character = text.charAt(i);
      let end = i;
      if ((character === '{' || character === '}') && text[i + 1] === character) {
        result += character;
        end = i + 2;
      } else if (character === '}') {
        throw valueError("Single '}' encountered in format string");
      } else if (character === '{') {
        end = closingOf(text, i);
        const [, name, conversion, spec] = fieldForm.exec(text.slice(i + 1, end - 1)) ?? [];
        if (name === undefined) throw valueError("expected ':' after conversion specifier");
        result += formatField(name, conversion, spec === undefined ? '' : expand(spec, depth - 1));
      } else {
        while (end < text.length && text[end] !== '{' && text[end] !== '}') end++;
        result += text.slice(i, end);
      }
      i = end;
    }
    run.budget.make(result.length);
    return result;
  };
  return expand(charactersOf(self), 1);
};
