import { PythonError, valueError } from '../errors.ts';
import { escaped, repr, str } from '../values/print.ts';
import { type Kwargs, type Run, type Value, isMarkup } from '../values/values.ts';
import { formatValue } from './spec.ts';

/** The rest of a field's name after its first part: `.attribute` and `[key]`. */
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

/** text.format(*args, **kwargs). Attributes are those that templates see; a safe text escapes what it takes in. */
export const strFormat = (run: Run, self: Value, format: string, args: readonly Value[], kwargs: Kwargs): string => {
  let automatic = 0;
  let manual = false;
  const field = (name: string): Value => {
    const end = name.search(/[.[]/);
    let first = end < 0 ? name : name.slice(0, end);
    if (first === '') {
      if (manual) throw valueError('cannot switch from manual field specification to automatic field numbering');
      first = String(automatic++);
    } else if (/^\d+$/.test(first)) {
      if (automatic > 0) throw valueError('cannot switch from automatic field numbering to manual field specification');
      manual = true;
    }
    const start = /^\d+$/.test(first) ? args[Number(first)] : kwargs.get(first);
    if (start === undefined)
      throw /^\d+$/.test(first)
        ? new PythonError('IndexError', `Replacement index ${first} out of range for positional args tuple`)
        : new PythonError('KeyError', `'${first}'`);
    let value = start;
    if (end >= 0)
      for (const [how, part] of steps(name.slice(end)))
        value = how === '.' ? run.attribute(value, part) : run.item(value, /^\d+$/.test(part) ? BigInt(part) : part);
    return value;
  };
  const shown = (name: string, conversion: string | undefined, spec: string): string => {
    run.budget.step();
    let value = field(name);
    if (conversion === 's') value = str(run, value);
    else if (conversion === 'r' || conversion === 'a') value = repr(run, value);
    else if (conversion !== undefined) throw valueError(`Unknown conversion specifier ${conversion}`);
    if (!isMarkup(self)) return formatValue(run, value, spec);
    if (isMarkup(value) && spec !== '') throw valueError('Unsupported format specification for Markup.');
    return escaped(run, isMarkup(value) ? value : formatValue(run, value, spec)).text;
  };
  const expand = (text: string, depth: number): string => {
    if (depth < 0) throw valueError('Max string recursion exceeded');
    let result = '';
    let i = 0;
    while (i < text.length) {
      const character = text[i]!;
      if ((character === '{' || character === '}') && text[i + 1] === character) {
        result += character;
        i += 2;
      } else if (character === '}') {
        throw valueError("Single '}' encountered in format string");
      } else if (character === '{') {
        let open = 1;
        let end = i + 1;
        for (; end < text.length && open > 0; end++) open += text[end] === '{' ? 1 : text[end] === '}' ? -1 : 0;
        if (open > 0)
          throw valueError(
            end === i + 1 ? "Single '{' encountered in format string" : "expected '}' before end of string",
          );
        const [, name, conversion, spec] =
          /^([^!:{}[\]]*(?:\[[^\]]*\][^!:{}[\]]*)*)(?:!(.))?(?::(.*))?$/su.exec(text.slice(i + 1, end - 1)) ?? [];
        if (name === undefined) throw valueError("expected ':' after conversion specifier");
        result += shown(name, conversion, spec === undefined ? '' : expand(spec, depth - 1));
        i = end;
      } else {
        let end = i;
        while (end < text.length && text[end] !== '{' && text[end] !== '}') end++;
        result += text.slice(i, end);
        i = end;
      }
    }
    run.budget.make(result.length);
    return result;
  };
  return expand(format, 1);
};
