import assert from 'node:assert/strict';
import { readBack, typeOf } from '../../src/index.ts';

/** The configuration of a device of a type, lines that it shows, and lines that it does not. */
const shown: Readonly<
  Record<string, { readonly text: string; readonly right: readonly string[]; readonly wrong: readonly string[] }>
> = {
  'cisco-ios': {
    text: 'Building configuration...\n\nhostname r1\nusername ops password 7 0822455D0A16\ninterface Loopback7\n description Two  words\n ip address 10.0.0.1 255.255.255.0\n!\ninterface Vlan3\n shutdown\n no ip redirects\n!\nend\n',
    right: [
      'interface Loopback7\n description Two words\n ip address 10.0.0.1 255.255.255.0',
      'interface Loopback7\ndescription Two words\nexit\nhostname r1',
      'interface Loopback7\n no shutdown\n!\nno interface Loopback8',
      'interface Vlan3\n no ip redirects',
      'username ops password 0 clear-text',
    ],
    wrong: [
      'interface Loopback7\n description Three words',
      'interface Vlan3\n no shutdown',
      'interface Vlan3\n description Two words',
      'no interface Loopback7',
      'username other password 0 clear-text',
    ],
  },
  'juniper-junos': {
    text: '## Last commit\nsystem {\n    host-name r1;\n    services {\n        ssh;\n    }\n}\ninterfaces {\n    ge-0/0/0 {\n        description "to core";\n    }\n}\n',
    right: [
      'set system host-name r1',
      'set system services ssh\nset interfaces ge-0/0/0 description "to core"',
      'delete interfaces ge-0/0/1',
    ],
    wrong: ['set system host-name r2', 'delete interfaces ge-0/0/0', 'delete system services ssh'],
  },
  vyos: {
    text: "set system host-name 'r1'\nset interfaces ethernet eth0 address '192.0.2.1/24'\n",
    right: [
      'set system host-name r1',
      'set interfaces ethernet eth0 address 192.0.2.1/24\ndelete interfaces ethernet eth1',
    ],
    wrong: ['set system host-name r', 'delete interfaces ethernet eth0'],
  },
  'fortinet-fortios': {
    text: 'config system interface\n    edit "port1"\n        set alias "uplink"\n    next\nend\nconfig system global\n    set hostname "FGT"\nend\n',
    right: [
      'config system interface\nedit port1\nset alias uplink\nnext\nend',
      'config system interface\n edit "port1"\n unset description\n next\n delete port2\nend',
    ],
    wrong: [
      'config system interface\nedit port1\nset alias other\nnext\nend',
      'config system interface\ndelete "port1"\nend',
      'config system interface\nedit port1\nunset alias\nend',
    ],
  },
  'mikrotik-routeros': {
    text: '# by RouterOS 7\n/interface bridge\nadd name=bridge1\n/ip address\nadd address=192.0.2.1/24 interface=bridge1 \\\n    network=192.0.2.0\n',
    right: ['/interface bridge add name=bridge1', '/ip address add interface=bridge1 address=192.0.2.1/24'],
    wrong: ['/interface bridge add name=bridge2', '/ip address add interface=bridge1 address=192.0.2.2/24'],
  },
  'nokia-sros': {
    text: '# TiMOS\n/configure system name "r1"\n/configure port 1/1/1 admin-state enable\n',
    right: ['configure system name r1', '/configure port 1/1/1 admin-state enable', 'port 1/1/1 admin-state enable'],
    wrong: ['configure system name r2', 'delete port 1/1/1'],
  },
  'huawei-vrp': {
    text: '#\nsysname r1\n#\ninterface GigabitEthernet0/0/1\n description up\n#\nreturn\n',
    right: ['interface GigabitEthernet0/0/1\n description up\n undo shutdown\n quit'],
    wrong: ['interface GigabitEthernet0/0/1\n undo description', 'undo interface GigabitEthernet0/0/1'],
  },
};

describe('reading back', () => {
  for (const [name, { text, right, wrong }] of Object.entries(shown)) {
    const missing = (lines: string) => readBack(lines.split('\n'), text, typeOf(name))?.missing.length;
    it(`of ${name}: finds what stands there, and misses what does not`, () => {
      for (const lines of right) assert.equal(missing(lines), 0, lines);
      for (const lines of wrong) assert.equal(missing(lines), 1, lines);
    });
  }

  it('says of which lines it cannot tell, and of which texts', () => {
    const back = readBack(['do clear counters', 'exit', 'hostname r1'], 'hostname r1\n', typeOf('ios'));
    assert.deepEqual(back, { present: ['hostname r1'], missing: [], open: ['do clear counters'] });
    assert.equal(readBack(['hostname r1'], '<!DOCTYPE html><p>hostname r1', typeOf('ios')), undefined);
    assert.equal(readBack(['hostname r1'], '', typeOf('ios')), undefined);
  });
});
