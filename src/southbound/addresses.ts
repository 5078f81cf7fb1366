import { BlockList, isIP } from 'node:net';

/** Makes a block list of addresses and CIDR blocks. Throws an Error that names the first item that is neither. */
export const blockList = (items: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const item of items) {
    const [address = '', prefix] = item.split('/');
    const version = isIP(address);
    const most = version === 4 ? 32 : 128;
    const bits = prefix === undefined ? most : Number(prefix);
    const isPrefix = prefix === undefined || (/^\d+$/.test(prefix) && bits <= most);
    if (!version || !isPrefix) throw new Error(`is not an address or CIDR block: ${item}`);
    list.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
};

type Carrier = { readonly prefix: readonly number[]; readonly places: readonly number[] };

const last = [12, 13, 14, 15];
const localNat64 = [0x64, 0xff9b, 1];

/**
 * The forms in which IPv6 carries IPv4: the first groups of the address, and the places of IPv4's four bytes among its
 * sixteen.
 */
const carriers: readonly Carrier[] = [
  { prefix: [0, 0, 0, 0, 0, 0], places: last }, // compatible
  { prefix: [0, 0, 0, 0, 0, 0xffff], places: last }, // mapped
  { prefix: [0, 0, 0, 0, 0xffff, 0], places: last }, // translated
  { prefix: [0x2002], places: [2, 3, 4, 5] }, // 6to4
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], places: last }, // NAT64
  // Each network divides the local prefix of NAT64 in its own way (RFC 6052), and this service cannot know which.
  { prefix: localNat64, places: [6, 7, 9, 10] },
  { prefix: localNat64, places: [7, 9, 10, 11] },
  { prefix: localNat64, places: [9, 10, 11, 12] },
  { prefix: localNat64, places: last },
];

const groupsOf = (address: string): readonly number[] => {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16)));
  const [before, after] = [numbers(head), numbers(tail ?? '')];
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
};

/**
 * All addresses that an address may stand for. The first is the address itself, in one form and without zone. Then each
 * IPv4 address that it may carry.
 */
export const formsOf = (address: string): readonly string[] => {
  const [plain = ''] = address.split('%');
  if (isIP(plain) !== 6) return [plain];
  const groups = groupsOf(plain);
  const bytes = groups.flatMap((group) => [group >> 8, group & 255]);
  const carried = carriers
    .filter(({ prefix }) => prefix.every((group, i) => groups[i] === group))
    .map(({ prefix, places }) => ({ prefix, address: places.map((place) => bytes[place]).join('.') }))
    // A first byte of 0 shows that the network puts the IPv4 address in another place.
    .filter(({ prefix, address }) => prefix !== localNat64 || !address.startsWith('0.'));
  return [groups.map((group) => group.toString(16)).join(':'), ...carried.map(({ address }) => address)];
};

/** True if the list has this address. Other forms of the address are not tried. */
export const within = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
