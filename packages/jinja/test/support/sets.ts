import fc from 'fast-check';
import type { Case } from './oracle.ts';

/** The stored templates. Each uses only those behind it, so none goes round in a circle. */
const names = ['a', 'b', 'c'];

const print = fc.constantFrom(
  '{{ p1 }}{{ p2 }}{{ p3 }}{{ q1 }}',
  '{{ p|default("-") }}',
  '{{ q|default("-") }}',
  '{{ r|default("-") }}',
  '{{ i|default("-") }}',
  '{{ g|default("-") }}{{ h|default("-") }}',
  '{{ loop.index if loop is defined else "-" }}',
  '{{ m("z") if m is defined }}',
  '{{ super() if super is defined }}',
  '{{ self.b0() if self.b0 is defined }}',
  '{{ self.b1()|upper if self.b1 is defined }}',
);
const assign = fc.constantFrom('{% set p1 = 1 %}', '{% set p2 = 2 %}', '{% set q1, r1 = 3, 4 %}', '{% set _h = 5 %}');

/** Uses of another template; `outside`: where its text goes straight to the output. */
const uses = (others: readonly string[], outside: boolean): fc.Arbitrary<string>[] => {
  if (others.length === 0) return [];
  const name = fc.constantFrom(...others);
  const context = fc.constantFrom('', ' with context', ' without context');
  const included = fc.constantFrom('', ' with context', ...(outside ? [' without context'] : []));
  const all = '{{ x.m("y") if x.m is defined }}{{ x.p1|default("-") }}{{ x.g|default("-") }}{{ x }}';
  return [
    fc.tuple(name, included).map(([one, how]) => `{% include "${one}"${how} %}`),
    fc.tuple(name, included).map(([one, how]) => `{% include ["none", "${one}"]${how} %}`),
    fc.tuple(name, context).map(([one, how]) => `{% import "${one}" as x${how} %}${all}`),
    fc.tuple(name, context).map(([one, how]) => `{% from "${one}" import m, p1 as h${how} %}`),
  ];
};

const statements = (others: readonly string[]): fc.Arbitrary<string> =>
  fc.letrec<{ body: string; inner: string }>((tie) => ({
    body: fc
      .array(
        fc.oneof({ maxDepth: 3, withCrossShrink: true }, fc.oneof(print, assign, fc.constant('t')), tie('inner')),
        { minLength: 1, maxLength: 4 },
      )
      .map((all) => all.join('')),
    inner: fc.oneof(
      ...uses(others, false),
      tie('body').map((body) => `{% for i in [1, 2] %}${body}{% endfor %}`),
      tie('body').map((body) => `{% for i in [6, 7] if i > 6 %}${body}{% else %}e{% endfor %}`),
      tie('body').map((body) => `{% with q = 8 %}${body}{% endwith %}`),
      fc
        .tuple(tie('body'), tie('body'))
        .map(([one, other]) => `{% if p is defined %}${one}{% else %}${other}{% endif %}`),
      tie('body').map((body) => `{% block BLOCK %}(${body}){% endblock %}`),
      tie('body').map((body) => `{% block BLOCK scoped %}(${body}){% endblock %}`),
      tie('body').map((body) => `{% macro m(r=9) %}<${body}>{% endmacro %}`),
      tie('body').map((body) => `{% macro k() %}[{{ caller() }}]{% endmacro %}{% call k() %}${body}{% endcall %}`),
      tie('body').map((body) => `{% set p3 %}${body}{% endset %}`),
      tie('body').map((body) => `{% filter upper %}${body}{% endfilter %}`),
    ),
  })).body;

const template = (others: readonly string[]): fc.Arbitrary<string> => {
  const body = statements(others);
  const first = others[0];
  const extending =
    first === undefined
      ? []
      : [
          body.map((text) => `{% extends "${first}" %}${text}`),
          fc.tuple(body, body).map(([one, other]) => `${one}{% extends "${others.at(-1)}" %}${other}`),
          fc
            .tuple(body, body)
            .map(([one, other]) => `${one}{% if p is defined %}{% extends "${first}" %}{% endif %}${other}`),
        ];
  return fc
    .tuple(fc.oneof(body, ...extending), fc.oneof(fc.constant(''), ...uses(others, true)))
    .map(([text, use]) => numbered(text + use));
};

/** No template has two blocks of one name, but several templates have the same. */
const numbered = (text: string): string => {
  let count = 0;
  return text.replaceAll('BLOCK', () => `b${count++}`);
};

const set = fc.tuple(template(names), ...names.map((_, i) => template(names.slice(i + 1))));

/** As many templates as asked for, with stored ones that they use; the same for a seed. */
export const sets = (count: number, seed: number): Case[] =>
  fc.sample(set, { numRuns: count, seed }).map(([main, ...others], i) => ({
    name: `set ${seed}/${i}`,
    template: main!,
    variables: { g: 'given' },
    stored: Object.fromEntries(names.map((name, at) => [name, others[at]!])),
  }));
