import { ciscoWords, topWords } from '../../texts/sections.ts';
import { aristaEos } from '../../types/aristaEos.ts';
import { sectionsForm } from './sections.ts';

export const eosForm = sectionsForm({
  type: aristaEos,
  words: new Map([...ciscoWords, ...topWords('agent hardware system tcam', 'mlag mpls peer-filter traffic-policies')]),
  print: { head: '! Command: show running-config\n!\n', step: '   ', after: '!\n', foot: 'end\n' },
  shows: {
    verb: 'show',
    vendor: 'Arista EOS',
    version: '4.32.1F',
    hardware: 'cEOSLab',
    naming: 'hostname',
    refusal: '% Invalid input',
  },
  initial: ({ n, name, address }) => [
    `hostname ${name}`,
    'dns domain lab.example.net',
    'logging host 192.0.2.20',
    'ntp server 192.0.2.10',
    'snmp-server location Lab',
    'interface Ethernet1',
    ' description Uplink',
    ` ip address 10.${n}.0.1/24`,
    'interface Ethernet2',
    ' shutdown',
    'interface Loopback0',
    ` ip address 10.255.0.${n}/32`,
    'interface Management0',
    ' description Management',
    ` ip address ${address}/24`,
    'ip routing',
    'ip route 0.0.0.0/0 192.0.2.254',
  ],
});
