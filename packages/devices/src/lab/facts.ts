import { hash } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { Device } from '../device.ts';

/** A number from 1 to 254 that depends only on the device's name. */
export const numberOf = ({ name }: Device): number => 1 + (parseInt(hash('sha256', name, 'hex').slice(0, 6), 16) % 254);

export const serialOf = ({ name }: Device): string =>
  hash('sha256', `serial ${name}`, 'hex').slice(0, 11).toUpperCase();

/** The facts of which a simulated device makes its first configuration. `n`: from 1 to 254; `address`: of its management. */
export type LabFacts = { readonly n: number; readonly name: string; readonly address: string };

export const factsOf = (device: Device): LabFacts => {
  const n = numberOf(device);
  const address = device.host && isIPv4(device.host) ? device.host : `192.0.2.${n}`;
  return { n, name: device.name.replace(/\s+/g, '-'), address };
};
