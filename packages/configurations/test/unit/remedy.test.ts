import assert from 'node:assert/strict';
import fc from 'fast-check';
import { goldenLines, nestedLines, readConfiguration, type Written, writeLines } from '../../src/index.ts';
import { applied, compared, remedied } from '../support/remedies.ts';

const wanted = ['alpha 1', 'beta', 'gamma 2 3', 'delta x'];
const unwanted = ['xray 1', 'xray 2', 'yankee'];
const others = ['quebec 1', 'quebec 2', 'romeo'];
const levels = 3;

type Node = { readonly line: string; readonly lines: readonly Node[] };

const nodes = (line: fc.Arbitrary<string>, level = levels): fc.Arbitrary<readonly Node[]> =>
  fc.uniqueArray(
    fc.record({ line, lines: level === 1 ? fc.constant([]) : nodes(line, level - 1) }) as fc.Arbitrary<Node>,
    { maxLength: 4, selector: ({ line: text }) => text.replace(/^(?:\{\w+\/\}|<\w\/>)+/, '') },
  );

/** Required lines are never ones that must not be there, because no proposal helps a text that contradicts itself. */
const goldenNodes = nodes(
  fc.oneof(
    fc
      .tuple(fc.constantFrom('', '{i/}', '<e/>', '{lso/}', '{llo/}', '{nao/}'), fc.constantFrom(...wanted))
      .map((all) => all.join('')),
    fc.constantFrom(...unwanted, 'xray {/.+/}').map((text) => `{d/}${text}`),
    fc.constantFrom('hotel {/\\d+/}', 'secret 5 c2VjcmV0', '{i/}quebec {/\\d/}'),
  ),
);
const deviceNodes = nodes(fc.constantFrom(...wanted, ...unwanted, ...others));

const written = (all: readonly Node[]): readonly Written[] =>
  all.map(({ line, lines }) => ({ text: line, lines: written(lines) }));

const pathsOf = (lines: readonly Written[], above = ''): readonly Written[] =>
  lines.flatMap(({ text, lines: below }) =>
    below.length > 0 ? pathsOf(below, `${above}${text} `) : [{ text: `${above}${text}`, lines: [] }],
  );

const tags = /(?:\{\w+\/\}|<\w\/>)/g;

/** Golden paths: a tag of a line is that of its paths. */
const taggedPaths = (lines: readonly Written[]): string =>
  pathsOf(lines)
    .map(({ text }) => `${text.includes('{d/}') ? '{d/}' : ''}set ${text.replace(tags, '')}\n`)
    .join('');

const forms: readonly (readonly [type: string, paths: boolean])[] = [
  ['cisco-ios', false],
  ['huawei-vrp', false],
  ['juniper-junos', false],
  ['juniper-junos', true],
  ['f5-bigip', false],
  ['paloalto-panos', true],
  ['vyos', true],
];

describe('What would mend a device', () => {
  const rows: readonly (readonly [
    string,
    type: string,
    golden: string,
    device: string,
    config: string,
    byHand: number,
  ])[] = [
    [
      'missing lines stand below theirs',
      'cisco-ios',
      'line vty 0 4\n exec-timeout 5 0\nntp server a',
      'line vty 0 4',
      'ntp server a\nline vty 0 4\n exec-timeout 5 0\n',
      0,
    ],
    [
      'lines that must not be there are negated',
      'cisco-ios',
      '{d/}ip http server\n{d/}no aaa',
      'ip http server\nno aaa',
      'no ip http server\naaa\n',
      0,
    ],
    [
      'nothing is proposed below a line that goes',
      'cisco-ios',
      '{i/}interface {/.+/}\n mtu 9000\n{d/}interface b',
      'interface b',
      'no interface b\n',
      0,
    ],
    [
      'expressions, secrets and banners are for people',
      'cisco-ios',
      'ntp server {/.+/}\nsnmp-server community abc ro\nbanner motd ^C\nhello\n^C',
      'a',
      '',
      3,
    ],
    ['banners of one line are for people', 'cisco-nx', 'banner exec @hello@\nbanner motd', 'a', '', 2],
    ['blocks without a name are for people', 'f5-bigip', 'ltm a { { b 1 } }', 'ltm a { c 2 }', '', 2],
    ['words of other types', 'huawei-vrp', '{d/}ftp server enable', 'ftp server enable', 'undo ftp server enable\n', 0],
    ['types without a command that takes lines away', 'mikrotik-routeros', '{d/}add a=b', 'add a=b', '', 1],
    [
      'blocks in braces as paths',
      'juniper-junos',
      'system { services { ssh; } {d/}ftp; }',
      'system { ftp; }',
      'delete system ftp\nset system services ssh\n',
      0,
    ],
    [
      'paths',
      'juniper-junos',
      'set system services ssh\n{d/}set system ftp',
      'set system ftp',
      'delete system ftp\nset system services ssh\n',
      0,
    ],
    [
      'braces without paths',
      'f5-bigip',
      'sys ntp {\n servers a\n}\n{d/}sys x',
      'sys x {\n y\n}',
      'delete sys x\nsys ntp {\n    servers a\n}\n',
      0,
    ],
  ];
  for (const [name, type, golden, device, config, byHand] of rows)
    it(`${name} (${type})`, () => {
      const remedy = remedied(golden, device, type);
      assert.deepEqual([remedy.config, remedy.byHand.length], [config, byHand]);
    });

  const device = deviceNodes.map((all) => [{ line: 'host r1', lines: [] }, ...all]);
  for (const [type, paths] of forms) {
    const shown = `${type}${paths ? ' as paths' : ''}`;
    const inForm = (lines: readonly Written[]): string => writeLines(paths ? pathsOf(lines) : lines, { type, paths });
    const goldenIn = (lines: readonly Written[]): string =>
      paths ? taggedPaths(lines) : writeLines(lines, { type, paths });

    it(`leaves only what is done by hand: ${shown}`, () => {
      fc.assert(
        fc.property(goldenNodes, device, (goldenTree, deviceTree) => {
          const golden = goldenIn(written(goldenTree));
          const configuration = inForm(written(deviceTree));
          const after = applied(configuration, remedied(golden, configuration, type), type);
          const { lines } = remedied(golden, after, type);
          assert.deepEqual(lines, [], `golden:\n${golden}\ndevice:\n${configuration}\nafter:\n${after}`);
        }),
        { numRuns: 100 },
      );
    });

    it(`is nothing where the golden text was made from the configuration: ${shown}`, () => {
      const line = fc.constantFrom(...wanted, ...others, '{d/}strange', 'a {/b/}');
      fc.assert(
        fc.property(nodes(paths ? fc.constantFrom(...wanted, ...others) : line), (tree) => {
          const configuration = inForm([{ text: 'host r1', lines: [] }, ...written(tree)]);
          const lines = readConfiguration(configuration, type);
          const golden = writeLines(goldenLines(nestedLines(lines)), { type, paths: lines.paths });
          const { totals } = compared(golden, configuration, type);
          assert.deepEqual({ ...totals, passes: 0 }, { errors: 0, warnings: 0, infos: 0, passes: 0 }, configuration);
        }),
        { numRuns: 50 },
      );
    });
  }
});
