import fc from 'fast-check';
import type { Case } from './oracle.ts';

/** Variables of every kind that JSON has. */
export const mixed = {
  n: 7, m: -3, zero: 0, big: 9007199254740991, f: 2.5, g: -0.125, yes: true, no: false, nothing: null,
  s: 'GigabitEthernet0/1', t: 'Ärger & <b>', empty: '', lines: 'one\n two\n\nthree', csv: '10,20, 30',
  xs: [3, 1, 2], ys: ['b', 'A', 'c', 'b'], deep: [[1, 2], [3, [4]]], none: [],
  d: { b: 1, a: [1, 2], c: { x: 'y' } }, e: {},
  hosts: [{ name: 'r2', vlan: 20, up: true }, { name: 'R1', vlan: 10, up: false }, { name: 'r3', vlan: 10, up: true, note: "it's" }],
};

const literal = fc.constantFrom('0', '1', '-1', '2', '10', '255', '1.0', '0.1', '1e3', '1e20', '1.5e-7', "'a'", "'abc'", "'Ab-c d'", '"it\'s"', "'%s-%d'", "'{}-{!r}'", "'x,y,,z'", "''", 'true', 'none', '[]', '[1, 2]', '(1,)', '()', "('a', 1)", '{}', "{'k': 1}", "{1: 'a', true: 'b'}", '[1, [2, none]]', 'missing', 'range(4)');
const name = fc.constantFrom(...Object.keys(mixed));
const small = fc.constantFrom('0', '1', '2', '-1', '3', '5');
const part = fc.constantFrom("'a'", "'b'", "'-'", "','", "'0'", "' '", "'/'");

const noArguments = ['abs', 'capitalize', 'count', 'default', "default('x')", "default('x', true)", 'dictsort', 'escape', 'e', 'filesizeformat', 'filesizeformat(true)', 'first', 'float', 'forceescape', 'indent',
  'indent(2, true)', "indent('> ', true, true)", 'int', 'int(9)', "int(base=16)", 'items|list', 'join', "join(', ')", "join('-', 'name')", 'last', 'length', 'list', 'lower', 'max', 'min', 'max(attribute="vlan")', 'pprint', 'reject|list', 'reverse|list', 'reverse', 'round', 'round(1)', "round(1, 'ceil')", "round(0, 'floor')",
  'round(-1)', 'safe', 'select|list', "select('odd')|list", "selectattr('up')|list", "rejectattr('vlan', 'gt', 10)|list", "selectattr('note', 'defined')|map(attribute='name')|list", 'slice(2)|list', 'slice(3, 0)|list', 'batch(2)|list', "batch(2, 'x')|list", 'sort', 'sort(reverse=true)', 'sort(case_sensitive=true)', "sort(attribute='vlan,name')", 'string', 'striptags',
  'sum', "sum(attribute='vlan')", 'sum(start=[])', 'title', 'tojson', 'tojson(2)', 'trim', 'truncate(9)', 'truncate(5, true)', "truncate(6, false, '..', 0)", 'unique|list', 'upper', 'urlencode', 'urlize', 'wordcount', 'wordwrap(8)', 'xmlattr', "map('upper')|list", "map('int')|list", "map(attribute='name')|join(',')", "map(attribute='note', default='-')|list", "groupby('vlan')", "groupby('note', default='')|list",
  "replace('a', 'ZZ')", "replace('', '.')", 'center(12)', "attr('name')", "format(1, 2)", "map('default', 'q')|list", "map('string')|join('|')"];
const tests = ['boolean', 'callable', 'defined', 'divisibleby 3', 'eq 1', 'escaped', 'even', 'false', 'float', 'ge 2', 'in [1, 2.5, "a"]', 'integer', 'iterable', 'lower', 'mapping', 'ne 2', 'none', 'number', 'odd', 'sameas none', 'sequence', 'string', 'true', 'undefined', 'upper', 'not none', 'not in xs'];
const methods = ['upper()', 'lower()', 'title()', 'capitalize()', 'swapcase()', 'strip()', "strip('Gab')", "lstrip('G')", "rstrip('1/')", 'split()', "split(',')", "split('-', 1)", "rsplit('/', 1)", 'rsplit(none, 1)', 'splitlines()', 'splitlines(true)', "join(['x', 'y'])", "replace('a', 'b')", "replace('b', '', 1)", "startswith('G')", "endswith(('c', '1'))", "find('b')", "rfind('b')", "index('b')", "count('b')", "count('')", 'zfill(6)', "center(9, '*')", 'ljust(5)', 'rjust(25)', 'isdigit()', 'isalpha()', 'isalnum()', 'isspace()', 'islower()', 'isupper()', 'istitle()', 'isnumeric()', 'isidentifier()', "partition('/')", "rpartition('b')", "format(1, 'x')", 'expandtabs(4)', 'casefold()', "removeprefix('Gig')", "removesuffix('1')",
  'items()', 'keys()', 'values()', "get('a')", "get('zz', 5)", "pop('b')", "pop('zz')", "setdefault('q', 1)", "update({'z': 2})", 'copy()', 'append(4)', 'extend([5])', 'insert(1, 9)', 'pop()', 'pop(0)', 'remove(2)', 'index(2)', 'count(2)', 'sort()', 'reverse()', 'clear()', 'bit_length()', 'is_integer()', 'keys()|list', 'items()|list', '__class__', 'nope', 'name', 'vlan', '0', '1.0'];
