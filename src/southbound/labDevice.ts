import { hash } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { Device } from './port.ts';

/** A kind of device. */
export type Model = {
  readonly version: string;
  readonly vendor: string;
  readonly hardware: string;
  readonly ports: readonly string[];
  readonly management: string;
};

const iosXe: Model = {
  version: '17.12',
  vendor: 'Cisco IOS XE Software',
  hardware: 'C8000V',
  ports: ['GigabitEthernet2', 'GigabitEthernet3', 'GigabitEthernet4'],
  management: 'GigabitEthernet1',
};
const eos: Model = {
  version: '4.32.1F',
  vendor: 'Arista EOS',
  hardware: 'cEOSLab',
  ports: ['Ethernet1', 'Ethernet2', 'Ethernet3', 'Ethernet4'],
  management: 'Management0',
};

export const modelOf = ({ ostype = '' }: Device): Model => (/arista|eos/i.test(ostype) ? eos : iosXe);

/** A number from 1 to 254 that depends only on the device's name. */
export const numberOf = ({ name }: Device): number => 1 + (parseInt(hash('sha256', name, 'hex').slice(0, 6), 16) % 254);

export const serialOf = ({ name }: Device): string =>
  hash('sha256', `serial ${name}`, 'hex').slice(0, 11).toUpperCase();

/** The configuration of a simulated device that was never changed. */
export const initialConfig = (device: Device): string => {
  const { ports, management, version } = modelOf(device);
  const [n, mask] = [numberOf(device), '255.255.255.0'];
  const address = device.host && isIPv4(device.host) ? device.host : `192.0.2.${n}`;
  return [
    `version ${version}`,
    'service timestamps log datetime msec',
    `hostname ${device.name.replace(/\s+/g, '-')}`,
    'ip domain name lab.example.net',
    'interface Loopback0',
    ' description Router id',
    ` ip address 10.255.0.${n} 255.255.255.255`,
    `interface ${management}`,
    ' description Management',
    ` ip address ${address} ${mask}`,
    ...ports.flatMap((port, i) =>
      i === 0
        ? [`interface ${port}`, ' description Uplink', ` ip address 10.${n}.${i}.1 ${mask}`]
        : [`interface ${port}`, ' shutdown'],
    ),
    'ip route 0.0.0.0 0.0.0.0 192.0.2.254',
    'logging host 192.0.2.20',
    'ntp server 192.0.2.10',
    'snmp-server location Lab',
    'line vty 0 4',
    ' transport input ssh',
    '',
  ].join('\n');
};
