import assert from 'node:assert/strict';
import { linearPattern } from '@automation-platform/bounded-schemas';
import { newJob } from '@automation-platform/jinja';
import {
  asTemplate,
  compareLines,
  configurationBounds,
  type Golden,
  goldenLines,
  gradeOf,
  masking,
  mergeGoldens,
  nestedLines,
  type Rules,
  readConfiguration,
  readGolden,
  requiredLines,
  type SpecLine,
  specLines,
  TextFault,
  writeLines,
} from '../../src/index.ts';

const compile = (expression: string) => {
  const { expression: pattern } = linearPattern(expression, {});
  return (text: string): boolean => pattern.matcher(text).find();
};

const golden = (text: string, type: string): Golden => readGolden(text, type, compile, { rules: rulesOf(type) });

/** The findings of a comparison, in one line each: passes, then issues. */
const compared = (type: string, texts: readonly string[], configuration: string): readonly string[] => {
  const merged = mergeGoldens(texts.map((text) => golden(text, type)));
  const { totals, issues } = compareLines(merged, readConfiguration(configuration, type, rulesOf(type)), masking([]));
  return [
    `${totals.passes} passed`,
    ...issues.map(({ severity, type, parents, spec, found }) =>
      [severity, type, [...parents, found ?? spec.words.map(({ value }) => value).join(' ')].join(' > ')].join(' '),
    ),
  ];
};

/** Rules of a parser, as the engine uses them. */
const rules: Rules = (
  [
    ['//[^\\n]*', 'comment'],
    ['"[^"]*"|\'[^\']*\'|[a-z0-9]+', 'word'],
    [';', 'end_line'],
    ['\\{', 'open_statement_block'],
    ['\\}', 'close_statement_block'],
    ['x*', 'word'],
  ] as const
).map(([expression, action]) => {
  const pattern = new RegExp(expression, 'y');
  const begins = (text: string): number | undefined => {
    pattern.lastIndex = 0;
    return pattern.exec(text)?.[0].length;
  };
  return { action, begins };
});
const rulesOf = (type: string): Rules | undefined => (type === 'by rules' ? rules : undefined);

/** Lines of a configuration as `words|words > words`: levels as `>`. */
const read = (type: string, text: string): readonly string[] => {
  const { texts, ends } = readConfiguration(text, type, rulesOf(type));
  const open: number[] = [];
  return texts.map((line, i) => {
    while ((open.at(-1) ?? Infinity) <= i) open.pop();
    open.push(ends[i] ?? 0);
    return `${'>'.repeat(open.length - 1)}${line.replaceAll('\0', '¦')}`;
  });
};

const rows = (text: string): string => text.replaceAll('|', '\n');

