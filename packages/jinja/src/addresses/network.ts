import { Address4, Address6 } from 'ip-address';
import { PythonError } from '../errors.ts';

/** An address with the length of its network's prefix, as netaddr's IPNetwork; the address may be any of the network. */
export type Network = { readonly version: 4 | 6; readonly value: bigint; readonly prefix: number };

export const widthOf = (version: 4 | 6): number => (version === 4 ? 32 : 128);
export const greatest = (version: 4 | 6): bigint => (1n << BigInt(widthOf(version))) - 1n;
export const hostmaskOf = ({ version, prefix }: Network): bigint => (1n << BigInt(widthOf(version) - prefix)) - 1n;
export const netmaskOf = (network: Network): bigint => greatest(network.version) ^ hostmaskOf(network);
export const firstOf = (network: Network): bigint => network.value & netmaskOf(network);
export const lastOf = (network: Network): bigint => network.value | hostmaskOf(network);
export const sizeOf = (network: Network): bigint => hostmaskOf(network) + 1n;
/** Networks of one or two IPv4 addresses have no broadcast address. */
export const broadcastOf = (network: Network): bigint | undefined =>
  network.version === 4 && network.prefix >= 31 ? undefined : lastOf(network);

const addressError = (message: string): PythonError => new PythonError('AddrFormatError', message);

/** IPv4 within IPv6 is written with dots where the C library does it: ::ffff:1.2.3.4, and ::1.2.3.4. */
const mixed = (value: bigint): string | undefined => {
  const high = value >> 32n;
  const low = value & 0xffff_ffffn;
  if (high === 0xffffn) return `::ffff:${addressText(4, low)}`;
  return high === 0n && low > 0xffffn ? `::${addressText(4, low)}` : undefined;
};

export const addressText = (version: 4 | 6, value: bigint): string => {
  if (version === 4) return Address4.fromBigInt(value).correctForm();
  return mixed(value) ?? Address6.fromBigInt(value).correctForm();
};

export const networkText = (network: Network): string =>
  `${addressText(network.version, network.value)}/${network.prefix}`;

/** The text of an address that is known by its number alone: IPv4 if it can be. */
export const textOfNumber = (value: bigint): string => {
  if (value < 0n || value > greatest(6)) throw addressError(`failed to detect a valid IP address from ${value}`);
  return addressText(value <= greatest(4) ? 4 : 6, value);
};

/** int(text) of Python, for the few digits that an address may have. */
export const decimal = (text: string): bigint | undefined => {
  const trimmed = text.trim();
  return trimmed.length <= 60 && /^[+-]?\d+(?:_\d+)*$/.test(trimmed)
    ? BigInt(trimmed.replace('+', '').replaceAll('_', ''))
    : undefined;
};

const number4 = (text: string): bigint | undefined =>
  text.length <= 15 && Address4.isValid(text) && !text.includes('/') ? new Address4(text).bigInt() : undefined;

const number6 = (text: string): bigint | undefined =>
  text.length <= 45 && !/[/%]/.test(text) && Address6.isValid(text) ? new Address6(text).bigInt() : undefined;

/** `10.1` is `10.1.0.0`, and zeros may lead. */
const partial4 = (text: string): bigint | undefined => {
  if (text.length > 60 || text.includes(':')) return undefined;
  const parts = text.split('.').map(decimal);
  if (parts.length > 4 || parts.includes(undefined)) return undefined;
  return number4([...parts, 0n, 0n, 0n].slice(0, 4).join('.'));
};

/** An address as IPNetwork reads it. */
const addressNumber = (version: 4 | 6, text: string): bigint | undefined =>
  version === 4 ? (number4(text) ?? partial4(text)) : number6(text);

const isPower = (value: bigint): boolean => (value & (value - 1n)) === 0n;
export const isNetmask = (version: 4 | 6, value: bigint): boolean => isPower((value ^ greatest(version)) + 1n);
export const isHostmask = (value: bigint): boolean => isPower(value + 1n);

