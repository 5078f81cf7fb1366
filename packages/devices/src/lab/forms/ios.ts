import { ciscoIos } from '../../types/ciscoIos.ts';
import { sectionsForm } from './sections.ts';

const mask = '255.255.255.0';

export const iosForm = sectionsForm({
  type: ciscoIos,
  shows: {
    verb: 'show',
    vendor: 'Cisco IOS XE Software',
    version: '17.12',
    hardware: 'C8000V',
    naming: 'hostname',
    refusal: "              ^\n% Invalid input detected at '^' marker.",
  },
  initial: ({ n, name, address }) => [
    'version 17.12',
    'service timestamps log datetime msec',
    `hostname ${name}`,
    'ip domain name lab.example.net',
    'interface Loopback0',
    ' description Router id',
    ` ip address 10.255.0.${n} 255.255.255.255`,
    'interface GigabitEthernet1',
    ' description Management',
    ` ip address ${address} ${mask}`,
    'interface GigabitEthernet2',
    ' description Uplink',
    ` ip address 10.${n}.0.1 ${mask}`,
    'interface GigabitEthernet3',
    ' shutdown',
    'interface GigabitEthernet4',
    ' shutdown',
    'ip route 0.0.0.0 0.0.0.0 192.0.2.254',
    'logging host 192.0.2.20',
    'ntp server 192.0.2.10',
    'snmp-server location Lab',
    'line vty 0 4',
    ' transport input ssh',
    '',
  ],
});
