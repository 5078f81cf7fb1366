import assert from 'node:assert/strict';
import { linearPattern } from '@automation-platform/bounded-schemas';
import { compareLines, masking, readConfiguration, readGolden, remedyOf } from '@automation-platform/configurations';
import { cliLines, judge, labForms, linesTo, readBack, readBackWhole, typeOf, verdictOf } from '../../src/index.ts';

/** `takes`: lines that a new device takes. `shows`: a part of what it prints afterwards. `golden`: what a new device lacks, and has too much. */
type Row = { readonly takes: string; readonly shows: string; readonly refuses: string; readonly golden: string };

const rows: Readonly<Record<string, Row>> = {
  'cisco-ios': {
    takes: 'interface GigabitEthernet3\n description Lab\n no shutdown\nntp server 192.0.2.11',
    shows: 'interface GigabitEthernet3\n description Lab\n!\n',
    refuses: 'sysname x',
    golden:
      'ntp server 192.0.2.11\n{d/}logging host 192.0.2.20\ninterface GigabitEthernet4\n description Spare\n {d/}shutdown',
  },
  'cisco-ios-xr': {
    takes: 'interface GigabitEthernet0/0/0/1\n ipv4 address 192.0.2.1 255.255.255.0\n no shutdown\ncommit',
    shows: 'interface GigabitEthernet0/0/0/1\n ipv4 address 192.0.2.1 255.255.255.0\n!\n',
    refuses: 'ip route 0.0.0.0 0.0.0.0 192.0.2.1',
    golden: 'ssh server vrf default\n{d/}logging 192.0.2.20\nntp\n server 192.0.2.11',
  },
  'cisco-nx': {
    takes: 'feature bgp\nvlan 20\n  name voice',
    shows: 'vlan 20\n  name voice\n\n',
    refuses: 'service password-encryption',
    golden: 'feature bgp\n{d/}feature lldp\ninterface Ethernet1/2\n  description Spare\n  {d/}shutdown',
  },
  'arista-eos': {
    takes: 'interface Ethernet2\n   description Lab\n   no shutdown',
    shows: 'interface Ethernet2\n   description Lab\n!\n',
    refuses: 'feature bgp',
    golden: 'ntp server 192.0.2.11\n{d/}logging host 192.0.2.20\ninterface Ethernet2\n   {d/}shutdown',
  },
  'juniper-junos': {
    takes:
      'set system services netconf ssh\nset interfaces ge-0/0/0 description "To the lab"\ndelete interfaces ge-0/0/1 disable',
    shows: 'services {\n        ssh;\n        netconf {\n            ssh;\n        }\n    }',
    refuses: 'interface ge-0/0/0',
    golden: 'system {\n services {\n  netconf {\n   ssh;\n  }\n }\n {d/}domain-name lab.example.net;\n}',
  },
  'paloalto-panos': {
    takes: 'set address web ip-netmask 192.0.2.7\nset address web description "The web"\ndelete tag lab',
    shows: 'set address web ip-netmask 192.0.2.7\nset address web description "The web"\n',
    refuses: 'set nothing at all',
    golden: 'set deviceconfig system login-banner Private\n{d/}set tag lab color color1',
  },
  vyos: {
    takes: "set interfaces ethernet eth1 address '192.0.2.7/24'\nset system time-zone UTC\ndelete service snmp",
    shows: "set interfaces ethernet eth1 address '192.0.2.7/24'\n",
    refuses: 'delete service dns',
    golden: "set system time-zone 'UTC'\n{d/}set service snmp location 'Lab'",
  },
  'fortinet-fortios': {
    takes:
      'config system ntp\n    set syncinterval 60\n    unset server-mode\nend\nconfig router static\n    delete 1\nend',
    shows: 'config system ntp\n    set ntpsync enable\n    set syncinterval 60\nend\nconfig system snmp sysinfo\n',
    refuses: 'set hostname x',
    golden:
      'config system ntp\n    set syncinterval 60\nend\nconfig system interface\n    edit "port1"\n        set alias "Management"\n    next\nend',
  },
  'huawei-vrp': {
    takes: 'interface GE1/0/1\n description Lab\n undo shutdown\nvlan 20',
    shows: 'interface GE1/0/1\n description Lab\n#\n',
    refuses: 'no stelnet server enable',
    golden: 'ntp-service unicast-server 192.0.2.11\n{d/}stelnet server enable\ninterface GE1/0/1\n {d/}shutdown',
  },
  linux: {
    takes: 'sysctl -w net.ipv4.ip_forward=1\nsudo hostnamectl set-hostname h2',
    shows: '',
    refuses: 'vlan 20',
    golden: '',
  },
};

/** A line with a text, of types that have no `hostname`. */
const odd: Readonly<Record<string, string>> = {
  'juniper-junos': 'set system location building lab',
  'paloalto-panos': 'set deviceconfig system login-banner lab',
  vyos: 'set system host-name lab',
  'fortinet-fortios': 'config system global\n    set hostname lab\nend',
  'huawei-vrp': 'sysname lab',
};

const compile = (expression: string) => {
  const { expression: pattern } = linearPattern(expression, {});
  return (text: string): boolean => pattern.matcher(text).find();
};

