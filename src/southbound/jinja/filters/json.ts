import { limitError, typeError, valueError } from '../errors.ts';
import { needInt } from '../values/arguments.ts';
import { sorted } from '../values/compare.ts';
import { floatRepr } from '../values/floats.ts';
import { intText } from '../values/print.ts';
import { repeat } from '../values/text.ts';
import { type Run, type Value, isDict, isTuple, textOf, tuple, typeName } from '../values/values.ts';

const deepest = 200;

const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[\x7f-\uffff]/g, (unit) =>
    unit === '\x7f' ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const floatJson = (value: number): string =>
  Number.isNaN(value) ? 'NaN' : value === Infinity ? 'Infinity' : value === -Infinity ? '-Infinity' : floatRepr(value);

const scalar = (value: Value): string | undefined => {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return intText(value);
  return typeof value === 'number' ? floatJson(value) : undefined;
};

/** json.dumps(value, sort_keys=True, indent=indent), with what HTML reads as more than text as \u escapes. */
export const toJson = (run: Run, given: Value, indentGiven: Value): string => {
  const unit = indentGiven === null ? undefined : (textOf(indentGiven) ?? repeat(run, ' ', needInt(indentGiven)));
  const around: Value[] = [];
  const block = (open: string, parts: readonly (() => string)[], close: string, container: Value): string => {
    if (around.includes(container)) throw valueError('Circular reference detected');
    if (around.length >= deepest) throw limitError(`A value nested deeper than ${deepest} levels cannot be JSON here`);
    if (parts.length === 0) return open + close;
    around.push(container);
    const line = unit === undefined ? '' : `\n${repeat(run, unit, around.length)}`;
    const texts = parts.map((part) => {
      const text = part();
      run.budget.step();
      run.budget.make(text.length + line.length + 2);
      return text;
    });
    around.pop();
    return (
      open +
      line +
      texts.join(unit === undefined ? ', ' : `,${line}`) +
      (unit === undefined ? '' : `\n${repeat(run, unit, around.length)}`) +
      close
    );
  };
  const write = (value: Value): string => {
    const text = textOf(value);
    if (text !== undefined) return quoted(text);
    const simple = scalar(value);
    if (simple !== undefined) return simple;
    if (Array.isArray(value))
      return block(
        '[',
        value.map((item) => () => write(item)),
        ']',
        value,
      );
    if (isTuple(value))
      return block(
        '[',
        value.items.map((item) => () => write(item)),
        ']',
        value,
      );
    if (!isDict(value)) throw typeError(`Object of type ${typeName(value)} is not JSON serializable`);
    const pairs = sorted(
      run,
      [...value.entries.values()].map((pair) => tuple(pair)),
      (pair) => (pair as ReturnType<typeof tuple>).items[0]!,
    ) as ReturnType<typeof tuple>[];
    return block(
      '{',
      pairs.map(({ items: [key, member] }) => () => {
        const name = textOf(key!) ?? scalar(key!);
        if (name === undefined) throw typeError(`keys must be str, int, float, bool or None, not ${typeName(key!)}`);
        return `${quoted(name)}: ${write(member!)}`;
      }),
      '}',
      value,
    );
  };
  return write(given).replace(/[<>&']/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
};
