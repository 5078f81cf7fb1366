import assert from 'node:assert/strict';
import { renderTemplate, TemplateError } from '../../src/index.ts';

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

describe('what templates cannot print', () =>
  refuses([['{{ "\\ud83d" }}', 1, /UnicodeEncodeError: surrogates are not allowed/]]));

describe('what of Ansible is refused in words', () =>
  refuses([
    ...['lookup', 'query', 'q'].map(
      (name) =>
        [`{{ ${name}('file', '/etc/passwd') }}`, 1, new RegExp(`'${name}' is undefined\\. .*reads no files`)] as const,
    ),
    ['{{ {}|ansible.builtin.combin({}) }}', 1, /The nearest is 'combine'/],
    ['{{ []|json_qery("a") }}', 1, /The nearest is 'json_query'/],
    ['{{ "a" is ansible.builtin.serch("a") }}', 1, /No test named .* The nearest is 'search'/],
    ['{{ "1" is version("2", "lt", version_type="pep440") }}', 1, /Must be one of loose, strict, semver, semantic/],
  ]));

describe('what templates print', () => {
  describe("Ansible's tests and queries", () =>
    prints([
      ['{{ ["Gi0/1", "Te0/1"]|select("match", "^Gi")|list }}', "['Gi0/1']"],
      ['{{ "15.2(4)M10" is version("15.2(4)M3", ">=") }} {{ "1.9"|version_compare("1.10", "lt") }}', 'True True'],
      ['{{ "Yes"|bool }} {{ "x"|ansible.builtin.bool }}', 'True False'],
      ['{{ {"20": 1, "10": 2.0}|json_query("@") }}', "{'20': 1, '10': 2.0}"],
      [
        '{{ [{}, "a", [1]]|json_query("[].[__proto__, constructor, toString]") }}',
        '[[None, None, None], [None, None, None], [None, None, None]]',
      ],
      ['{{ lookup is defined }} {{ query }}', 'False '],
    ]));

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
    ['\n\n{% include "x" %}', 3, /^TemplateNotFound: There is no template 'x'$/],
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

describe('templates that use others', () => {
  const chainOf = (count: number, between: (name: string) => string): ReadonlyMap<string, string> =>
    new Map(Array.from({ length: count }, (_, i) => [`t${i}`, i + 1 < count ? between(`t${i + 1}`) : 'end']));
  const refuse = (
    template: string,
    stored: ReadonlyMap<string, string>,
    reason: RegExp,
    where: { readonly line: number; readonly template?: string } = { line: 1 },
  ) =>
    assert.throws(
      () => renderTemplate(template, {}, stored),
      (error: unknown) => {
        assert.ok(error instanceof TemplateError, String(error));
        assert.match(error.message, reason);
        assert.deepEqual({ line: error.line, template: error.template }, { template: undefined, ...where });
        return true;
      },
    );
  const stored = (texts: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
    new Map(Object.entries(texts));

  it('say which template a mistake is in', () => {
    refuse('{% include "b" %}', stored({ b: '\n{{ 1 / 0 }}' }), /^ZeroDivisionError/, { line: 2, template: 'b' });
    refuse('{% include "b" %}', stored({ b: '\n\n{% if %}' }), /Expected an expression/, { line: 3, template: 'b' });
    refuse('\n{{ 1 / 0 }}{% include "b" %}', stored({ b: '\n\nb' }), /^Zero/, { line: 2 });
    refuse('\n{% include "b" %}{{ 1 / 0 }}', stored({ b: '\n\n\nb' }), /^Zero/, { line: 2 });
    refuse(
      '{% import "b" as b %}\n{{ b.m() }}',
      stored({ b: '{% macro m() %}\n\n{{ 1 / 0 }}{% endmacro %}' }),
      /^Zero/,
      {
        line: 3,
        template: 'b',
      },
    );
    refuse('{% import "b" as b %}{{ b.m() }}\n{{ 1 / 0 }}', stored({ b: '{% macro m() %}m{% endmacro %}' }), /^Zero/, {
      line: 2,
    });
    refuse(
      '{% extends "b" %}{% block x %}\n{{ 1 / 0 }}{% endblock %}',
      stored({ b: '{% block x %}{% endblock %}' }),
      /^Z/,
      {
        line: 2,
      },
    );
    refuse('{% extends "b" %}', stored({ b: '\n{% include "c" %}' }), /no template 'c'/, { line: 2, template: 'b' });
  });

  it('show the cycle', () => {
    const cycle = stored({
      a: '{% include "b" %}',
      b: '{% include "a" %}',
      c: '{% include "a" %}',
      d: '{% extends "d" %}',
    });
    refuse('{% include "a" %}', cycle, /^The templates call each other without end: a -> b -> a$/, {
      line: 1,
      template: 'b',
    });
    refuse('{% include "c" %}', cycle, /without end: a -> b -> a$/, { line: 1, template: 'a' });
    refuse('{% extends "d" %}', cycle, /without end: d -> d$/, { line: 1, template: 'd' });
    refuse('{% import "i" as i %}', stored({ i: '{% import "i" as i %}' }), /without end: i -> i$/, {
      line: 1,
      template: 'i',
    });
  });

  it('may be 16 within each other', () => {
    for (const between of [
      (name: string) => `{% include "${name}" %}`,
      (name: string) => `{% extends "${name}" %}`,
      (name: string) => `{% import "${name}" as m %}{{ m }}`,
    ]) {
      assert.equal(renderTemplate(between('t0'), {}, chainOf(16, between)), 'end');
      assert.throws(
        () => renderTemplate(between('t0'), {}, chainOf(17, between)),
        /deeper than 16: the given text -> t0/,
      );
    }
  });

  it('may be 100, whether their names are literal or not', () => {
    const many = chainOf(101, () => 'x');
    const literal = (count: number) => Array.from({ length: count }, (_, i) => `{% include "t${i}" %}`).join('');
    const computed = (count: number) => `{% for i in range(${count}) %}{% include "t" ~ i %}{% endfor %}`;
    for (const template of [literal, computed]) {
      assert.equal(renderTemplate(template(100), {}, many), 'x'.repeat(100));
      refuse(template(101), many, /uses more than 100 other templates/);
    }
    refuse('{% for i in range(101) %}{% include "no" ~ i ignore missing %}{% endfor %}', many, /more than 100/);
  });

  it('have names, and nothing else is looked for', () => {
    for (const name of ['', 'x'.repeat(257)])
      refuse(`{% include "${name}" %}`, new Map([[name, 'never']]), /There is no template/);
    assert.equal(renderTemplate('{% include "__proto__" %}', {}, new Map([['__proto__', 'p']])), 'p');
    refuse('{% include "constructor" %}', new Map(), /There is no template 'constructor'/);
  });
});
