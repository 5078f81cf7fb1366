import { type Dialect, hardwareFrom, hardwareText, interfaceId } from '../addresses/hardware.ts';
import { merged, spanning } from '../addresses/merge.ts';
import {
  addressFrom,
  addressText,
  broadcastOf,
  decimal,
  firstOf,
  greatest,
  lastOf,
  type Network,
  needNetwork,
  networkFrom,
  networkText,
  sizeOf,
} from '../addresses/network.ts';
import { type Asked, askNetwork, filterError, usable, usableAt } from '../addresses/queries.ts';
import { PythonError, typeError } from '../errors.ts';
import { each } from '../values/iterate.ts';
import { str } from '../values/print.ts';
import { intOf, isTuple, kindOf, type Run, textOf, truthy, typeName, type Value } from '../values/values.ts';
import type { Filter, Filters } from './define.ts';

/** An argument that Ansible converts to a str. */
const asText = (run: Run, value: Value | undefined, otherwise = ''): string =>
  value === undefined || value === null ? otherwise : str(run, value);

/** An argument that must be an int or the text of one. */
const asInt = (value: Value): bigint => {
  const int = intOf(value) ?? decimal(textOf(value) ?? '');
  if (int === undefined) throw filterError(`'${typeName(value)}' cannot be converted to an int`);
  return int;
};

const asTexts = (run: Run, value: Value): string[] => {
  const text = textOf(value);
  if (text !== undefined) return text.split(',');
  if (Array.isArray(value)) return value.map((item) => str(run, item));
  if (typeof value === 'bigint' || typeof value === 'number') return [str(run, value)];
  throw filterError(`'${typeName(value)}' cannot be converted to a list`);
};

/** The address with this number: an IPv4 address if the number fits, unless IPv6 is wanted. */
const fromNumber = (value: bigint, version: bigint): Network | undefined => {
  const four = version !== 6n && value <= greatest(4);
  if (value > greatest(6)) return undefined;
  return four ? { version: 4, value, prefix: 32 } : { version: 6, value, prefix: 128 };
};

/** Reads `3232235776/24`: the number of an address, and a prefix. */
const fromNumbers = (text: string): Network | undefined => {
  const [value, prefix, ...more] = text.split('/').map(decimal);
  if (value === undefined || prefix === undefined || more.length > 0 || value < 0n || prefix < 0n) return undefined;
  if (value <= greatest(4) && prefix <= 32n) return { version: 4, value, prefix: Number(prefix) };
  return value <= greatest(6) && prefix <= 128n ? { version: 6, value, prefix: Number(prefix) } : undefined;
};

/** Reads a str or int as an address or network; undefined if it is none. */
const asked = (run: Run, value: Value, version: bigint): Asked | undefined => {
  const addressText = textOf(value) ?? (typeof value === 'bigint' ? str(run, value) : undefined);
  if (!truthy(value) || addressText === undefined) return undefined;
  if (/^\d+$/.test(addressText)) {
    const network = addressText.length > 40 ? undefined : fromNumber(BigInt(addressText), version);
    return network && { network, text: networkText(network), isNetwork: false };
  }
  if (typeof value === 'bigint') return undefined;
  const network = networkFrom(addressText);
  if (network) return { network, text: addressText, isNetwork: addressText.split('/').length === 2 };
  const numbers = fromNumbers(addressText);
  return numbers && { network: numbers, text: networkText(numbers), isNetwork: true };
};

type Question = { readonly query: string; readonly version?: bigint; readonly alias?: string };

const isSeveral = (value: Value): boolean =>
  Array.isArray(value) || isTuple(value) || (kindOf(value) === 'iterator' && typeName(value) === 'generator');

/**
 * `ipaddr`: the result of a query for one value, or for each of several values. False for a value that is no address.
 */
