import { typeError, valueError } from '../errors.ts';
import { strFormat } from '../formats/strFormat.ts';
import { type Builtin, bounds, type Methods, needInt, needText, toIndex } from '../values/arguments.ts';
import { capitalized, casefolded, isCase, isTitle, swapped, titled } from '../values/cases.ts';
import { each } from '../values/iterate.ts';
import {
  isSpace,
  lengthOf,
  pad,
  pointIndex,
  repeat,
  sliceText,
  splitLines,
  splitSpace,
  strip,
} from '../values/text.ts';
import {
  charactersOf,
  type Dict,
  intOf,
  isDict,
  isTuple,
  type Kwargs,
  type Run,
  type Text,
  textOf,
  truthy,
  tuple,
  typeName,
  type Value,
} from '../values/values.ts';

/** The characters of the str on which a method is called. */
const self = charactersOf;

/** A method without arguments. */
const plain = (call: (text: string, run: Run) => Value): Builtin => ({
  parameters: [],
  call: (run, value: Text) => {
    const text = self(value);
    run.budget.make(text.length);
    return call(text, run);
  },
});

const every = (pattern: RegExp): Builtin => plain((text) => pattern.test(text));

const stripping = (atLeft: boolean, right: boolean): Builtin => ({
  parameters: ['chars?'],
  call: (run, value: Text, chars?: Value) => {
    run.budget.make(self(value).length);
    if (chars === undefined || chars === null) return strip(self(value), isSpace, atLeft, right);
    const drop = new Set(needText(chars, 'strip arg'));
    return strip(self(value), (character) => drop.has(character), atLeft, right);
  },
});

type Search = {
  readonly part: string;
  /** Bounds in code points. */
  readonly start: Value | undefined;
  readonly stop: Value | undefined;
  readonly last: boolean;
};

/** The index of a part in a text, in code points; -1 if the text does not contain the part. */
const find = (run: Run, text: string, { part, start, stop, last }: Search): number => {
  run.budget.step(1 + (text.length >> 6));
  const length = lengthOf(text);
  const [from, to] = bounds(length, start, stop);
  if (from > to || (start !== undefined && start !== null && toIndex(needInt(start)) > length)) return -1;
  const within = sliceText(text, from, to);
  const at = last ? within.lastIndexOf(part) : within.indexOf(part);
  return at < 0 ? -1 : from + pointIndex(within, at);
};

const finding = (last: boolean, mustBe: boolean): Builtin => ({
  parameters: ['sub', 'start?', 'end?'],
  call: (run, value: Text, part: Value, start?: Value, stop?: Value) => {
    const at = find(run, self(value), { part: needText(part, 'must be str, not'), start, stop, last });
    if (at < 0 && mustBe) throw valueError('substring not found');
    return BigInt(at);
  },
});

const occurrences = (run: Run, text: string, part: string): number => {
  run.budget.step(1 + (text.length >> 4));
  return part === '' ? lengthOf(text) + 1 : text.split(part).length - 1;
};

const ending = (holds: (text: string, part: string) => boolean): Builtin => ({
  parameters: ['prefix', 'start?', 'end?'],
  call: (_run, value: Text, parts: Value, start?: Value, stop?: Value) => {
    const [from, to] = bounds(lengthOf(self(value)), start, stop);
    const text = sliceText(self(value), from, to);
    return (isTuple(parts) ? parts.items : [parts]).some((part) => holds(text, needText(part, 'first arg')));
  },
});

const splitting = (fromRight: boolean): Builtin => ({
  parameters: ['sep?', 'maxsplit?'],
  call: (run, value: Text, separator: Value = null, most: Value = -1n) => {
    const text = self(value);
    run.budget.make(text.length);
    const times = toIndex(needInt(most));
    if (separator === null) {
      if (!fromRight || times < 0) return splitSpace(text, times);
      return splitSpace([...text].reverse().join(''), times)
        .map((part) => [...part].reverse().join(''))
        .reverse();
    }
    const by = needText(separator);
    if (by === '') throw valueError('empty separator');
    const parts = text.split(by);
    if (times < 0 || parts.length <= times + 1) return parts;
    return fromRight
      ? [parts.slice(0, parts.length - times).join(by), ...parts.slice(parts.length - times)]
      : [...parts.slice(0, times), parts.slice(times).join(by)];
  },
});

