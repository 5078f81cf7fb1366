import { PythonError } from '../errors.ts';
import { percentFormat } from '../formats/percent.ts';
import { centered, replaced } from '../methods/strings.ts';
import { needInt, needText, toIndex, unusable } from '../values/arguments.ts';
import { operate } from '../values/arithmetic.ts';
import { capitalized } from '../values/cases.ts';
import { newDict } from '../values/dicts.ts';
import { escaped, softStr, str } from '../values/print.ts';
import { isSpace, lengthOf, like, pad, repeat, sliceText, splitLines, strip } from '../values/text.ts';
import { charactersOf, isMarkup, type Run, textOf, truthy, tuple, typeName, type Value } from '../values/values.ts';
import type { Filter, Filters } from './define.ts';
import { pretty } from './pretty.ts';
import { lengthOfAny } from './sequences.ts';
import { wrapped } from './wrap.ts';

/** A filter that changes the text of a value. A safe str stays safe. */
const changing = (change: (text: string, run: Run) => string): Filter => ({
  parameters: [],
  call: (run, value: Value) => {
    const soft = softStr(run, value);
    const text = charactersOf(soft);
    run.budget.make(text.length);
    return like(soft, change(text, run));
  },
});

/** The text of a value that must be a str, because the filter calls methods of str. */
const mustBeText = (value: Value): string => {
  const text = textOf(value);
  if (text === undefined) throw unusable(value, `a str is needed, not '${typeName(value)}'`);
  return text;
};

export const textFilters: Filters = {
  upper: changing((text) => text.toUpperCase()),
  lower: changing((text) => text.toLowerCase()),
  capitalize: changing(capitalized),
  title: changing((text) =>
    text
      .split(/([-\s({[<]+)/)
      .map((part) => {
        const [first = ''] = part;
        return first.toUpperCase() + part.slice(first.length).toLowerCase();
      })
      .join(''),
  ),
  trim: {
    parameters: ['chars?'],
    call: (run, value: Value, chars: Value = null) => {
      const soft = softStr(run, value);
      const drop = chars === null ? undefined : new Set(needText(chars, 'strip arg'));
      const text = charactersOf(soft);
      run.budget.make(text.length);
      return like(soft, strip(text, drop ? (character) => drop.has(character) : isSpace));
    },
  },
  center: {
    parameters: ['width?'],
    call: (run, value: Value, width: Value = 80n) => {
      const soft = softStr(run, value);
      const leftPadding = (missing: number): number => centered(missing, toIndex(needInt(width)));
      return like(soft, pad(run, charactersOf(soft), { width: needInt(width), fill: ' ', left: leftPadding }));
    },
  },
  replace: {
    parameters: ['old', 'new', 'count?'],
    call: (run, value: Value, old: Value, by: Value, count: Value = null) => {
      const times = count === null ? -1n : needInt(count);
      if (!run.escaping) return replaced(run, str(run, value), { old: str(run, old), by: str(run, by), times });
      const text = isMarkup(old) || (isMarkup(by) && !isMarkup(value)) ? escaped(run, value) : softStr(run, value);
      const part = (other: Value): string =>
        isMarkup(text) ? escaped(run, softStr(run, other)).text : charactersOf(softStr(run, other));
      return like(text, replaced(run, charactersOf(text), { old: part(old), by: part(by), times }));
    },
  },
  format: {
    all: (run, value, args, kwargs) => {
      if (args.length > 0 && kwargs.size > 0)
        throw new PythonError('FilterArgumentError', "can't handle positional and keyword arguments at the same time");
      const soft = softStr(run, value);
      const values = kwargs.size > 0 ? newDict(kwargs) : tuple(args);
      return isMarkup(soft) ? operate(run, '%', soft, values) : percentFormat(run, charactersOf(soft), values);
    },
  },
  indent: {
    parameters: ['width?', 'first?', 'blank?'],
    call: (run, value: Value, width: Value = 4n, first: Value = false, blank: Value = false) => {
      const by = textOf(width) ?? repeat(run, ' ', needInt(width));
      const text = `${mustBeText(value)}\n`;
      const lines = splitLines(text);
      run.budget.make(text.length + lines.length * by.length);
      const isIndented = (line: string, i: number): boolean => {
        if (i === 0) return truthy(first);
        return line !== '' || truthy(blank);
      };
      const indented = lines.map((line, i) => (isIndented(line, i) ? by + line : line));
      return like(value, indented.join('\n'));
    },
  },
  truncate: {
    parameters: ['length?', 'killwords?', 'end?', 'leeway?'],
    call: (_run, value: Value, length: Value = 255n, kill: Value = false, end: Value = '...', leeway: Value = null) => {
      const tail = needText(end);
      const [most, slack] = [toIndex(needInt(length)), leeway === null ? 5 : toIndex(needInt(leeway))];
      if (most < lengthOf(tail))
        throw new PythonError('AssertionError', `expected length >= ${lengthOf(tail)}, got ${most}`);
      if (slack < 0) throw new PythonError('AssertionError', `expected leeway >= 0, got ${slack}`);
      if (lengthOfAny(value) <= most + slack) return value;
      const text = mustBeText(value);
      const cut = sliceText(text, 0, most - lengthOf(tail));
      if (truthy(kill)) return like(value, cut + tail);
      const space = cut.lastIndexOf(' ');
      return like(value, (space < 0 ? cut : cut.slice(0, space)) + tail);
    },
  },
  wordcount: {
    parameters: [],
    call: (run, value: Value) => {
      const text = str(run, value);
      run.budget.make(text.length);
      return BigInt(text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0);
    },
  },
  wordwrap: {
    parameters: ['width?', 'break_long_words?', 'wrapstring?', 'break_on_hyphens?'],
    call: (run, value: Value, width: Value = 79n, long: Value = true, by: Value = null, hyphens: Value = true) => {
      const text = mustBeText(value);
      const joint = by === null ? '\n' : needText(by);
      const lines = splitLines(text).map((line) =>
        wrapped(run, line, {
          width: toIndex(needInt(width)),
          breakLong: truthy(long),
          breakOnHyphens: truthy(hyphens),
        }).join(joint),
      );
      const all = lines.join(joint);
      run.budget.make(all.length);
      return all;
    },
  },
  pprint: { parameters: [], call: pretty },
};
