import { PythonError } from '../errors.ts';
import { toFloatOf } from '../values/parseNumber.ts';
import type { Value } from '../values/values.ts';
import {
  addressText,
  broadcastOf,
  decimal,
  firstOf,
  hostmaskOf,
  isHostmask,
  isLoopback,
  isMulticast,
  isNetmask,
  isPrivate,
  lastOf,
  type Network,
  needNetwork,
  netmaskOf,
  networkFrom,
  networkText,
  reverseName,
  sizeOf,
  textOfNumber,
  widthOf,
  within,
} from './network.ts';

/** The subject of a query: `text` is the value as it was written, `isNetwork` whether with a prefix. */
export type Asked = { readonly network: Network; readonly text: string; readonly isNetwork: boolean };

type Query = (query: Asked) => Value;

export const filterError = (message: string): PythonError => new PythonError('AnsibleFilterError', message);

const text = (network: Network, value: bigint): string => addressText(network.version, value);
const address = (network: Network): string => text(network, network.value);
/** The address alone, as a network of one. */
const alone = (network: Network): Network => ({ ...network, prefix: widthOf(network.version) });
const isFirst = (network: Network): boolean => network.value === firstOf(network);
/** An address of a network, or in a network that has no broadcast address. */
const isHost = (network: Network): boolean => !isFirst(network) || !broadcastOf(network);

const of =
  (query: (network: Network) => Value): Query =>
  ({ network }) =>
    query(network);

/** The value as it was written, if something holds for it. */
const when =
  (holds: (network: Network) => boolean): Query =>
  ({ network, text }) =>
    holds(network) ? text : null;

/** A query that only networks can answer. */
const ofNetwork =
  (query: (network: Network) => Value): Query =>
  ({ network, isNetwork }) => {
    if (!isNetwork) throw filterError('Not a network address');
    return query(network);
  };

/** The first and the last address that a host may have. */
export const usable = (network: Network): readonly [bigint, bigint] => {
  const off = sizeOf(network) === 2n ? 0n : 1n;
  return [firstOf(network) + off, lastOf(network) - off];
};

/** The address `offset` further, if hosts may have it. */
export const usableAt = (network: Network, offset: bigint): Value => {
  if (sizeOf(network) === 1n) return null;
  const [first, last] = usable(network);
  const hostValue = network.value + offset;
  const numberText = textOfNumber(hostValue);
  return hostValue >= first && hostValue <= last ? numberText : null;
};

const ip = of((network) => {
  const same = sizeOf(network) === 1n || isHost(network) || network.version === 6;
  return same ? address(network) : null;
});

const addressPrefix = of((network) => {
  const end = network.value === firstOf(network) || network.value === broadcastOf(network);
  return sizeOf(network) > 2n && end ? false : networkText(network);
});

const peer = ofNetwork((network) => {
  if (sizeOf(network) === 2n) return textOfNumber(network.value ^ 1n);
  if (sizeOf(network) !== 4n) throw filterError('Not a point-to-point network');
  const last = network.value % 4n;
  if (last === 0n) throw filterError('Network address of /30 has no peer');
  if (last === 3n) throw filterError('Broadcast address of /30 has no peer');
  return textOfNumber(network.value ^ 3n);
});

const isPublic = (network: Network): boolean => {
  const one = alone(network);
  return (
    !isMulticast(one) &&
    !isPrivate(one) &&
    !isLoopback(one) &&
    !isNetmask(one.version, one.value) &&
    !isHostmask(one.value)
  );
};

const sixToFour: Query = ({ network, text, isNetwork }) => {
  const one = alone(network);
  if (network.version === 6) {
    const isUsable = isNetwork ? !isFirst(network) : true;
    return isUsable && within(needNetwork('2002::/16'), isNetwork ? one : network) ? text : false;
  }
  if (sizeOf(network) > 1n && isFirst(network)) return false;
  if (!isPublic(one) && !isPrivate(one)) return false;
  const hex = network.value.toString(16).padStart(8, '0');
  return `2002:${hex.slice(0, 4)}:${hex.slice(4)}::1/48`;
};

const mapped = 0xffffn << 32n;

const ipv4: Query = ({ network, text }) => {
  if (network.version === 4) return text;
  const prefix = network.prefix - 96;
  const value = network.value >> 32n === 0n ? network.value : network.value - mapped;
  return prefix >= 0 && value >= 0n && value <= 0xffff_ffffn ? networkText({ version: 4, value, prefix }) : false;
};

const ipv6: Query = ({ network, text }) =>
  network.version === 6
    ? text
    : networkText({ version: 6, value: mapped + network.value, prefix: network.prefix + 96 });

const sizeUsable = (network: Network): bigint => {
  const size = sizeOf(network);
  if (size === 1n) return 0n;
  return size === 2n ? 2n : size - 2n;
};

const type = (network: Network): string => (sizeOf(network) > 1n && isFirst(network) ? 'network' : 'address');

