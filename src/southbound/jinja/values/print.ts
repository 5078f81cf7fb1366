import { limitError, valueError } from '../errors.ts';
import { floatRepr } from './floats.ts';
import { type Run, type Value, markup, isMarkup } from './values.ts';
import { escapeHtml } from './text.ts';

const escapes: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);
const unprintable = /[^\P{C}]|[^\P{Z} ]/u;
const hex = (character: string, least: number): string => character.codePointAt(0)!.toString(16).padStart(least, '0');

const shownCharacter = (character: string): string => {
  const code = character.codePointAt(0)!;
  return code < 0x100
    ? `\\x${hex(character, 2)}`
    : code < 0x10000
      ? `\\u${hex(character, 4)}`
      : `\\U${hex(character, 8)}`;
};

/** repr(str) */
export const textRepr = (text: string): string => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  if (/^[ !#-&(-[\]-~]*$/.test(text)) return quote + text + quote;
  let shown = '';
  for (const character of text) {
    shown +=
      character === quote
        ? `\\${quote}`
        : (escapes.get(character) ?? (unprintable.test(character) ? shownCharacter(character) : character));
  }
  return quote + shown + quote;
};

const mostDigits = 4300;

/** str(int); Python refuses more than 4,300 digits too. */
export const intText = (value: bigint): string => {
  if (value < 1n << 14000n && value > -(1n << 14000n)) return String(value);
  if (value.toString(16).length > 3600)
    throw valueError(`Exceeds the limit (${mostDigits} digits) for integer string conversion`);
  const text = String(value);
  if (text.length - (value < 0n ? 1 : 0) > mostDigits)
    throw valueError(`Exceeds the limit (${mostDigits} digits) for integer string conversion`);
  return text;
};

const mostNested = 200;

/** repr(value) */
export const repr = (run: Run, value: Value): string => {
  const around: Value[] = [];
  const within = (open: string, items: Iterable<() => string>, close: string, container: Value): string => {
    if (around.includes(container)) return `${open}...${close}`;
    if (around.length >= mostNested)
      throw limitError(`A value nested deeper than ${mostNested} levels cannot be printed`);
    around.push(container);
    let text = '';
    for (const item of items) {
      const shown = item();
      run.budget.step();
      run.budget.make(shown.length + 2);
      run.budget.fits(text.length);
      text += text === '' ? shown : `, ${shown}`;
    }
    around.pop();
    return open + text + close;
  };
  const show = (value: Value): string => {
    if (value === null) return 'None';
    switch (typeof value) {
      case 'boolean':
        return value ? 'True' : 'False';
      case 'bigint':
        return intText(value);
      case 'number':
        return floatRepr(value);
      case 'string':
        return textRepr(value);
    }
    const each = (items: readonly Value[]) => items.map((item) => () => show(item));
    if (Array.isArray(value)) return within('[', each(value), ']', value);
    switch (value.kind) {
      case 'markup':
        return `Markup(${textRepr(value.text)})`;
      case 'tuple':
        return within('(', each(value.items), value.items.length === 1 ? ',)' : ')', value);
      case 'dict':
        return within(
          '{',
          [...value.entries.values()].map(
            ([key, member]) =>
              () =>
                `${show(key)}: ${show(member)}`,
          ),
          '}',
          value,
        );
      case 'view': {
        const entries = [...value.dict.entries.values()];
        const items =
          value.of === 'keys'
            ? each(entries.map(([key]) => key))
            : value.of === 'values'
              ? each(entries.map(([, member]) => member))
              : entries.map(
                  ([key, member]) =>
                    () =>
                      `(${show(key)}, ${show(member)})`,
                );
        return within(`dict_${value.of}([`, items, '])', value);
      }
      case 'range':
        return `range(${value.start}, ${value.stop}${value.step === 1n ? '' : `, ${value.step}`})`;
      case 'iterator':
        return value.name.includes('_do_') || value.name.startsWith('do_')
          ? `<generator object ${value.name}>`
          : `<${value.name} object>`;
      case 'undefined':
        return 'Undefined';
      case 'thing':
        return value.shown();
    }
  };
  return show(value);
};

/** str(value) */
export const str = (run: Run, value: Value): string => {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    if (value.kind === 'markup') return value.text;
    if (value.kind === 'undefined') return '';
  }
  return repr(run, value);
};

/** The value as a str that stays safe if it was. */
export const softStr = (run: Run, value: Value): Value => (isMarkup(value) ? value : str(run, value));

/** markupsafe.escape */
export const escaped = (run: Run, value: Value): ReturnType<typeof markup> => {
  if (isMarkup(value)) return value;
  const text = escapeHtml(str(run, value));
  run.budget.make(text.length);
  return markup(text);
};
