import { ciscoWords, topWords } from '../../texts/sections.ts';
import { ciscoNx } from '../../types/ciscoNx.ts';
import { sectionsForm } from './sections.ts';

/** Words of Cisco IOS that NX-OS does not take. */
const foreign = new Set(['service', 'enable', 'transceiver', 'tacacs', 'radius', 'redundancy', 'archive']);

export const nxForm = sectionsForm({
  type: ciscoNx,
  words: new Map([
    ...[...ciscoWords].filter(([word]) => !foreign.has(word)),
    ...topWords('copp feature power rmon switchname system', 'evpn role vpc'),
  ]),
  print: { head: '\n!Command: show running-config\n\n', step: '  ', after: '\n', foot: '' },
  shows: {
    verb: 'show',
    vendor: 'Cisco Nexus Operating System (NX-OS) Software',
    version: '10.3(4a)',
    hardware: 'Nexus9000 C9300v',
    naming: 'hostname',
    refusal: "                      ^\n% Invalid command at '^' marker.",
  },
  initial: ({ n, name, address }) => [
    'version 10.3(4a) Bios:version',
    `hostname ${name}`,
    'feature lldp',
    'ip domain-name lab.example.net',
    'snmp-server location Lab',
    'ntp server 192.0.2.10 use-vrf management',
    'logging server 192.0.2.20',
    'vlan 1',
    'vrf context management',
    ' ip route 0.0.0.0/0 192.0.2.254',
    'interface Ethernet1/1',
    ' description Uplink',
    ` ip address 10.${n}.0.1/24`,
    'interface Ethernet1/2',
    ' shutdown',
    'interface mgmt0',
    ' vrf member management',
    ` ip address ${address}/24`,
    'interface loopback0',
    ` ip address 10.255.0.${n}/32`,
  ],
});