const wrap: Query = ({ network, text, isNetwork }) => {
  if (network.version === 4) return text;
  return isNetwork ? `[${address(network)}]/${network.prefix}` : `[${address(network)}]`;
};

const linkLocal = when((network) =>
  ['169.254.0.0/16', 'fe80::/10'].some((outer) => within(needNetwork(outer), alone(network))),
);
const loopback = when((network) => isLoopback(alone(network)));
const subnet = of((network) => networkText({ ...network, value: firstOf(network) }));
const networkId = of((network) => text(network, firstOf(network)));
const hostmask = of((network) => text(network, hostmaskOf(network)));

/** The queries of `ipaddr` by name. */
const queries: ReadonlyMap<string, Query> = new Map<string, Query>([
  ['', ({ network, isNetwork }) => (isNetwork ? networkText(network) : address(network))],
  ['6to4', sixToFour],
  ...['address', 'ip'].map((name) => [name, ip] as const),
  ...['address/prefix', 'gateway', 'gw', 'host/prefix', 'hostnet', 'router'].map(
    (name) => [name, addressPrefix] as const,
  ),
  ['bool', () => true],
  ['broadcast', of((network) => (sizeOf(network) > 2n ? text(network, lastOf(network)) : null))],
  ['cidr', of(networkText)],
  ['first_usable', ofNetwork((network) => (sizeOf(network) === 1n ? null : textOfNumber(usable(network)[0])))],
  ['host', of((network) => (sizeOf(network) === 1n || isHost(network) ? networkText(network) : null))],
  ...['hostmask', 'wildcard'].map((name) => [name, hostmask] as const),
  ['int', ({ network, isNetwork }) => (isNetwork ? `${network.value}/${network.prefix}` : network.value)],
  [
    'ip/prefix',
    of((network) =>
      sizeOf(network) === 2n || (sizeOf(network) > 1n && !isFirst(network)) ? networkText(network) : null,
    ),
  ],
  [
    'ip_netmask',
    of((network) =>
      sizeOf(network) === 2n || (sizeOf(network) > 1n && !isFirst(network))
        ? `${address(network)} ${text(network, netmaskOf(network))}`
        : null,
    ),
  ],
  ...['ipv4', 'v4'].map((name) => [name, ipv4] as const),
  ...['ipv6', 'v6'].map((name) => [name, ipv6] as const),
  ['last_usable', ofNetwork((network) => (sizeOf(network) === 1n ? null : textOfNumber(usable(network)[1])))],
  ['link-local', linkLocal],
  ...['lo', 'loopback'].map((name) => [name, loopback] as const),
  ['multicast', when(isMulticast)],
  ['net', of((network) => (sizeOf(network) > 1n && isFirst(network) ? networkText(network) : null))],
  ['next_usable', ofNetwork((network) => usableAt(network, 1n))],
  ['netmask', of((network) => text(network, netmaskOf(network)))],
  ...['network', 'network_id'].map((name) => [name, networkId] as const),
  ...['network/prefix', 'subnet'].map((name) => [name, subnet] as const),
  ['network_netmask', of((network) => `${text(network, firstOf(network))} ${text(network, netmaskOf(network))}`)],
  ['network_wildcard', of((network) => `${text(network, firstOf(network))} ${text(network, hostmaskOf(network))}`)],
  ['peer', peer],
  ['prefix', of((network) => BigInt(network.prefix))],
  ['previous_usable', ofNetwork((network) => usableAt(network, -1n))],
  ['private', when(isPrivate)],
  ['public', when(isPublic)],
  [
    'range_usable',
    ofNetwork((network) => (sizeOf(network) === 1n ? null : usable(network).map(textOfNumber).join('-'))),
  ],
  ['revdns', of((network) => reverseName(network.version, network.value))],
  ['size', of(sizeOf)],
  ['size_usable', of(sizeUsable)],
  ['type', of(type)],
  ['unicast', when((network) => !isMulticast(network))],
  ['version', of((network) => BigInt(network.version))],
  ['wrap', wrap],
]);

/** The address at a place of the network, from its end if negative. */
const addressAt = ({ network, isNetwork }: Asked, query: string): Value => {
  const size = sizeOf(network);
  if (size === 1n) return isNetwork ? networkText(network) : address(network);
  const index = decimal(query);
  if (index === undefined || index < -size || index >= size) return false;
  const value = index < 0n ? lastOf(network) + index + 1n : firstOf(network) + index;
  return networkText({ ...network, value });
};

const isFloat = (query: string): boolean => {
  try {
    toFloatOf(query);
    return true;
  } catch {
    return false;
  }
};

/** The question: one of the queries, whether the value is within a network, or the address at a place. */
export const askNetwork = (asked: Asked, query: string, alias: string): Value => {
  const cachedQuery = queries.get(query);
  if (cachedQuery) return cachedQuery(asked);
  const outer = /^\d+$/.test(query) ? undefined : networkFrom(query);
  if (outer) return within(outer, asked.network) ? asked.text : null;
  if (!isFloat(query)) throw filterError(`${alias}: unknown filter type: ${query}`);
  return addressAt(asked, query);
};
