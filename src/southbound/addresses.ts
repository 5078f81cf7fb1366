import { BlockList, isIP } from 'node:net';

/** The addresses and CIDR blocks of a list; an Error that names the first item that is neither. */
export const blockList = (items: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const item of items) {
    const [address = '', prefix] = item.split('/');
    const version = isIP(address);
    const most = version === 4 ? 32 : 128;
    const bits = prefix === undefined ? most : /^\d+$/.test(prefix) ? Number(prefix) : NaN;
    if (!version || !(bits <= most)) throw new Error(`is not an address or CIDR block: ${item}`);
    list.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
};

/** An address in its one form: IPv4 also where IPv6 carries it (mapped, compatible, translated, NAT64), no zone. */
export const canonicalAddress = (address: string): string => {
  const [plain = ''] = address.split('%');
  if (isIP(plain) !== 6) return plain;
  const groups = groupsOf(new URL(`http://[${plain}]`).hostname.slice(1, -1));
  const carries = carriers.some((prefix) => prefix.every((group, i) => groups[i] === group));
  if (!carries) return groups.map((group) => group.toString(16)).join(':');
  const [high, low] = [groups[6]!, groups[7]!];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
};

const carriers = [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0xffff], [0, 0, 0, 0, 0xffff, 0], [0x64, 0xff9b, 0, 0, 0, 0]];

const groupsOf = (address: string): readonly number[] => {
  const [head = '', tail] = address.split('::');
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16)));
  const [before, after] = [numbers(head), numbers(tail ?? '')];
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
};

/** Whether the list has the address, in whatever form either is written. */
export const within = (list: BlockList, address: string): boolean => {
  const canonical = canonicalAddress(address);
  const [plain = ''] = address.split('%');
  const has = (one: string) => list.check(one, isIP(one) === 6 ? 'ipv6' : 'ipv4');
  return has(canonical) || has(plain);
};
