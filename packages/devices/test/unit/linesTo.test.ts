import assert from 'node:assert/strict';
import { linesTo, predictChange, typeOf } from '../../src/index.ts';

/** A type, two configurations as it shows them, and the lines that lead from the first to the second. */
const rows: readonly (readonly [type: string, from: string, to: string, lines: readonly string[]])[] = [
  [
    'cisco-ios',
    'hostname a\nntp server 192.0.2.1\ninterface Loopback7\n description one\n shutdown\nvlan 7\n name seven\n',
    'hostname b\ninterface Loopback7\n description two\nvlan 8\n name eight\n',
    [
      'no ntp server 192.0.2.1',
      'no vlan 7',
      'hostname b',
      'interface Loopback7',
      ' no shutdown',
      ' description two',
      'exit',
      'vlan 8',
      ' name eight',
      'exit',
    ],
  ],
  ['cisco-nx', 'interface E1\n no shutdown\n', 'interface E1\n', ['interface E1', ' shutdown', 'exit']],
  [
    'arista-eos',
    'router bgp 1\n   address-family ipv4\n      neighbor a activate\n   router-id 192.0.2.1\n',
    'router bgp 1\n   address-family ipv4\n      neighbor b activate\n   router-id 192.0.2.1\n',
    ['router bgp 1', ' address-family ipv4', '  no neighbor a activate', '  neighbor b activate', ' exit', 'exit'],
  ],
  [
    'huawei-vrp',
    'sysname a\ninterface LoopBack7\n description one\n undo shutdown\n',
    'sysname a\ninterface LoopBack7\n description two\n',
    ['interface LoopBack7', ' shutdown', ' description two', 'quit'],
  ],
  [
    'fortinet-fortios',
    'config system ntp\n    set ntpsync enable\n    set syncinterval 60\nend\nconfig router static\n    edit 1\n        set gateway 192.0.2.1\n    next\nend\n',
    'config system ntp\n    set ntpsync enable\n    set syncinterval 90\nend\nconfig router static\nend\n',
    [
      'config system ntp',
      ' unset syncinterval',
      ' set syncinterval 90',
      'end',
      'config router static',
      ' delete 1',
      'end',
    ],
  ],
  [
    'vyos',
    "set system host-name 'a'\nset interfaces ethernet eth0 description 'the old one'\n",
    "set system host-name 'a'\nset interfaces ethernet eth0 description 'the new one'\n",
    [
      "delete interfaces ethernet eth0 description 'the old one'",
      "set interfaces ethernet eth0 description 'the new one'",
    ],
  ],
];

describe('Lines that lead to a configuration', () => {
  for (const [type, from, to, lines] of rows) {
    it(`of ${type} remove what is too much, and add what is missing`, () => {
      assert.deepEqual(linesTo(from, to, typeOf(type)), lines);
      assert.deepEqual(linesTo(to, to, typeOf(type)), []);
    });
  }

  it('lead there, as a merge predicts', () => {
    for (const [type, from, to, lines] of rows.filter(([type]) => !['vyos', 'fortinet-fortios'].includes(type))) {
      const known = typeOf(type);
      const diff = (config: string, replaces: boolean) =>
        predictChange(from, config, known, replaces)
          .diff.split('\n')
          .filter((line) => /^[+-]/.test(line))
          .toSorted();
      assert.deepEqual(
        diff(lines.join('\n'), false).filter((line) => !/ (?:no )?shutdown$/.test(line)),
        diff(to, true).filter((line) => !/ (?:no |undo )?shutdown$/.test(line)),
        type,
      );
    }
  });

  it('are not known of types that undo lines in words of their own', () => {
    for (const type of ['mikrotik-routeros', 'nokia-sros', 'cisco-wlc', 'linux'])
      assert.equal(linesTo('a', 'b', typeOf(type)), undefined, type);
  });
});
