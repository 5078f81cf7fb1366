import { paloaltoPanos } from '../../types/paloaltoPanos.ts';
import { pathsForm } from './paths.ts';

const single = new Set(
  'hostname domain timezone location contact ip-address netmask default-gateway ip-netmask fqdn color action comment description'.split(
    ' ',
  ),
);

export const panosForm = pathsForm({
  type: paloaltoPanos,
  first:
    `deviceconfig network shared vsys mgt-config address address-group service service-group tag zone rulebase profiles
    profile-group application application-group schedule region log-settings import external-list setting`.split(/\s+/),
  valued: single,
  single,
  quote: (word) => (/^[^\s"]+$/.test(word) ? word : `"${word}"`),
  refusal: () => 'Invalid syntax.',
  version: ['show system info', 'model: PA-VM (simulated)\nsw-version: 11.1.2'],
  initial: ({ n, name, address }) => [
    `deviceconfig system hostname ${name}`,
    'deviceconfig system domain lab.example.net',
    `deviceconfig system ip-address ${address}`,
    'deviceconfig system netmask 255.255.255.0',
    'deviceconfig system default-gateway 192.0.2.254',
    'deviceconfig system timezone UTC',
    'deviceconfig system ntp-servers primary-ntp-server ntp-server-address 192.0.2.10',
    'deviceconfig system snmp-setting snmp-system location Lab',
    `network interface ethernet ethernet1/1 layer3 ip 10.${n}.0.1/24`,
    'network interface ethernet ethernet1/1 comment Uplink',
    'zone trust network layer3 ethernet1/1',
    'tag lab color color1',
  ],
});