const ipaddr = (run: Run, value: Value, { query, version = 0n, alias = 'ipaddr' }: Question): Value => {
  run.budget.step(16);
  if (isSeveral(value)) {
    const answers: Value[] = [];
    for (const item of each(run, value)) {
      const answer = run.budget.deeper(() => ipaddr(run, item, { query, version }));
      run.budget.make(1);
      if (truthy(answer)) answers.push(answer);
    }
    return answers;
  }
  const what = asked(run, value, version);
  if (!what || (version !== 0n && BigInt(what.network.version) !== version)) return false;
  const answer = askNetwork(what, query, alias);
  run.budget.make(80);
  return answer;
};

/**
 * The network in a text. If the text has the address of a host, that address stays. Throws if the text is no network.
 */
const named = (run: Run, text: string): Network => {
  const what = asked(run, text, 0n);
  if (!what) throw new PythonError('AddrFormatError', `invalid IPNetwork ${text}`);
  return what.network;
};

/** The same, but undefined if the text is no network. */
const namedOr = (run: Run, text: string): Network | undefined => asked(run, text, 0n)?.network;

const addressFilter = (alias: string, fixed?: bigint): Filter => ({
  parameters: fixed === undefined ? ['query?', 'version?', 'alias?'] : ['query?'],
  call: (run, value: Value, query?: Value, version: Value = null, name: Value = null) => {
    if (textOf(value) === undefined && !Array.isArray(value) && intOf(value) === undefined)
      throw filterError(`Unrecognized type <${typeName(value)}> for ${alias} filter <value>`);
    return ipaddr(run, value, {
      query: asText(run, query),
      version: fixed ?? (version === null ? 0n : asInt(version)),
      alias: asText(run, name, alias),
    });
  },
});

const ipwrap: Filter = {
  // Ansible ignores a positional argument here.
  parameters: ['dropped?', 'query?'],
  call: (run, value: Value, _dropped?: Value, query?: Value) => {
    if (textOf(value) === undefined && !Array.isArray(value) && typeof value !== 'boolean')
      throw filterError(`Unrecognized type <${typeName(value)}> for ipwrap filter <value>`);
    const asking = { query: asText(run, query), alias: 'ipwrap' };
    const wrapped = (item: Value, again: boolean): Value => {
      const answer = ipaddr(run, item, asking);
      if (!truthy(answer)) return item;
      return ipaddr(run, again ? answer : item, { query: 'wrap' });
    };
    try {
      return Array.isArray(value) ? value.map((item) => wrapped(item, false)) : wrapped(value, true);
    } catch (error) {
      if (error instanceof PythonError && error.type !== 'Limit') return value;
      throw error;
    }
  },
};

const ipmath: Filter = {
  parameters: ['amount'],
  call: (run, value: Value, amount: Value) => {
    const text = str(run, value);
    const from = text.includes('/') ? networkFrom(text) : addressFrom(text);
    if (!from) throw filterError(`You must pass a valid IP address; ${text} is invalid`);
    const moved = from.value + asInt(amount);
    if (moved < 0n || moved > greatest(from.version))
      throw new PythonError('IndexError', 'result outside valid IP address boundary!');
    return addressText(from.version, moved);
  },
};

/**
 * The network at an index among those that contain this one. Their prefixes begin at `prefix` and end before the
 * network's own.
 */
const supernetAt = (network: Network, prefix: number, index: bigint): Value => {
  const count = BigInt(network.prefix - prefix);
  const at = index < 0n ? index + count : index;
  if (at < 0n || at >= count) throw new PythonError('IndexError', 'list index out of range');
  const around = { ...network, prefix: prefix + Number(at) };
  return networkText({ ...around, value: firstOf(around) });
};

/** Without an index, the number of subnets with a prefix. With an index, the subnet there; False if there is none. */
const subnetAt = (network: Network, prefix: number, index: bigint | undefined): Value => {
  const more = prefix - network.prefix;
  if (index === undefined) {
    if (more < 0) throw filterError(`Requested subnet size of ${prefix} is invalid`);
    return String(1n << BigInt(more));
  }
  // A negative `more` gives Ansible a fraction of a subnet as the count. Only index 0 is valid then.
  const count = more < 0 ? 1n : 1n << BigInt(more);
  const at = index < 0n && more >= 0 ? index + count : index;
  if (at < 0n || at >= count) return false;
  const width = network.version === 4 ? 32 : 128;
  const value = firstOf(network) + (at << BigInt(width - prefix));
  return networkText({ version: network.version, value, prefix });
};