const forms: readonly (readonly [name: string, type: string, text: string, lines: readonly string[]])[] = [
  ['indentation', 'cisco-ios', 'a|  b|   c|  d|\te|f', ['a', '>b', '>>c', '>d', '>e', 'f']],
  ['a line less indented than its sister', 'x', 'a|   b| c|d', ['a', '>b', '>c', 'd']],
  [
    'comments, the head, and what leaves a section',
    'cisco_ios',
    'Building configuration...||Current configuration : 10 bytes|! x|a| !| b| exit|exit-address-family|next|end|# y|Using it',
    ['a', '>b', 'Using it'],
  ],
  ['the date at the head', 'cisco-ios-xr', 'Tue Jan  3 12:00:00.1 UTC|a', ['a']],
  ['blanks between words, and in quotes', 'x', 'a   b\tc "d  e" f  ', ['a b c "d  e" f']],
  ['CR alone and before a newline', 'x', 'a\r b\r\nc', ['a', '>b', 'c']],
  ['a banner', 'cisco-ios', 'banner motd ^C|  Hi  || #x|^C|a', ['banner motd ¦\n  Hi\n\n #x\n¦', 'a']],
  ['a banner of one line', 'cisco-ios', 'banner motd #Hi you#|a', ['banner motd ¦Hi you¦', 'a']],
  [
    'a banner that does not end',
    'cisco-ios',
    'banner motd ^C|b|banner exec #|c',
    ['banner motd ^C', 'b', 'banner exec #', 'c'],
  ],
  ['a banner up to EOF', 'arista-eos', 'banner login|x| y|EOF|a', ['banner login ¦\nx\n y\n¦', 'a']],
  [
    'no delimiters in ASA',
    'cisco-asa',
    'banner motd *** a|banner motd *** b',
    ['banner motd *** a', 'banner motd *** b'],
  ],
  [
    'a certificate',
    'cisco-ios',
    'chain| certificate ca 01|  30 AB|  CD|  quit| b',
    ['chain', '>certificate ca 01 30ABCD', '>b'],
  ],
  ['no certificate', 'cisco-ios', 'certificate ca 01|  30|x|quit', ['certificate ca 01', '>30', 'x', 'quit']],
  [
    'braces',
    'juniper-junos',
    'a {|  b c;|  d { e; } /* x; */|}|## z|f "g ; {|h";|i',
    ['a', '>b c', '>d', '>>e', 'f "g ; {\nh"', 'i'],
  ],
  ['lists', 'juniper-junos', 'a [ b c ];|d [ e ] f;', ['a b', 'a c', 'd e f']],
  ['inactive and protected', 'juniper-junos', 'inactive: a { b { c; } }|protect: d { inactive: e; f; }', ['d', '>f']],
  [
    'F5',
    'f5-bigip',
    'ltm pool p {|  members {|    a { address 1 }|  }|  x y|}',
    ['ltm pool p', '>members', '>>a', '>>>address 1', '>x y'],
  ],
  [
    'set',
    'juniper-junos',
    'set a b|set a c "d|e"|set x|set x y|deactivate x|delete a b|set a b 2',
    ['a c "d\ne"', 'a b 2'],
  ],
  ['activate', 'juniper-junos', 'set x|deactivate x|activate x', ['x']],
  ['braces with a line that begins with set', 'juniper-junos', 'a {|  set b;|}', ['a', '>set b']],
  ['paths', 'vyos', 'set a b|a c', ['a b', 'a c']],
  ...(
    [
      [
        'blocks, words and comments',
        'a {|  b "c  d"; // x|  e { f; }|}|\'g h\' 1',
        ['a', '>b "c  d"', '>e', '>>f', "¦'g h'¦ 1"],
      ],
      ['a character that no rule finds is a word', 'a=b %%;c', ['a = b % %', 'c']],
      ['blanks that no rule finds separate words', 'a\t b|c;', ['a b c']],
      ['an opened quote is a word', '"a b;', ['¦"¦ a b']],
      ['a block without words', '{ a; }', ['', '>a']],
    ] as const
  ).map(([name, text, lines]) => [`rules: ${name}`, 'by rules', text, lines] as const),
  ['one line of 4 MiB', 'x', 'a'.repeat(4 * 1024 * 1024), ['a'.repeat(4 * 1024 * 1024)]],
];