const bitsOf = (value: bigint): number => (value === 0n ? 0 : value.toString(2).length);

/** The length of a prefix that is written as a number, a netmask or a hostmask. */
const prefixOf = (version: 4 | 6, text: string): number | undefined => {
  const width = widthOf(version);
  const length = decimal(text);
  if (length !== undefined) return length >= 0n && length <= width ? Number(length) : undefined;
  const mask = version === 4 ? number4(text) : number6(text);
  if (mask === undefined) return undefined;
  if (isNetmask(version, mask)) return width - bitsOf(mask ^ greatest(version));
  return isHostmask(mask) ? width - bitsOf(mask) : undefined;
};

const networkIn = (version: 4 | 6, text: string): Network | undefined => {
  const slash = text.indexOf('/');
  const value = addressNumber(version, slash < 0 ? text : text.slice(0, slash));
  if (value === undefined) return undefined;
  const prefix = slash < 0 ? widthOf(version) : prefixOf(version, text.slice(slash + 1));
  return prefix === undefined ? undefined : { version, value, prefix };
};

/** netaddr.IPNetwork(text); undefined where that is none. */
export const networkFrom = (text: string): Network | undefined => networkIn(4, text) ?? networkIn(6, text);

/** The same; throws where it is none. */
export const needNetwork = (text: string): Network => {
  const network = networkFrom(text);
  if (!network) throw addressError(`invalid IPNetwork ${text}`);
  return network;
};

/** The form that the C library's inet_aton reads: up to four numbers, the last of which fills the rest; octal and hex too. */
const aton = (text: string): bigint | undefined => {
  const [head = ''] = text.split(/[ \t\n\r\v\f]/, 1);
  const parts = head.split('.');
  if (head.length > 60 || parts.length > 4) return undefined;
  const form = /^(?:0[xX][\da-fA-F]+|0[0-7]*|[1-9]\d*)$/;
  if (!parts.every((part) => form.test(part))) return undefined;
  const numbers = parts.map((part) => BigInt(/^0\d/.test(part) ? `0o${part.slice(1)}` : part));
  const last = numbers.pop() ?? 0n;
  const rest = BigInt(8 * (4 - numbers.length));
  if (numbers.some((number) => number > 255n) || last >= 1n << rest) return undefined;
  return numbers.reduce((sum, number, i) => sum | (number << BigInt(24 - 8 * i)), last);
};

/** netaddr.IPAddress(text); undefined where that is none. */
export const addressFrom = (text: string): Network | undefined => {
  const four = aton(text);
  if (four !== undefined) return { version: 4, value: four, prefix: 32 };
  const six = number6(text);
  return six === undefined ? undefined : { version: 6, value: six, prefix: 128 };
};

/** True if all addresses of a network are in another. */
export const within = (outer: Network, inner: Network): boolean =>
  outer.version === inner.version &&
  outer.prefix <= inner.prefix &&
  firstOf(outer) === (inner.value & netmaskOf(outer));

const networks = (texts: readonly string[]): readonly Network[] => texts.map(needNetwork);
const privates = networks([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '239.0.0.0/8',
  'fc00::/7',
  'fec0::/10',
  '169.254.0.0/16',
  'fe80::/10',
]);
const multicasts = networks(['224.0.0.0/4', 'ff00::/8']);
const loopbacks = networks(['127.0.0.0/8', '::1/128']);

const among = (networks: readonly Network[], network: Network): boolean =>
  networks.some((outer) => within(outer, network));
export const isPrivate = (network: Network): boolean => among(privates, network);
export const isMulticast = (network: Network): boolean => among(multicasts, network);
export const isLoopback = (network: Network): boolean => among(loopbacks, network);

/** The name that the DNS has for an address. */
export const reverseName = (version: 4 | 6, value: bigint): string => {
  if (version === 4) return `${addressText(4, value).split('.').reverse().join('.')}.in-addr.arpa.`;
  return `${[...value.toString(16).padStart(32, '0')].reverse().join('.')}.ip6.arpa.`;
};
