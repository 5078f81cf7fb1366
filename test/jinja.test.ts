import assert from 'node:assert/strict';
import { TemplateError } from '../src/southbound/jinja/errors.ts';
import { renderTemplate } from '../src/southbound/jinja/render.ts';

/** A template, what it prints, and variables if it has any. */
type Row = readonly [template: string, text: string, variables?: Record<string, unknown>];

const prints = (rows: readonly Row[]): void => {
  for (const [template, text, variables = {}] of rows)
    it(`${template} prints ${JSON.stringify(text)}`, () => assert.equal(renderTemplate(template, variables), text));
};

const refuses = (rows: readonly (readonly [template: string, line: number, reason: RegExp])[]): void => {
  for (const [template, line, reason] of rows) {
    it(`${JSON.stringify(template)} is refused in line ${line}`, () =>
      assert.throws(
        () => renderTemplate(template, {}),
        (error: unknown) => {
          assert.ok(error instanceof TemplateError, String(error));
          assert.match(error.message, reason);
          assert.equal(error.line, line);
          return true;
        },
      ));
  }
};

describe('what templates print', () => {
  describe('values as Python shows them', () =>
    prints([
      ['{{ none }} {{ true }} {{ [true, none] }}', 'None True [True, None]'],
      ['{{ 1.0 }} {{ 1e16 }} {{ 0.00001 }} {{ 1e300 * 1e300 }}', '1.0 1e+16 1e-05 inf'],
      ['{{ x }}', "{'b': 1, 'a': [1.5, None, 'it']}", { x: { b: 1, a: [1.5, null, 'it'] } }],
      [`{{ ["it's", 'say "x"', "both ' and \\""] }}`, `["it's", 'say "x"', 'both \\' and "']`],
      ['{{ (1,) }} {{ () }} {{ 1, "a" }}', "(1,) () (1, 'a')"],
      ['{{ {1: "a", true: "b", 1.0: "c"} }}', "{1: 'c'}"],
      ['{{ 2 ** 64 }} {{ n + 1 }}', '18446744073709551616 9007199254740993', { n: 9007199254740992 }],
      ['{{ nope }}|{{ x.nope }}', '|', { x: {} }],
    ]));
  describe('arithmetic with the signs of Python', () =>
    prints([
      ['{{ -7 // 2 }} {{ -7 % 3 }} {{ 7 // -2 }} {{ 7 % -3 }}', '-4 2 -4 -2'],
      ['{{ 7 / 2 }} {{ 4 / 2 }} {{ 2 ** -1 }} {{ 7 // 2.0 }}', '3.5 2.0 0.5 3.0'],
      ['{{ 10 ** 23 / 10 ** 22 }} {{ 2.675|round(2) }} {{ 0.5|round }} {{ 1.5|round }}', '10.0 2.67 0.0 2.0'],
      ['{{ 1 < 2 < 3 }} {{ 1 == true }} {{ "a" in ["a"] }}', 'True True True'],
    ]));
  describe('scopes', () =>
    prints([
      ['{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{{ x }}{% endfor %}{{ x }}', '21'],
      ['{% set n = namespace(x=1) %}{% for i in [1] %}{% set n.x = 2 %}{% endfor %}{{ n.x }}', '2'],
      ['{% macro m(a, b=a) %}{{ a }}{{ b }}{{ varargs }}{% endmacro %}{{ m(1) }}{{ m(1, 2, 3) }}', '11()12(3,)'],
      ['{% macro w() %}<{{ caller(1) }}>{% endmacro %}{% call(x) w() %}{{ x }}{% endcall %}', '<1>'],
    ]));
  describe('names that JavaScript gives a meaning to', () =>
    prints([
      [
        '{{ x.__proto__ }}|{{ x.constructor }}|{{ x.toString }}|{{ x.hasOwnProperty }}|{{ x.length }}',
        '||||',
        { x: {} },
      ],
      ['{{ "".constructor }}|{{ [].length }}|{{ [].map }}|{{ "".length }}|{{ (1).toString }}', '||||'],
      ['{{ x["__proto__"] }} {{ x.constructor }}', '1 2', { x: JSON.parse('{"__proto__": 1, "constructor": 2}') }],
      ['{% set __proto__ = 1 %}{{ __proto__ }}{{ constructor }}{{ toString }}', '1'],
      ['{% set d = {"__proto__": {"polluted": 1}} %}{{ d }}{{ {}.polluted }}', "{'__proto__': {'polluted': 1}}"],
      ['{{ "constructor" is filter }}{{ "__proto__" is test }}', 'FalseFalse'],
    ]));
});

describe('templates that do not render', () =>
  refuses([
    ['a\nb\n{{ x.y }}', 3, /^'x' is undefined$/],
    ['{% for i in [1] %}\n{{ 1 / 0 }}\n{% endfor %}', 2, /^ZeroDivisionError: division by zero$/],
    ['{% macro m() %}\n{{ "a" + 1 }}{% endmacro %}\n{{ m() }}', 2, /^TypeError: /],
    ['\n{{ 1 +', 2, /unexpected 'end of template'/],
    [
      '{% if a %}',
      1,
      /Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else' or 'endif'/,
    ],
    ['\n\n{% include "x" %}', 3, /include.* needs other templates/],
    ['{{ 1|nope }}', 1, /^No filter named 'nope'\.$/],
    ['\n{{ x|ipadr }}', 2, /^No filter named 'ipadr'\. The nearest is 'ipaddr'\.$/],
    ['{{ x|regexreplace("a") }}', 1, /The nearest is 'regex_replace'/],
    ['{{ x|intersection([]) }}', 1, /The nearest is 'intersect'/],
    ['{{ [[1]]|map("to_yml")|list }}', 1, /No filter named 'to_yml'\. The nearest is 'to_yaml'/],
    ['{{ "a"|regex_search("(a)\\\\1") }}', 1, /reference \\1 cannot be matched in linear time/],
    ['{{ "a"|regex_search("(?=a)") }}', 1, /a lookahead or lookbehind cannot be matched in linear time/],
    ['{{ [1]|random }}', 1, /random is not supported/],
    ['{{ lipsum() }}', 1, /'lipsum' is not supported/],
    ['{{ "x".encode() }}', 1, /bytes are not supported/],
  ]));