describe('A simulated device', () => {
  it('has settings take effect at the end of their section alone: fortinet-fortios', () => {
    const [form, fresh] = [
      labForms.get('fortinet-fortios'),
      labForms.get('fortinet-fortios')?.initial({ name: 'lab-1' }),
    ];
    const open = 'config system dns\n    set primary 192.0.2.53';
    assert.deepEqual(form?.take(fresh ?? '', open).refused, [{ line: 1, text: 'config system dns' }]);
    assert.deepEqual(form?.take(fresh ?? '', `${open}\nend`).refused, []);
  });
  it('moves within its configuration: juniper-junos', () => {
    const form = labForms.get('juniper-junos');
    const lines = 'edit system services\nset netconf ssh\nup\nset location rack 4\ntop\nset snmp contact ops\ncommit';
    const memory = 'set system services netconf ssh\nset system location rack 4\nset snmp contact ops\n';
    assert.deepEqual(form?.take('', lines), { memory, refused: [] });
    assert.deepEqual(form?.take('', 'system {\n}\n}\n').refused, [{ line: 3, text: '}' }]);
    const run = (command: string) => form?.answer(command, { device: { name: 'lab-1' }, memory, up: 0 });
    assert.equal(run('show configuration | display set'), memory);
    assert.equal(run('show configuration | match contact'), '    contact ops;');
    assert.equal(run('show interfaces'), '           ^\nsyntax error.\n');
  });

  it('has a row below, whatever its type', () =>
    assert.deepEqual(Object.keys(rows).sort(), [...labForms.keys()].sort()));

  for (const [ostype, form] of labForms) {
    const { takes, shows, refuses, golden } = rows[ostype] as Row;
    const type = typeOf(ostype);
    const { show } = form;
    const fresh = form.initial({ name: 'lab-1', ostype });
    const take = (memory: string, config: string): string => {
      const { memory: after, refused } = form.take(memory, config);
      assert.deepEqual(refused, []);
      return after;
    };

    it(`takes its lines, and refuses others in its words: ${ostype}`, () => {
      const after = take(fresh, takes);
      assert.equal(
        take(after, takes.replace(/^delete .*$|^ *delete .*\n/gm, '')),
        after,
        'the same again changes nothing',
      );
      const { refused } = form.take(fresh, `${refuses}\n${takes}`);
      assert.deepEqual(refused, [{ line: 1, text: refuses }]);
      const words = form.refusal(refuses);
      assert.notEqual(judge(words, {}, type).refusal, undefined, 'its type calls them a refusal');
      assert.deepEqual(form.answer(refuses, { device: { name: 'lab-1' }, memory: after, up: 0 }), `${words}\n`);
    });

    if (show === undefined) {
      it(`leaves what its commands do: ${ostype}`, () => {
        const memory = take(fresh, takes);
        const run = (command: string) => form.answer(command, { device: { name: 'lab-1' }, memory, up: 0 });
        assert.deepEqual([run('hostname'), run('sysctl net.ipv4.ip_forward')], ['h2\n', 'net.ipv4.ip_forward = 1\n']);
      });
      continue;
    }

    it(`prints its form, which it reads again: ${ostype}`, () => {
      const after = take(fresh, takes);
      const shown = show(after);
      assert.ok(shown.includes(shows), shown);
      assert.equal(show(take('', shown)), shown);
      assert.deepEqual(readBack(cliLines(takes), shown, type)?.missing, []);
      assert.equal(verdictOf(readBackWhole(shown, show(take('', shown)), type)), true);
      const command = type.running ?? '';
      assert.ok(form.answer(command, { device: { name: 'lab-1' }, memory: after, up: 0 }).endsWith(shown));
    });

    it(`keeps blanks that are no blanks between words: ${ostype}`, () => {
      for (const sign of ['\u2028', '\u00a0', '\u3000', '\u0085']) {
        const line = (odd[ostype] ?? 'hostname lab').replace('lab', `a${sign}b`);
        const back = readBack(cliLines(line), show(take(fresh, line)), type);
        assert.equal(verdictOf(back), true, `U+${sign.charCodeAt(0).toString(16)}: ${JSON.stringify(back)}`);
      }
    });

    it(`goes back by the lines that lead there: ${ostype}`, () => {
      const after = take(fresh, takes);
      const lines = linesTo(show(after), show(fresh), type) ?? [];
      const back = show(take(after, lines.join('\n')));
      assert.equal(verdictOf(readBackWhole(show(fresh), back, type)), true, `${lines.join('\n')}\n${back}`);
    });

    it(`takes the proposal of remediation, and is found right afterwards: ${ostype}`, () => {
      const compared = (memory: string) =>
        compareLines(readGolden(golden, ostype, compile), readConfiguration(show(memory), ostype), masking([]));
      const { issues } = compared(fresh);
      assert.notEqual(issues.length, 0);
      const { config, byHand } = remedyOf({ issues, deviceType: ostype });
      assert.deepEqual(byHand, []);
      assert.deepEqual(compared(take(fresh, config)).issues, [], config);
    });
  }
});
