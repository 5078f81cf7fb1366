import { juniperJunos } from '../../types/juniperJunos.ts';
import { pathsForm } from './paths.ts';

const single = ['host-name', 'domain-name', 'time-zone', 'description', 'location', 'contact', 'mtu', 'version'];
const single2 = ['next-hop', 'router-id', 'type', 'peer-as', 'local-as', 'autonomous-system', 'encrypted-password'];
const several = [
  'unit',
  'family',
  'address',
  'route',
  'group',
  'neighbor',
  'area',
  'interface',
  'server',
  'host',
  'any',
];
const more = ['user', 'class', 'community', 'term', 'policy-statement', 'filter', 'vlan-id', 'name-server', 'members'];

export const junosForm = pathsForm({
  type: juniperJunos,
  first: `version groups apply-groups system chassis services security interfaces snmp forwarding-options event-options
    routing-options protocols policy-options class-of-service firewall routing-instances applications access vlans
    switch-options bridge-domains`.split(/\s+/),
  valued: new Set([...single, ...single2, ...several, ...more]),
  single: new Set([...single, ...single2]),
  quote: (word) => (/^[^\s;{}"[\]]+$/.test(word) ? word : `"${word}"`),
  refusal: () => '           ^\nsyntax error.',
  inBraces: true,
  version: ['show version', 'Model: vsrx (simulated)\nJunos: 22.4R1.10'],
  initial: ({ n, name, address }) => [
    'version 22.4R1.10',
    `system host-name ${name}`,
    'system domain-name lab.example.net',
    'system services ssh',
    'system syslog host 192.0.2.20 any notice',
    'system ntp server 192.0.2.10',
    'interfaces ge-0/0/0 description Uplink',
    `interfaces ge-0/0/0 unit 0 family inet address 10.${n}.0.1/24`,
    'interfaces ge-0/0/1 disable',
    'interfaces fxp0 description Management',
    `interfaces fxp0 unit 0 family inet address ${address}/24`,
    `interfaces lo0 unit 0 family inet address 10.255.0.${n}/32`,
    'snmp location Lab',
    'routing-options static route 0.0.0.0/0 next-hop 192.0.2.254',
  ],
});