const unreadable: readonly (readonly [name: string, type: string, text: string, why: RegExp])[] = [
  ['nothing', 'x', '', /no lines/],
  ['comments alone', 'x', '!|end|', /no lines/],
  ['a page of HTML', 'x', '|<!DOCTYPE html><html>', /HTML/],
  ['a NUL', 'x', 'a|b\0', /line 2: .*NUL/],
  ['a lone surrogate', 'x', 'a\ud800', /surrogate/],
  ['a program', 'x', '\x7fELF\x02\x01\0\0|a', /line 1: .*NUL/],
  ['braces that do not close', 'juniper-junos', 'a {|b {|c;|}', /line 1: .*not closed/],
  ['a brace too many', 'f5-bigip', 'a {|}|}', /line 3: .*closes no block/],
  ['a block of rules that does not close', 'by rules', 'a {|b;', /line 1: .*not closed/],
  ['an end of a block too many', 'by rules', 'a;|}', /line 2: .*closes no block/],
  ['65 blocks of rules', 'by rules', 'a {'.repeat(65) + '}'.repeat(65), /64 levels/],
  ['65 levels', 'x', Array.from({ length: 65 }, (_, i) => `${' '.repeat(i)}a`).join('|'), /line 65: .*64 levels/],
  ['65 blocks', 'juniper-junos', 'a {'.repeat(65) + '}'.repeat(65), /64 levels/],
  ['more than 200,000 statements', 'juniper-junos', 'a;'.repeat(200_001), /200000 lines/],
  ['more than 4 MiB', 'x', 'ä'.repeat(2.1 * 1024 * 1024), /bytes/],
  ['more than 200,000 lines', 'x', 'a|'.repeat(200_001), /line 200001: .*lines/],
];

const refused: readonly (readonly [name: string, type: string, text: string, why: RegExp])[] = [
  ['an unknown tag', 'x', 'a|{x/}b', /line 2: .*\{x\/\} is unknown/],
  ['an unknown severity', 'juniper-junos', 'a {|<x/>b;|}', /line 2: .*<x\/> is unknown/],
  ['an expression that is not closed', 'x', 'a|b {/c', /line 2: .*not closed/],
  ['a bad expression', 'x', 'a|b|c {/(/}', /line 3: /],
  ['what has no linear time', 'x', 'a {/(?=b)/}', /line 1: /],
  ['a long expression', 'x', `a {/${'b'.repeat(1001)}/}`, /1000 characters/],
  ['201 expressions', 'x', 'a {/b/}|'.repeat(201), /line 201: .*200 expressions/],
  ['64 KiB', 'x', 'a'.repeat(64 * 1024 + 1), /bytes/],
  ['5,001 lines', 'x', 'a|'.repeat(5001), /5000 lines/],
  ['a NUL in a text', 'x', 'a\0', /NUL/],
  ['half of a surrogate pair in a text', 'x', 'a|\udc00', /surrogate/],
  ['64 levels in a text', 'x', Array.from({ length: 65 }, (_, i) => `${' '.repeat(i)}a`).join('|'), /64 levels/],
  ['an open block', 'juniper-junos', 'a {', /not closed/],
];

