import { ciscoWords, topWords } from '../../texts/sections.ts';
import { ciscoIosXr } from '../../types/ciscoIosXr.ts';
import { sectionsForm } from './sections.ts';

/** Words of Cisco IOS that IOS XR does not take. */
const foreign = new Set(['ip', 'vtp', 'enable', 'boot', 'platform', 'service', 'transceiver', 'version']);

export const iosXrForm = sectionsForm({
  type: ciscoIosXr,
  file: ciscoIosXr.name,
  words: new Map([
    ...[...ciscoWords].filter(([word]) => !foreign.has(word)),
    ...topWords(
      'bfd cef controller domain grpc hw-module ipv4 lacp nsr ssh telnet tftp',
      'evpn l2vpn mpls multicast-routing netconf-yang ntp segment-routing taskgroup usergroup vty-pool',
    ),
  ]),
  print: { head: '!! IOS XR Configuration 7.9.2\n!\n', step: ' ', after: '!\n', foot: 'end\n' },
  shows: {
    verb: 'show',
    vendor: 'Cisco IOS XR Software',
    version: '7.9.2',
    hardware: 'IOS-XRv 9000',
    naming: 'hostname',
    refusal: "              ^\n% Invalid input detected at '^' marker.",
  },
  initial: ({ n, name, address }) => [
    `hostname ${name}`,
    'domain name lab.example.net',
    'logging 192.0.2.20',
    'ntp',
    ' server 192.0.2.10',
    'interface Loopback0',
    ` ipv4 address 10.255.0.${n} 255.255.255.255`,
    'interface MgmtEth0/RP0/CPU0/0',
    ' description Management',
    ` ipv4 address ${address} 255.255.255.0`,
    'interface GigabitEthernet0/0/0/0',
    ' description Uplink',
    ` ipv4 address 10.${n}.0.1 255.255.255.0`,
    'interface GigabitEthernet0/0/0/1',
    ' shutdown',
    'router static',
    ' address-family ipv4 unicast',
    '  0.0.0.0/0 192.0.2.254',
    'snmp-server location Lab',
    'ssh server v2',
  ],
});
