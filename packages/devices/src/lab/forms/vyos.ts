import { vyos } from '../../types/vyos.ts';
import { pathsForm } from './paths.ts';

const single = 'host-name domain-name time-zone description location contact mtu speed duplex router-id'.split(' ');
const several = 'address server name-server next-hop network neighbor remote-as port listen-address level'.split(' ');

export const vyosForm = pathsForm({
  type: vyos,
  first:
    `interfaces system service protocols firewall nat nat66 policy vpn qos container high-availability load-balancing vrf
    pki`.split(/\s+/),
  valued: new Set([...single, ...several]),
  single: new Set(single),
  quote: (word, isValue) => (isValue || /[\s"]/.test(word) ? `'${word}'` : word),
  refusal: (line) =>
    line.startsWith('delete ')
      ? 'Nothing to delete (the specified node does not exist)\nDelete failed'
      : `Configuration path: [${line.replace(/^set /, '')}] is not valid\nSet failed`,
  deletesExistingOnly: true,
  version: ['show version', 'Version: VyOS 1.4 (simulated)'],
  initial: ({ n, name, address }) => [
    `interfaces ethernet eth0 address ${address}/24`,
    'interfaces ethernet eth0 description Management',
    `interfaces ethernet eth1 address 10.${n}.0.1/24`,
    'interfaces ethernet eth1 description Uplink',
    'interfaces ethernet eth2 disable',
    `interfaces loopback lo address 10.255.0.${n}/32`,
    'protocols static route 0.0.0.0/0 next-hop 192.0.2.254',
    'service ntp server 192.0.2.10',
    'service snmp location Lab',
    'service ssh',
    `system host-name ${name}`,
    'system domain-name lab.example.net',
    'system syslog remote 192.0.2.20 facility all level notice',
  ],
});