const comparisons: readonly (readonly [
  name: string,
  type: string,
  texts: string | readonly string[],
  configuration: string,
  found: readonly string[],
])[] = [
  [
    'rules: tags, and expressions in words and between them',
    'by rules',
    'a {|  {d/}<e/>b;|  c{/\\d+/};|  {/d|e/} "f g" {/.*/};|}',
    'a { b; c12; e "f g" h i; }',
    ['3 passed', 'error disallowed a > b'],
  ],
  ['an expression in linear time', 'x', '{d/}a {/^(a+)+$/}', `a ${'a'.repeat(10_000)}!`, ['1 passed']],
  [
    '100,000 sections',
    'x',
    'a{/\\d+/}| b',
    Array.from({ length: 100_000 }, (_, i) => `a${i}| b`).join('|'),
    ['100001 passed'],
  ],
  ['a tag that is not closed is a word', 'x', '{d/ a|<e/ b', '{d/ a', ['1 passed', 'warning required <e/ b']],
  ['required lines', 'x', 'a b|c', 'a b|d', ['1 passed', 'warning required c']],
  ['case counts', 'x', 'A', 'a', ['0 passed', 'warning required A']],
  [
    'each required line below a missing one',
    'x',
    'a| b|  c| {i/}d|  e| {d/}f',
    'x',
    ['0 passed', 'warning required a', 'warning required a > b', 'warning required a > b > c'],
  ],
  ['a missing line below one that is there', 'x', 'a| b', 'a| c', ['1 passed', 'warning required a > b']],
  [
    'disallowed lines',
    'x',
    '{d/}a|{d/}<e/>{/b./}',
    'b1|b2|c',
    ['1 passed', 'error disallowed b1', 'error disallowed b2'],
  ],
  [
    'children take the tags of their parent',
    'x',
    '<e/>a| b| <i/>c| {d/}d',
    'a| d',
    ['1 passed', 'error required a > b', 'info required a > c', 'warning disallowed a > d'],
  ],
  ['nothing below an absent disallowed line', 'x', '{d/}a| {d/}b', 'x', ['1 passed']],
  ['ignored lines', 'x', '{i/} <e/> a| {d/}b|{i/}c', 'a| b', ['0 passed', 'warning disallowed a > b']],
  [
    'an expression in each section',
    'x',
    'interface {/.+/}| no shutdown',
    'interface A| no shutdown|interface B C| x',
    ['2 passed', 'warning required interface B C > no shutdown'],
  ],
  [
    'an expression is searched in one word',
    'x',
    'a {/b/} c|v {/^1$/} x',
    'a xbx c|v 11 x',
    ['1 passed', 'warning required v ^1$ x'],
  ],
  ['blanks at its ends', 'x', 'a {/ b /}', 'a b', ['1 passed']],
  ['beside other characters the whole word', 'x', 'Gi{/\\d+/} x|Te{/1|2/}.{/3/}', 'Gi12 x|Te2.3', ['2 passed']],
  ['beside other characters not a part', 'x', 'Gi{/\\d+/}', 'Gi12a', ['0 passed', 'warning required ^(?:Gi(?:\\d+))$']],
  ['the words that are left', 'x', 'a {/c d/}|b {/.*/}', 'a b c d|b', ['1 passed', 'warning required b .*']],
  ['not in the middle', 'x', 'a {/.*/} d', 'a b c d', ['0 passed', 'warning required a .* d']],
  ['an expression with blanks and in quotes', 'x', 'd "{/[^" ]+ x/}"', 'd "ab x"', ['1 passed']],
  ['a catastrophe elsewhere', 'x', 'a {/(a+)+$/}', `a ${'a'.repeat(5000)}b`, ['0 passed', 'warning required a (a+)+$']],
  ['equal sections are one', 'x', 'a| b| c', 'a| b|x|a| c', ['3 passed']],
  ['equal golden lines are one', 'x', 'a| b|a| c|a', 'a| b', ['2 passed', 'warning required a > c']],
  [
    'names of members of objects',
    'x',
    'constructor|__proto__| toString',
    'constructor|__proto__| toString',
    ['3 passed'],
  ],
  ['a banner with another delimiter', 'cisco_ios', 'banner login ^|  Hi|^', 'banner login ^C|  Hi|^C', ['1 passed']],
  ['a child text disallows', 'x', ['a|b| c', '{d/}a|b| d'], 'a|b| c| d', ['3 passed', 'warning disallowed a']],
  [
    'an untagged line weakens nothing',
    'x',
    ['<e/>a', 'a| b'],
    'x',
    ['0 passed', 'error required a', 'warning required a > b'],
  ],
  ['an untagged line requires again', 'x', ['{d/}a', 'a'], 'a', ['1 passed']],
  ['strict order', 'x', '{lso/}a| b| c| d', 'a| b| d| c', ['2 passed', 'warning order a > c', 'warning order a > d']],
  [
    'strict: a missing line shifts nothing',
    'x',
    '{lso/}a| b| <e/>c| d',
    'a| b| d',
    ['3 passed', 'error required a > c'],
  ],
  [
    'strict: a foreign one shifts all',
    'x',
    '{lso/}a| b| c',
    'a| x| b| c',
    ['1 passed', 'warning order a > b', 'warning order a > c'],
  ],
  ['strict: ignored and free lines do not count', 'x', '{lso/}a| b| {i/}x| {nao/}y| c', 'a| y| x| b| c', ['4 passed']],
  ['strict: as often as they are written', 'x', '{lso/}a| p| q| p', 'a| p| q| p', ['4 passed']],
  [
    'strict: written more often than it is there',
    'x',
    '{lso/}a| p| q| p',
    'a| p| q',
    ['3 passed', 'warning required a > p'],
  ],
  ['loose order', 'x', '{llo/}a| b| c| d', 'a| x| c| b| y| d', ['3 passed', 'warning order a > c']],
  ['no order below an ordered section', 'x', '{lso/}a| b|  c|  d', 'a| b|  d|  c', ['4 passed']],
  [
    'Junos: braces',
    'juniper-junos',
    'a {|  {d/}b {|    {d/}c;|  {d/}}|  <e/>host {/x+/};|}',
    'a {|  b { c; }|  host xx;|}',
    ['2 passed', 'warning disallowed a > b', 'warning disallowed a > b > c'],
  ],
  [
    'Junos: set fits what it begins',
    'juniper-junos',
    'set a b|{d/}set c|set d {/e/} f',
    'set a b x|set d e f|set d e g',
    ['3 passed'],
  ],
  [
    'Junos: braces against set',
    'juniper-junos',
    'a {|  b {|    c;|    <e/>d;|  }|}',
    'set a b c|set a b e',
    ['1 passed', 'error required a b d'],
  ],
  [
    'Junos: set against braces',
    'juniper-junos',
    'set a b c|set a b [ x ]',
    'a { b { c; } }',
    ['1 passed', 'warning required a b [ x ]'],
  ],
  ['Junos: texts in both forms', 'juniper-junos', ['a { b; }', 'set c d'], 'a { b; }|c { d { e; } }', ['2 passed']],
  ['Junos: an empty text has no form', 'juniper-junos', ['a {|b;|}', ''], 'a {|b;|}', ['2 passed']],
  ['VyOS: the words that are left of a path', 'vyos', 'set a {/c$/}', 'set a b c', ['1 passed']],
  [
    'FortiOS',
    'fortinet-fortios',
    'config system interface| edit "wan1"|  set mode {/static|dhcp/}| next|end',
    'config system interface| edit "wan1"|  set mode dhcp| next|end',
    ['3 passed'],
  ],
];