/** The number of a network, from 1, among the subnets of its size in another network. */
const rankIn = (network: Network, outer: Network): Value => {
  const width = BigInt(network.version === 4 ? 32 : 128);
  const shift = width - BigInt(outer.prefix);
  if (network.value >> shift !== outer.value >> shift || network.prefix < outer.prefix)
    throw filterError(
      `${networkText(network)} is not in the subnet ${networkText({ ...outer, value: firstOf(outer) })}`,
    );
  const inner = BigInt(network.prefix - outer.prefix);
  return String(((network.value >> (width - BigInt(network.prefix))) & ((1n << inner) - 1n)) + 1n);
};

const ipsubnet: Filter = {
  parameters: ['query?', 'index?'],
  call: (run, value: Value, query?: Value, index: Value = null) => {
    const what = namedOr(run, str(run, value));
    if (!what) return false;
    const network = { ...what, value: firstOf(what) };
    const queryText = asText(run, query);
    if (queryText === '') return networkText(network);
    if (!/^\d+$/.test(queryText)) return rankIn(network, named(run, queryText));
    const prefix = decimal(queryText) ?? 1000n;
    if (prefix > (network.version === 4 ? 32n : 128n)) return false;
    const at = index === null ? undefined : asInt(index);
    if (sizeOf(network) > 1n) return subnetAt(network, Number(prefix), at);
    const width = network.version === 4 ? 32n : 128n;
    if (at !== undefined && (at > width + 1n - at || at < prefix - width)) return false;
    return supernetAt(network, Number(prefix), at ?? 0n);
  },
};

/** The first and the last address of the network in a text, as numbers. */
const ends = (run: Run, text: string): readonly [bigint, bigint] | undefined => {
  const network = namedOr(run, text);
  return (
    network && [firstOf(network), sizeOf(network) > 2n ? (broadcastOf(network) ?? firstOf(network)) : firstOf(network)]
  );
};

const usableEnds = (run: Run, text: string): readonly [bigint, bigint] | undefined => {
  const network = namedOr(run, text);
  if (!network) return undefined;
  return sizeOf(network) === 1n ? [network.value, network.value] : usable(network);
};

type Ends = readonly [bigint, bigint] | undefined;

/** For a text that is no address, Ansible compares False, which is 0. */
const isBetween = (outer: Ends, inner: Ends): boolean => {
  const [first, last] = outer ?? [0n, 0n];
  return (inner ?? [0n, 0n]).every((value) => first <= value && value <= last);
};

const inNetwork = (outer: (run: Run, text: string) => Ends): Filter => ({
  parameters: ['test?'],
  call: (run, value: Value, test?: Value) => isBetween(outer(run, str(run, value)), ends(run, asText(run, test))),
});

const nthUsable = (sign: bigint): Filter => ({
  parameters: ['offset?'],
  call: (run, value: Value, offset: Value = null) => {
    const network = namedOr(run, str(run, value));
    if (!network) return false;
    if (offset === null || typeof offset === 'boolean') throw filterError('Must pass in an integer');
    return usableAt(network, sign * asInt(offset));
  },
});

const nthhost: Filter = {
  parameters: ['query?'],
  call: (run, value: Value, query?: Value) => {
    const network = namedOr(run, str(run, value));
    const nth = decimal(asText(run, query));
    if (!network || nth === undefined || sizeOf(network) <= nth) return false;
    if (nth < -sizeOf(network)) throw new PythonError('IndexError', 'index out range for address range size!');
    return addressText(network.version, nth < 0n ? lastOf(network) + nth + 1n : firstOf(network) + nth);
  },
};

const reduceOnNetwork: Filter = {
  parameters: ['network?'],
  call: (run, value: Value, network?: Value) => {
    const outer = ends(run, asText(run, network));
    const matching = asTexts(run, value).filter((text) => {
      run.budget.step(16);
      return isBetween(outer, ends(run, text));
    });
    run.budget.make(matching.length);
    return matching;
  },
};

