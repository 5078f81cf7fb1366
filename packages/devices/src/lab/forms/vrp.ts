import { topWords } from '../../texts/sections.ts';
import { huaweiVrp } from '../../types/huaweiVrp.ts';
import { sectionsForm } from './sections.ts';

export const vrpForm = sectionsForm({
  type: huaweiVrp,
  file: huaweiVrp.name,
  words: topWords(
    `arp clock dhcp dns ftp header hwtacacs-server info-center ip ipv6 lldp mpls ntp-service set sftp snmp-agent ssh stelnet
    stp sysname telnet traffic-policy`,
    'aaa acl bgp drop-profile interface isis ospf ospfv3 rip route-policy traffic user-interface vlan',
  ),
  undo: /^undo /,
  print: { head: '#\n', step: ' ', after: '#\n', foot: 'return\n' },
  shows: {
    verb: 'display',
    vendor: 'Huawei Versatile Routing Platform Software',
    version: '8.180',
    hardware: 'CE12800',
    naming: 'sysname',
    refusal: "              ^\nError: Unrecognized command found at '^' position.",
  },
  initial: ({ n, name, address }) => [
    `sysname ${name}`,
    'info-center loghost 192.0.2.20',
    'ntp-service unicast-server 192.0.2.10',
    'interface LoopBack0',
    ` ip address 10.255.0.${n} 255.255.255.255`,
    'interface MEth0/0/0',
    ' description Management',
    ` ip address ${address} 255.255.255.0`,
    'interface GE1/0/0',
    ' description Uplink',
    ` ip address 10.${n}.0.1 255.255.255.0`,
    'interface GE1/0/1',
    ' shutdown',
    'ip route-static 0.0.0.0 0.0.0.0 192.0.2.254',
    'snmp-agent sys-info location Lab',
    'user-interface vty 0 4',
    ' protocol inbound ssh',
    'stelnet server enable',
  ],
});