const masked: readonly (readonly [line: string, shown: string])[] = [
  ['enable secret 9 $9$abc', 'enable secret 9 ********'],
  ['username x privilege 15 password 0 hunter2', 'username x privilege 15 password 0 ********'],
  ['password 12345678', 'password ********'],
  ['password 12', 'password ********'],
  ['snmp-server community public RO', 'snmp-server community ******** RO'],
  ['snmp-server host 10.0.0.1 public', 'snmp-server host 10.0.0.1 ********'],
  [
    'snmp-server host 10.0.0.1 vrf M version 2c public bgp',
    'snmp-server host 10.0.0.1 ******** M version 2c ******** bgp',
  ],
  [
    'snmp-server user u g v3 auth sha aaa priv aes 128 bbb',
    'snmp-server user u g v3 auth sha ******** priv aes 128 ********',
  ],
  ['ip ospf message-digest-key 1 md5 7 abc', 'ip ospf message-digest-key 1 md5 7 ********'],
  ['crypto isakmp key abc address 10.0.0.1', 'crypto isakmp key ******** address 10.0.0.1'],
  ['standby 1 authentication abc', 'standby 1 authentication ********'],
  ['aaa authentication login default local', 'aaa authentication login default local'],
  ['service password-encryption', 'service password-encryption'],
  ['pre-shared-key ascii-text "a b"', 'pre-shared-key ascii-text ********'],
  ['system root-authentication encrypted-password "$6$a"', 'system root-authentication encrypted-password ********'],
  ['ssh-rsa "ssh-rsa AAAA me"', 'ssh-rsa ********'],
  ['set psksecret ENC abc', 'set psksecret ENC ********'],
  ['snmp-agent community read cipher abc', 'snmp-agent community read cipher ********'],
  ['add name=x password="a b" secret=y', 'add name=x password=******** ******** secret=********'],
  ['add password="a b c', 'add password=******** ******** ********'],
  ['users admin phash $1$abc$def', 'users admin phash ********'],
  ['description $1$abc$def', 'description ********'],
  ['tunnel to-sealed-site', 'tunnel to-********-site'],
];

