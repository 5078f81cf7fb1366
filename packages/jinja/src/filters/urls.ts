import { isSpace, lengthOf, sliceText } from '../values/text.ts';
import type { Run } from '../values/values.ts';

type Options = { readonly limit: number | undefined; readonly attributes: string; readonly schemes: readonly string[] };

const w = '[\\p{L}\\p{N}_]';
const label = '[\\p{L}\\p{N}_%-]';
// Each label ends at its dot. So there is only one way to match it, and the pattern takes linear time.
const url = new RegExp(
  `^(?:(?:https?://|www\\.)(?:${label}+\\.)*(?:[a-z]{2,63}|xn--[\\p{L}\\p{N}_%]{2,59})|(?:${label}{2,63}\\.)+(?:com|net|int|edu|gov|org|info|mil)` +
    '|https?://(?:\\d{1,3}(?:\\.\\d{1,3}){3}|\\[(?:[\\da-f]{0,4}:){2}(?:[\\da-f]{0,4}:?){1,6}\\]))(?::\\d{1,5})?(?:[/?#]\\S*)?$',
  'iu',
);
const domain = new RegExp(`^${w}[\\p{L}\\p{N}_.-]*$`, 'u');
const lastLabel = new RegExp(`^${w}+$`, 'u');

const isEmail = (text: string): boolean => {
  const at = text.lastIndexOf('@');
  if (at < 1) return false;
  const host = text.slice(at + 1);
  const dot = host.lastIndexOf('.');
  return dot > 0 && domain.test(host) && lastLabel.test(host.slice(dot + 1));
};

const opening = ['(', '<', '&lt;'];
const closing = [')', '>', '.', ',', '\n', '&gt;'];
const pairs = [
  ['(', ')'],
  ['<', '>'],
  ['&lt;', '&gt;'],
] as const;

const count = (text: string, part: string): number => text.split(part).length - 1;

/**
 * Splits a word into brackets before it, the word itself, and brackets and punctuation after it, which are no part of a
 * link.
 */
const bare = (run: Run, word: string): readonly [head: string, middle: string, tail: string] => {
  let [from, to] = [0, word.length];
  const openingHere = () => opening.find((text) => word.startsWith(text, from));
  for (let mark = openingHere(); mark !== undefined; mark = openingHere()) {
    run.budget.step();
    from += mark.length;
  }
  const closingHere = () => closing.find((text) => to - text.length >= from && word.endsWith(text, to));
  for (let mark = closingHere(); mark !== undefined; mark = closingHere()) {
    run.budget.step();
    to -= mark.length;
  }
  for (const [open, close] of pairs) {
    const missing = count(word.slice(from, to), open) - count(word.slice(from, to), close);
    if (missing <= 0) continue;
    for (let unclosed = count(word.slice(from, to), open); unclosed > 0; unclosed--) {
      run.budget.step();
      const at = word.indexOf(close, to);
      if (at < 0) break;
      to = at + close.length;
    }
  }
  return [word.slice(0, from), word.slice(from, to), word.slice(to)];
};

/** Turns the addresses in a text into links. The text is already escaped. */
export const linked = (run: Run, text: string, { limit, attributes, schemes }: Options): string => {
  const linkTo = (address: string): string =>
    limit !== undefined && lengthOf(address) > limit ? `${sliceText(address, 0, limit)}...` : address;
  const link = (address: string, label: string, more = attributes): string =>
    `<a href="${address}"${more}>${label}</a>`;
  const change = (word: string): string => {
    const [head, middle, tail] = bare(run, word);
    let result = middle;
    if (url.test(middle)) result = link(/^https?:\/\//.test(middle) ? middle : `https://${middle}`, linkTo(middle));
    else if (middle.startsWith('mailto:') && isEmail(middle.slice(7))) result = link(middle, middle.slice(7), '');
    else if (middle.includes('@') && !middle.startsWith('www.') && !middle.includes(':') && isEmail(middle))
      result = link(`mailto:${middle}`, middle, '');
    else
      for (const scheme of schemes) if (middle !== scheme && middle.startsWith(scheme)) result = link(middle, middle);
    run.budget.make(result.length);
    return head + result + tail;
  };
  let result = '';
  for (let from = 0; from < text.length; ) {
    const space = isSpace(text.charAt(from));
    let to = from + 1;
    while (to < text.length && isSpace(text.charAt(to)) === space) to++;
    result += space ? text.slice(from, to) : change(text.slice(from, to));
    from = to;
  }
  return result;
};
