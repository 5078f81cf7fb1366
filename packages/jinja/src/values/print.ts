import { limitError, valueError } from '../errors.ts';
import { floatRepr } from './floats.ts';
import { escapeHtml } from './text.ts';
import { type Dict, isMarkup, isThing, markup, type Run, type Text, type Value, type View } from './values.ts';

const escapes: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);
const unprintable = /[^\P{C}]|[^\P{Z} ]/u;
/** The escape for a character that cannot be printed. */
const asEscape = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
};

/** A character as it is written between the quotes of a literal. */
const shownCharacter = (character: string, quote: string): string => {
  if (character === quote) return `\\${quote}`;
  const escapeText = escapes.get(character);
  if (escapeText !== undefined) return escapeText;
  return unprintable.test(character) ? asEscape(character) : character;
};

/** repr(str) */
export const textRepr = (text: string): string => {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  if (/^[ !#-&(-[\]-~]*$/.test(text)) return quote + text + quote;
  let printedText = '';
  for (const character of text) printedText += shownCharacter(character, quote);
  return quote + printedText + quote;
};

const mostDigits = 4300;

/** str(int). Like Python, it refuses more than 4,300 digits. */
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

/** A value that is being printed. `around` are the containers around the current place. */
type Printing = { readonly run: Run; readonly around: Value[] };

type Brackets = readonly [open: string, close: string];

const within = (printing: Printing, [open, close]: Brackets, container: Value, items: (() => string)[]): string => {
  const { run, around } = printing;
  if (around.includes(container)) return `${open}...${close}`;
  if (around.length >= mostNested)
    throw limitError(`A value nested deeper than ${mostNested} levels cannot be printed`);
  around.push(container);
  let text = '';
  for (const item of items) {
    const itemText = item();
    run.budget.step();
    run.budget.make(itemText.length + 2);
    run.budget.fits(text.length);
    text += text === '' ? itemText : `, ${itemText}`;
  }
  around.pop();
  return open + text + close;
};

/** Functions that print the items, for later. */
const each = (printing: Printing, items: readonly Value[]): (() => string)[] =>
  items.map((item) => () => show(printing, item));

const viewItems = (printing: Printing, view: View): (() => string)[] => {
  const entries = [...view.dict.entries.values()];
  const pair = (key: Value, member: Value): string => `(${show(printing, key)}, ${show(printing, member)})`;
  switch (view.of) {
    case 'keys':
      return entries.map(
        ([key]) =>
          () =>
            show(printing, key),
      );
    case 'values':
      return entries.map(
        ([, member]) =>
          () =>
            show(printing, member),
      );
    case 'items':
      return entries.map(
        ([key, member]) =>
          () =>
            pair(key, member),
      );
  }
};

const showView = (printing: Printing, view: View): string =>
  within(printing, [`dict_${view.of}([`, '])'], view, viewItems(printing, view));

const showDict = (printing: Printing, dict: Dict): string => {
  const pair = (key: Value, member: Value): string => `${show(printing, key)}: ${show(printing, member)}`;
  const items = [...dict.entries.values()].map(
    ([key, member]) =>
      () =>
        pair(key, member),
  );
  return within(printing, ['{', '}'], dict, items);
};

const show = (printing: Printing, value: Value): string => {
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
  if (Array.isArray(value)) return within(printing, ['[', ']'], value, each(printing, value));
  switch (value.kind) {
    case 'markup':
      return `Markup(${textRepr(value.text)})`;
    case 'tuple':
      return within(printing, ['(', value.items.length === 1 ? ',)' : ')'], value, each(printing, value.items));
    case 'dict':
      return showDict(printing, value);
    case 'view':
      return showView(printing, value);
    case 'range':
      return `range(${value.start}, ${value.stop}${value.step === 1n ? '' : `, ${value.step}`})`;
    case 'iterator': {
      const generates = value.name.includes('_do_') || value.name.startsWith('do_');
      return generates ? `<generator object ${value.name}>` : `<${value.name} object>`;
    }
    case 'undefined':
      return 'Undefined';
    case 'thing':
      return value.print();
  }
};

/** repr(value) */
export const repr = (run: Run, value: Value): string => show({ run, around: [] }, value);

/** str(value) */
export const str = (run: Run, value: Value): string => {
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    if (value.kind === 'markup') return value.text;
    if (value.kind === 'undefined') return '';
    if (value.kind === 'thing' && value.text) return value.text();
  }
  return repr(run, value);
};

/** Converts a value to a str. A safe str stays safe. */
export const softStr = (run: Run, value: Value): Text => (isMarkup(value) ? value : str(run, value));

/** markupsafe.escape */
export const escaped = (run: Run, value: Value): ReturnType<typeof markup> => {
  if (isMarkup(value)) return value;
  if (isThing(value) && value.text) return markup(value.text());
  const text = escapeHtml(str(run, value));
  run.budget.make(text.length);
  return markup(text);
};