const cidrMerge: Filter = {
  parameters: ['action?'],
  call: (run, value: Value, action?: Value) => {
    const networks = asTexts(run, value).map((text) => {
      run.budget.step(32);
      return needNetwork(text);
    });
    run.budget.make(networks.length);
    const actionText = asText(run, action, 'merge');
    if (actionText === 'merge') return merged(networks).map(networkText);
    if (actionText !== 'span') throw filterError(`cidr_merge: invalid action '${actionText}'`);
    const [only] = networks;
    if (!only) return null;
    return networkText(networks.length === 1 ? only : spanning(networks));
  },
};

const slaac: Filter = {
  parameters: ['query?'],
  call: (run, value: Value, query?: Value) => {
    const network = namedOr(run, str(run, value));
    const hardware = hardwareFrom(asText(run, query));
    if (network?.version !== 6 || !hardware) return false;
    const sum = firstOf(network) + interfaceId(hardware);
    if (sum > greatest(6)) throw new PythonError('AddrFormatError', `bad address format: ${sum}`);
    return addressText(6, sum);
  },
};

const hexOfIp4: Filter = {
  parameters: ['delimiter?'],
  call: (run, value: Value, delimiter?: Value) => {
    const numbers = str(run, value).split('.').map(decimal);
    if (numbers.length < 4 || numbers.includes(undefined)) throw filterError('an IPv4 address is needed');
    const hex = (number: bigint): string =>
      number < 0n ? `-${(-number).toString(16).padStart(1, '0')}` : number.toString(16).padStart(2, '0');
    return numbers
      .slice(0, 4)
      .map((number) => hex(number ?? 0n))
      .join(asText(run, delimiter));
  },
};

const pgsql: Dialect = { bits: 24, separator: ':', digits: 6 };
const dialects: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ['bare', { bits: 48, separator: '', digits: 12, upper: true }],
  ['cisco', { bits: 16, separator: '.', digits: 4 }],
  ['eui48', { bits: 8, separator: '-', digits: 2, upper: true }],
  ['linux', { bits: 8, separator: ':', digits: 2 }],
  ['pgsql', pgsql],
  ['postgresql', pgsql],
  ['psql', pgsql],
  ['unix', { bits: 8, separator: ':', digits: 1 }],
  ['win', { bits: 8, separator: '-', digits: 2, upper: true }],
]);

const hwaddr = (alias: string): Filter => ({
  parameters: ['query?', 'alias?'],
  call: (run, value: Value, query?: Value, name: Value = null) => {
    const addressText = str(run, value);
    const hardware = hardwareFrom(addressText);
    const queryText = asText(run, query);
    if (!hardware && queryText !== '' && queryText !== 'bool')
      throw filterError(`${asText(run, name, alias)}: not a hardware address: ${addressText}`);
    if (queryText === '') return hardware && truthy(value) ? addressText : null;
    if (!hardware) return null;
    if (queryText === 'bool') return true;
    if (queryText === 'int') return hardware.value;
    const dialect = dialects.get(queryText);
    if (!dialect) throw filterError(`${alias}: unknown filter type: ${queryText}`);
    const written = hardwareText(hardware, dialect);
    if (written === undefined) throw typeError(`${addressText} has more than 48 bits`);
    return written;
  },
});

/** The filters for addresses of Ansible's collection `ansible.utils`, by name. */
export const addressFilters: Filters = {
  ipaddr: addressFilter('ipaddr'),
  ipv4: addressFilter('ipv4', 4n),
  ipv6: addressFilter('ipv6', 6n),
  ipwrap,
  ipmath,
  ipsubnet,
  ip4_hex: hexOfIp4,
  network_in_network: inNetwork(ends),
  network_in_usable: inNetwork(usableEnds),
  next_nth_usable: nthUsable(1n),
  previous_nth_usable: nthUsable(-1n),
  nthhost,
  reduce_on_network: reduceOnNetwork,
  cidr_merge: cidrMerge,
  slaac,
  hwaddr: hwaddr('hwaddr'),
  macaddr: hwaddr('macaddr'),
};
