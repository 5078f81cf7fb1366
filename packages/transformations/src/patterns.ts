import { RE2JS } from 're2js';
import { type Budget, fail } from './budget.ts';

const flagsOfRe2: ReadonlyMap<string, number> = new Map([
  ['g', 0],
  ['i', RE2JS.CASE_INSENSITIVE],
  ['m', RE2JS.MULTILINE],
  ['s', RE2JS.DOTALL],
  ['u', 0],
]);

const mostCharacters = 1000;
export const mostInstructions = 5000;
/** Instructions times characters of one search. */
const mostWork = 400_000_000;

type Pattern = { readonly expression: RE2JS; readonly instructions: number };

const flagOf = (flag: string): number =>
  flagsOfRe2.get(flag) ?? fail(`The flag ${JSON.stringify(flag)} of a pattern is not supported`);

const compiled = (source: string, flags: string): Pattern => {
  const ours = [...flags].reduce((sum, flag) => sum | flagOf(flag), 0);
  if (source.length > mostCharacters) return fail(`A pattern may have ${mostCharacters} characters`);
  try {
    const expression = RE2JS.compile(RE2JS.translateRegExp(source), ours);
    const instructions = expression.programSize();
    return instructions > mostInstructions ? fail('The pattern is too large') : { expression, instructions };
  } catch (error) {
    return fail(`The pattern cannot be matched in linear time: ${(error as Error).message}`);
  }
};

/** A regular expression that is matched in linear time. JavaScript's `replace`, `match` and `search` use its `exec` alone. */
export class LinearPattern extends RegExp {
  readonly #pattern: Pattern;
  readonly #spend: Budget['spend'];

  /** Throws `Failure` for a pattern that cannot be matched in linear time. */
  constructor(source: string, flags: string, spend: Budget['spend']) {
    const pattern = compiled(source, flags);
    super(source, flags);
    this.#pattern = pattern;
    this.#spend = spend;
  }

  /** The size of its program. */
  get instructions(): number {
    return this.#pattern.instructions;
  }

  /** The next match from `lastIndex` on, whatever the flags are. */
  find(text: string, from: number): (RegExpExecArray & { readonly end: number }) | null {
    const { expression, instructions } = this.#pattern;
    if (instructions * text.length > mostWork) fail('The text is too long for this pattern');
    const matcher = expression.matcher(text);
    const found = from <= text.length && matcher.find(from);
    const [start, end] = found ? [matcher.start(), matcher.end()] : [text.length, text.length];
    this.#spend(50 + Math.ceil(((Math.max(end - from, 0) + 1) * instructions) / 64));
    if (!found) return null;
    // The types of RegExp say that groups are texts. One that took no part is undefined.
    const groups = Array.from({ length: matcher.groupCount() }, (_, i) => matcher.group(i + 1) ?? undefined);
    return Object.assign([text.slice(start, end), ...groups] as [string, ...string[]], {
      index: start,
      input: text,
      end,
    });
  }

  override exec(text: string): RegExpExecArray | null {
    const match = this.find(text, this.global ? this.lastIndex : 0);
    if (this.global) this.lastIndex = match?.end ?? 0;
    return match;
  }

  /** JavaScript's `split`, which would search at each place anew. */
  split(text: string, limit: number): readonly (string | undefined)[] {
    if (limit === 0) return [];
    if (text === '') return this.find(text, 0) ? [] : [''];
    const pieces: (string | undefined)[] = [];
    let [begin, from] = [0, 0];
    while (from < text.length && pieces.length < limit) {
      const match = this.find(text, from);
      if (!match || match.index >= text.length) break;
      if (match.end === begin) from = match.index + 1;
      else {
        pieces.push(text.slice(begin, match.index), ...match.slice(1));
        begin = match.end;
        from = begin;
      }
    }
    return [...pieces, text.slice(begin)].slice(0, limit);
  }
}