const fault = (why: RegExp) => (error: Error) => {
  assert.ok(error instanceof TextFault, String(error));
  assert.match(`line ${error.line}: ${error.message}`, why);
  return true;
};

describe('comparing: configurations are read in the form of their type', () => {
  for (const [name, type, text, lines] of forms)
    it(name, () => assert.deepEqual(read(type, text.length > 100_000 ? text : rows(text)), lines));
  for (const [name, type, text, why] of unreadable)
    it(`is no configuration: ${name}`, () =>
      assert.throws(() => readConfiguration(rows(text), type, rulesOf(type)), fault(why)));
  for (const [name, type, text, why] of refused)
    it(`is no golden text: ${name}`, () => assert.throws(() => golden(rows(text), type), fault(why)));
});

describe('comparing: golden lines and the lines of a device', () => {
  for (const [name, type, texts, configuration, found] of comparisons)
    it(name, () => {
      // In an expression, a bar is a bar.
      const whole = (text: string) => text.replace(/\{\/.*?\/\}|\|/g, (part) => (part === '|' ? '\n' : part));
      assert.deepEqual(compared(type, [texts].flat().map(whole), rows(configuration)), found);
    });
});

describe('comparing: a golden text made from a configuration', () => {
  const odd = [
    ['x', 'a {/ b|<e/>c {{ d }} {% e %}| {d/} f {# g|h {/re/} /} i'],
    ['cisco-ios', 'banner motd ^C|a {/ b^ [c] /}|^C|d'],
    ['juniper-junos', 'a { b "{/ c"; <e/>d "x {{ y"; e [ f g ]; h { } }'],
    ['paloalto-panos', 'set a "b|{% c" {/d/}|set e'],
    ['f5-bigip', 'ltm pool a {| members { b:80 { } }| monitor "{/" {| c d| }|}'],
  ] as const;
  const generated = (type: string, text: string): Golden => {
    const lines = readConfiguration(text, type);
    const written = writeLines(goldenLines(nestedLines(lines)), { type, paths: lines.paths });
    return readGolden(written, type, compile, { bounds: configurationBounds });
  };
  const short = forms.filter(([, type, text]) => text.length < 100_000 && !rulesOf(type));
  for (const [type, text] of [...short.map(([, type, text]) => [type, text] as const), ...odd])
    it(`checks clean: ${type}: ${text.slice(0, 40)}`, () => {
      const whole = text.length > 100_000 ? text : rows(text);
      const { totals } = compareLines(generated(type, whole), readConfiguration(whole, type), masking([]));
      assert.deepEqual({ ...totals, passes: totals.passes > 0 }, { errors: 0, warnings: 0, infos: 0, passes: true });
    });

  it('is Jinja2 that renders to itself', () => {
    const text = 'a {{ b }} {% c %} {# d #} {{{ e {{% f';
    const job = newJob({ template: asTemplate(text), variables: {} });
    assert.deepEqual(job.attempt(), { text });
  });

  it('is written without tags, with what must be there alone', () => {
    const text = '<e/>a|{d/}b| c|{i/}d| <w/>{/e/}|{i/}f|g|  h';
    const { section, paths } = golden(rows(text), 'x');
    assert.equal(writeLines(requiredLines(section), { type: 'x', paths }), 'a\nd\n {/e/}\ng\n h\n');
    assert.equal(
      writeLines(requiredLines(section), { type: 'juniper-junos', paths }),
      'a;\nd {\n    {/e/};\n}\ng {\n    h;\n}\n',
    );
  });
});