const padding = (leftCount: (missing: number, width: number) => number): Builtin => ({
  parameters: ['width', 'fillchar?'],
  call: (run, value: Text, width: Value, fill: Value = ' ') => {
    const character = needText(fill, 'The fill character');
    if (lengthOf(character) !== 1) throw typeError('The fill character must be exactly one character long');
    return pad(run, self(value), {
      width: needInt(width),
      fill: character,
      left: (missing) => leftCount(missing, toIndex(needInt(width))),
    });
  },
});

/** str.center: how much padding goes to the left. With odd padding, one more goes left if the width is odd. */
export const centered = (missing: number, width: number): number => (missing >> 1) + (missing & width & 1);

const parting = (last: boolean): Builtin => ({
  parameters: ['sep'],
  call: (run, value: Text, separator: Value) => {
    const [text, by] = [self(value), needText(separator)];
    if (by === '') throw valueError('empty separator');
    run.budget.make(text.length);
    const at = last ? text.lastIndexOf(by) : text.indexOf(by);
    if (at < 0) return tuple(last ? ['', '', text] : [text, '', '']);
    return tuple([text.slice(0, at), by, text.slice(at + by.length)]);
  },
});

type Replacement = {
  readonly old: string;
  readonly by: string;
  /** The most replacements; negative for no limit. */
  readonly times: bigint;
};

/** str.replace */
export const replaced = (run: Run, text: string, { old, by, times: most }: Replacement): string => {
  if (most === 0n) return text;
  const found = occurrences(run, text, old);
  const times = most < 0n || most > BigInt(found) ? found : Number(most);
  run.budget.make(text.length + Math.max(0, times * (by.length - old.length)));
  if (old === '') {
    const points = Array.from(text);
    return points.map((point, i) => (i < times ? by + point : point)).join('') + (times > points.length ? by : '');
  }
  const parts = text.split(old);
  return [...parts.slice(0, times), parts.slice(times).join(old)].join(by);
};

/** The text for a character from an entry in the table of str.translate. */
const translated = (by: Value): string => {
  if (by === null) return '';
  const code = intOf(by);
  return code === undefined
    ? needText(by, 'character mapping')
    : String.fromCodePoint(Math.min(toIndex(code), 0x10ffff));
};

const refused = (why: string): Builtin => ({
  parameters: ['a?', 'b?'],
  call: () => {
    throw typeError(why);
  },
});

