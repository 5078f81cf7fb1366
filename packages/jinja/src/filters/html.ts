import { PythonError, valueError } from '../errors.ts';
import { needInt, needText, toIndex, unusable } from '../values/arguments.ts';
import { each, listOf } from '../values/iterate.ts';
import { escaped, str, textRepr } from '../values/print.ts';
import { splitSpace } from '../values/text.ts';
import {
  isDict,
  isUndefined,
  kindOf,
  markup,
  type Run,
  textOf,
  truthy,
  typeName,
  type Value,
} from '../values/values.ts';
import type { Filter, Filters } from './define.ts';
import { unescapeHtml } from './entities.ts';
import { toJson } from './json.ts';
import { linked } from './urls.ts';

/** Removes everything from `open` up to `close`, including both. An `open` without `close` stays. Takes one pass. */
const without = (text: string, open: string, close: string): string => {
  let output = '';
  let at = 0;
  for (let from = text.indexOf(open); from >= 0; from = text.indexOf(open, at)) {
    const end = text.indexOf(close, from + open.length);
    if (end < 0) break;
    output += text.slice(at, from);
    at = end + close.length;
  }
  return output + text.slice(at);
};

const unreserved = /[A-Za-z0-9_.~-]/;

const quotedByte = (byte: number, inQuery: boolean): string => {
  const character = String.fromCharCode(byte);
  if (unreserved.test(character) || (!inQuery && character === '/')) return character;
  if (inQuery && character === ' ') return '+';
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
};

const quoted = (run: Run, value: Value, inQuery: boolean): string => {
  const text = str(run, value);
  run.budget.make(text.length * 3);
  let result = '';
  for (const byte of Buffer.from(text, 'utf8')) {
    result += quotedByte(byte, inQuery);
  }
  return result;
};

const escapeFilter: Filter = { parameters: [], call: escaped };

const scheme = /^[\w.+-]{2,}:\/{0,2}$/;

export const htmlFilters: Filters = {
  escape: escapeFilter,
  e: escapeFilter,
  forceescape: { parameters: [], call: (run, value: Value) => escaped(run, str(run, value)) },
  safe: { parameters: [], call: (run, value: Value) => markup(str(run, value)) },
  striptags: {
    parameters: [],
    call: (run, value: Value) => {
      const text = str(run, value);
      run.budget.make(text.length);
      return unescapeHtml(splitSpace(without(without(text, '<!--', '-->'), '<', '>')).join(' '));
    },
  },
  tojson: {
    parameters: ['indent?'],
    call: (run, value: Value, indent: Value = null) => markup(toJson(run, value, indent)),
  },
  urlencode: {
    parameters: [],
    call: (run, value: Value) => {
      const iterable =
        textOf(value) === undefined &&
        (Array.isArray(value) || (typeof value === 'object' && value !== null && kindOf(value) !== 'thing'));
      if (!iterable) return quoted(run, value, false);
      const pairs = isDict(value)
        ? [...value.entries.values()]
        : Array.from(each(run, value), (pair) => {
            const items = listOf(run, pair);
            if (items.length !== 2)
              throw valueError(`${items.length < 2 ? 'not enough' : 'too many'} values to unpack (expected 2)`);
            return items as [Value, Value];
          });
      return pairs.map(([key, member]) => `${quoted(run, key, true)}=${quoted(run, member, true)}`).join('&');
    },
  },
  xmlattr: {
    parameters: ['autospace?'],
    call: (run, value: Value, autospace: Value = true) => {
      if (!isDict(value)) throw unusable(value, `'${typeName(value)}' object has no attribute 'items'`);
      const parts: string[] = [];
      for (const [key, member] of value.entries.values()) {
        if (member === null || isUndefined(member)) continue;
        if (/[ \t\n\r\f\v/>=]/.test(needText(key, 'attribute name')))
          throw valueError(`Invalid character in attribute name: ${textRepr(needText(key))}`);
        parts.push(`${escaped(run, key).text}="${escaped(run, member).text}"`);
      }
      const text = (truthy(autospace) && parts.length > 0 ? ' ' : '') + parts.join(' ');
      return run.escaping ? markup(text) : text;
    },
  },
  urlize: {
    parameters: ['trim_url_limit?', 'nofollow?', 'target?', 'rel?', 'extra_schemes?'],
    call: (
      run,
      value: Value,
      limit: Value = null,
      nofollow: Value = false,
      target: Value = null,
      rel: Value = null,
      schemes: Value = null,
    ) => {
      const relations = new Set(splitSpace(rel === null ? '' : needText(rel)));
      if (truthy(nofollow)) relations.add('nofollow');
      relations.add('noopener');
      const extra = schemes === null ? [] : listOf(run, schemes).map((item) => needText(item));
      for (const extraName of extra)
        if (!scheme.test(extraName))
          throw new PythonError('FilterArgumentError', `${textRepr(extraName)} is not a valid URI scheme prefix.`);
      const words = escaped(run, value).text;
      const most = limit === null ? undefined : toIndex(needInt(limit));
      const rels = ` rel="${escaped(run, [...relations].sort().join(' ')).text}"`;
      const targets = target !== null && truthy(target) ? ` target="${escaped(run, target).text}"` : '';
      const text = linked(run, words, { limit: most, attributes: rels + targets, schemes: extra });
      return run.escaping ? markup(text) : text;
    },
  },
};