const formats = ["'%5d'", "'%-5s|'", "'%05.1f'", "'%x'", "'%+d'", "'%e'", "'%g'", "'%r'", "'%s'", "'%3s'", "'%.2s'", "'%c'", "'%%'", "'%(b)s'", "'%s %s'", "'%i'", "'%o'", "'%#x'", "'%10.3e'", "'%G'"];
const specs = ['', ':>8', ':<8', ':^9', ':*^9', ':05', ':+', ':,', ':_', ':b', ':x', ':#x', ':o', ':e', ':.2f', ':08.3f', ':.3', ':g', ':.1%', ':d', ':s', ':10,.2f', ': ', '!r', '!s:>5', ':.0f', ':c', ':n', ':=+8', ':X', ':.1e'];

const expression: fc.Arbitrary<string> = fc.letrec<{ e: string }>((tie) => ({
  e: fc.oneof({ maxDepth: 4, depthSize: 'small', withCrossShrink: true },
    { arbitrary: name, weight: 4 }, { arbitrary: literal, weight: 3 },
    { arbitrary: fc.tuple(tie('e'), fc.constantFrom('+', '-', '*', '/', '//', '%', '~', '~', '+', '-'), tie('e')).map(([a, o, b]) => `(${a} ${o} ${b})`), weight: 4 },
    { arbitrary: fc.tuple(tie('e'), fc.constantFrom('0', '2', '3', '0.5', '-1')).map(([a, b]) => `((${a}) ** ${b})`), weight: 1 },
    { arbitrary: fc.tuple(tie('e'), fc.constantFrom('==', '!=', '<', '<=', '>', '>=', 'in', 'not in'), tie('e')).map(([a, o, b]) => `(${a} ${o} ${b})`), weight: 3 },
    { arbitrary: fc.tuple(tie('e'), fc.constantFrom('and', 'or'), tie('e')).map(([a, o, b]) => `(${a} ${o} ${b})`), weight: 1 },
    { arbitrary: fc.tuple(fc.constantFrom('-', '+', 'not '), tie('e')).map(([o, a]) => `(${o}${a})`), weight: 1 },
    { arbitrary: fc.tuple(tie('e'), fc.constantFrom(...noArguments)).map(([a, f]) => `(${a})|${f}`).map((text) => `(${text})`), weight: 8 },
    { arbitrary: fc.tuple(tie('e'), fc.constantFrom(...tests)).map(([a, f]) => `((${a}) is ${f})`), weight: 3 },
    { arbitrary: fc.tuple(tie('e'), fc.constantFrom(...methods)).map(([a, f]) => `(${a}).${f}`).map((text) => `(${text})`), weight: 6 },
    { arbitrary: fc.tuple(tie('e'), fc.oneof(small, part, name)).map(([a, k]) => `((${a})[${k}])`), weight: 2 },
    { arbitrary: fc.tuple(tie('e'), fc.option(small, { nil: '' }), fc.option(small, { nil: '' }), fc.option(fc.constantFrom('1', '2', '-1', '-2'), { nil: '' })).map(([a, x, y, z]) => `((${a})[${x}:${y}:${z}])`), weight: 2 },
    { arbitrary: fc.tuple(tie('e'), tie('e'), tie('e')).map(([a, b, c]) => `(${a} if ${b} else ${c})`), weight: 1 },
    { arbitrary: fc.tuple(tie('e'), tie('e')).map(([a, b]) => `[${a}, ${b}]`), weight: 1 },
    { arbitrary: fc.tuple(tie('e'), tie('e')).map(([a, b]) => `(${a}, ${b})`), weight: 1 },
    { arbitrary: fc.tuple(part, tie('e')).map(([a, b]) => `{${a}: ${b}}`), weight: 1 },
    { arbitrary: fc.tuple(fc.constantFrom(...formats), tie('e')).map(([a, b]) => `(${a} % (${b}))`), weight: 2 },
    { arbitrary: fc.tuple(fc.constantFrom(...specs), tie('e')).map(([a, b]) => `('{${a}}'.format(${b}))`), weight: 2 },
  ),
})).e;

/** As many templates of one expression as asked for, the same for a seed. */
export const expressions = (count: number, seed: number): Case[] =>
  fc.sample(expression, { numRuns: count, seed }).map((text, i) => ({
    name: `expression ${seed}/${i}`,
    template: i % 7 === 0 ? `{% autoescape true %}{{ ${text} }}{% endautoescape %}` : `{{ ${text} }}`,
    variables: mixed,
  }));