/** Methods of str. */
export const strMethods: Methods = new Map(
  Object.entries({
    upper: plain((text) => text.toUpperCase()),
    lower: plain((text) => text.toLowerCase()),
    casefold: plain(casefolded),
    title: plain(titled),
    capitalize: plain(capitalized),
    swapcase: plain(swapped),
    strip: stripping(true, true),
    lstrip: stripping(true, false),
    rstrip: stripping(false, true),
    split: splitting(false),
    rsplit: splitting(true),
    splitlines: {
      parameters: ['keepends?'],
      call: (run, value: Text, keep: Value = false) => {
        run.budget.make(self(value).length);
        return splitLines(self(value), truthy(keep));
      },
    },
    join: {
      parameters: ['iterable'],
      call: (run, value: Text, items: Value) => {
        const parts: string[] = [];
        let size = 0;
        for (const item of each(run, items)) {
          const text = textOf(item);
          if (text === undefined)
            throw typeError(`sequence item ${parts.length}: expected str instance, ${typeName(item)} found`);
          run.budget.make(text.length + self(value).length);
          size += text.length + self(value).length;
          run.budget.fits(size);
          parts.push(text);
        }
        return parts.join(self(value));
      },
    },
    replace: {
      parameters: ['old', 'new', 'count?'],
      call: (run, value: Text, old: Value, by: Value, count: Value = -1n) =>
        replaced(run, self(value), { old: needText(old), by: needText(by), times: needInt(count) }),
    },
    startswith: ending((text, part) => text.startsWith(part)),
    endswith: ending((text, part) => text.endsWith(part)),
    find: finding(false, false),
    rfind: finding(true, false),
    index: finding(false, true),
    rindex: finding(true, true),
    count: {
      parameters: ['sub', 'start?', 'end?'],
      call: (run, value: Text, part: Value, start?: Value, stop?: Value) => {
        const [from, to] = bounds(lengthOf(self(value)), start, stop);
        return BigInt(from > to ? 0 : occurrences(run, sliceText(self(value), from, to), needText(part)));
      },
    },
    zfill: {
      parameters: ['width'],
      call: (run, value: Text, width: Value) => {
        const text = self(value);
        const sign = /^[-+]/.test(text) ? text.charAt(0) : '';
        const rest = needInt(width) - BigInt(sign.length);
        return sign + pad(run, text.slice(sign.length), { width: rest, fill: '0', left: (missing) => missing });
      },
    },
    center: padding(centered),
    ljust: padding(() => 0),
    rjust: padding((missing) => missing),
    isdigit: every(
      /^[\p{Nd}\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea]+$/u,
    ),
    isdecimal: every(/^\p{Nd}+$/u),
    isnumeric: every(/^[\p{N}\u3405\u4e00\u4e03\u4e09\u4e5d\u4e8c\u4e94\u516b\u516d\u5341\u56db\u767e\u5343\u842c]+$/u),
    isalpha: every(/^\p{L}+$/u),
    isalnum: every(/^[\p{L}\p{N}]+$/u),
    isascii: plain((text) => /^[\0-\x7f]*$/.test(text)),
    isspace: plain((text) => text !== '' && [...text].every(isSpace)),
    isprintable: plain((text) => !/[^\P{C}]|[^\P{Z} ]/u.test(text)),
    isidentifier: every(/^[\p{ID_Start}_]\p{ID_Continue}*$/u),
    islower: plain((text) => isCase(text, 'lower')),
    isupper: plain((text) => isCase(text, 'upper')),
    istitle: plain(isTitle),
    partition: parting(false),
    rpartition: parting(true),
    expandtabs: {
      parameters: ['tabsize?'],
      call: (run, value: Text, size: Value = 8n) => {
        const width = toIndex(needInt(size));
        let column = 0;
        return self(value).replace(/[\t\n\r]|[^\t\n\r]+/g, (part) => {
          if (part === '\n' || part === '\r') column = 0;
          else if (part !== '\t') column += lengthOf(part);
          else if (width <= 0) return '';
          else {
            const missing = width - (column % width);
            column += missing;
            return repeat(run, ' ', missing);
          }
          return part;
        });
      },
    },
    removeprefix: {
      parameters: ['prefix'],
      call: (_run, value: Text, part: Value) =>
        self(value).startsWith(needText(part)) ? self(value).slice(needText(part).length) : self(value),
    },
    removesuffix: {
      parameters: ['suffix'],
      call: (_run, value: Text, part: Value) =>
        needText(part) !== '' && self(value).endsWith(needText(part))
          ? self(value).slice(0, -needText(part).length)
          : self(value),
    },
    translate: {
      parameters: ['table'],
      call: (run, value: Text, table: Value) => {
        if (!isDict(table)) throw typeError(`'${typeName(table)}' object is not subscriptable`);
        return [...self(value)]
          .map((character) => {
            run.budget.step();
            const by = (table as Dict).entries.get(BigInt(character.codePointAt(0) ?? 0))?.[1];
            if (by === undefined) return character;
            const text = translated(by);
            run.budget.make(text.length);
            return text;
          })
          .join('');
      },
    },
    format: {
      parameters: [],
      call: (run, value: Text, args: readonly Value[], kwargs: Kwargs) => strFormat(run, value, { args, kwargs }),
    },
    format_map: {
      parameters: ['mapping'],
      call: (run, value: Text, mapping: Value) => {
        if (!isDict(mapping)) throw typeError(`'${typeName(mapping)}' object is not subscriptable`);
        const kwargs = new Map<string, Value>();
        for (const [key, member] of (mapping as Dict).entries.values())
          if (typeof key === 'string') kwargs.set(key, member);
        return strFormat(run, value, { args: [], kwargs });
      },
    },
    encode: refused('bytes are not supported'),
    maketrans: refused('maketrans is not supported: give translate a dict of code points'),
  } satisfies Record<string, Builtin>),
);
