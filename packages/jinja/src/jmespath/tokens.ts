import { isRaised, limitError } from '../errors.ts';
import { parseJson } from '../values/parseJson.ts';
import { isSpace, strip } from '../values/text.ts';
import type { Run, Value } from '../values/values.ts';
import { queryError } from './query.ts';

const mostCharacters = 10_000;

/** An operator is a type of its own. `value` is that of a name, a number or a literal. */
export type Token = { readonly type: string; readonly value: Value; readonly at: number };

const literal = (run: Run, written: string): Value => {
  try {
    return parseJson(run, written);
  } catch (error) {
    if (!isRaised(error, 'JSONDecodeError', 'ValueError')) throw error;
    // JMESPath had texts without quotes before.
    return parseJson(run, `"${strip(written, isSpace, true, false)}"`);
  }
};

type Form = readonly [type: string, form: RegExp, read: (run: Run, written: string) => Value];

const forms: readonly Form[] = [
  ['name', /[A-Za-z_][A-Za-z0-9_]*/y, (_run, written) => written],
  ['number', /-?\d+/y, (run, written) => parseJson(run, written.replace(/^(-?)0+(?=\d)/, '$1'))],
  ['quoted', /"(?:\\[^]|[^"\\])*"/y, parseJson],
  ['literal', /'(?:\\[^]|[^'\\])*'/y, (_run, written) => written.slice(1, -1).replaceAll("\\'", "'")],
  ['literal', /`(?:\\[^]|[^`\\])*`/y, (run, written) => literal(run, written.slice(1, -1).replaceAll('\\`', '`'))],
];

/** Splits an expression of JMESPath. The last token is of type `end`. */
export const tokensOf = (run: Run, expression: string): readonly Token[] => {
  if (expression === '') throw queryError('the expression is empty');
  if (expression.length > mostCharacters) throw limitError(`A JMESPath may have ${mostCharacters} characters`);
  run.budget.step(expression.length);
  const tokens: Token[] = [];
  let at = 0;
  const take = (form: RegExp): string | undefined => {
    form.lastIndex = at;
    return form.exec(expression)?.[0];
  };
  const token = (): Token => {
    for (const [type, form, read] of forms) {
      const written = take(form);
      if (written === undefined) continue;
      const value = read(run, written);
      at += written.length;
      return { type, value, at };
    }
    const operator = take(/\[[\]?]|\|\||&&|[<>!=]=|[.*\],:@(){}[|&<>!]/y);
    if (operator === undefined) throw queryError(`cannot read from character ${at} on`);
    at += operator.length;
    return { type: operator, value: null, at };
  };
  for (;;) {
    at += take(/[ \t\n\r]*/y)?.length ?? 0;
    if (at >= expression.length) return [...tokens, { type: 'end', value: null, at }];
    tokens.push(token());
  }
};