describe('comparing: what is shown', () => {
  it('masks secrets', () => {
    for (const [line, shown] of masked) {
      const { issues } = compareLines(golden(`{d/}${line}`, 'x'), readConfiguration(line, 'x'), masking(['sealed']));
      assert.equal(issues[0]?.found, shown);
      assert.equal(issues[0]?.spec.words.map(({ value }) => value).join(' '), shown);
    }
  });

  it('masks a secret that stands beside an expression', () => {
    const [line] = specLines(golden('k pa.ss-{/x/}', 'x').section, masking(['pa.ss']));
    assert.deepEqual(line?.words[1], { type: 'regex', value: '^(?:********-(?:x))$' });
  });

  it('gives a line the same id in each report, and no other line', () => {
    const ids = (text: string): readonly string[] => {
      const all = (lines: readonly SpecLine[]): readonly string[] =>
        lines.flatMap((one) => [one.id, ...all(one.lines)]);
      return all(specLines(golden(text, 'x').section, masking([])));
    };
    assert.deepEqual(ids('a\n b\nc\n b'), ids('<e/>a\n {d/}b\nc\n b'));
    assert.equal(new Set(ids('a\n b\nc\n b')).size, 4);
    assert.deepEqual(ids('password a'), ids('password b'));
  });

  it('shows the lines of a text', () => {
    const [line] = specLines(golden('<e/>{lso/}a Gi{/\\d/}\n {i/}"b c"', 'x').section, masking([]));
    assert.deepEqual(line, {
      id: line?.id,
      words: [
        { type: 'literal', value: 'a' },
        { type: 'regex', value: '^(?:Gi(?:\\d))$' },
      ],
      evalMode: 'required',
      severity: 'error',
      ordering: 'strict',
      fixMode: 'manual',
      membership: 'default',
      lines: [
        {
          id: line?.lines[0]?.id,
          words: [{ type: 'literal', value: '"b c"' }],
          evalMode: 'ignored',
          severity: 'warning',
          ordering: 'none',
          fixMode: 'manual',
          membership: 'default',
          lines: [],
        },
      ],
    });
  });

  it('keeps 2,000 issues, and counts all', () => {
    const { totals, issues, truncated } = compareLines(
      golden('{d/}a {/.*/}', 'x'),
      readConfiguration(Array.from({ length: 3000 }, (_, i) => `a ${i}`).join('\n'), 'x'),
      masking([]),
    );
    assert.deepEqual([totals.warnings, issues.length, truncated], [3000, 2000, true]);
  });

  it('takes linear time for what is written often', () => {
    const places = 20_000;
    const text = `{llo/}a\n${' p {/x/}\n'.repeat(190)}${' p x\n'.repeat(4000)}`;
    const { totals } = compareLines(
      golden(text, 'x'),
      readConfiguration(`a\n${' p x\n'.repeat(places)}`, 'x'),
      masking([]),
    );
    assert.deepEqual(totals, { errors: 0, warnings: 0, infos: 0, passes: 4191 });
    const [issue] = compareLines(
      golden('{d/}{/.*/}', 'x'),
      readConfiguration(`b ${'key '.repeat(places)}`, 'x'),
      masking([]),
    ).issues;
    assert.match(issue?.found ?? '', /^b key .* …$/);
  });

  it('scores and grades', () => {
    const graded = (errors: number, warnings: number, infos: number, passes: number) =>
      Object.values(gradeOf({ errors, warnings, infos, passes }));
    assert.deepEqual(graded(0, 0, 0, 0), [null, null]);
    assert.deepEqual(graded(1, 1, 2, 12), [75, 'fail']);
    assert.deepEqual(graded(0, 1, 0, 9), [90, 'pass']);
    assert.deepEqual(
      graded(0, 100_001, 0, 900_000),
      [90, 'review'],
      'the grade is that of the score before it is rounded',
    );
    assert.deepEqual(graded(0, 1, 0, 2), [66.67, 'fail']);
  });
});
