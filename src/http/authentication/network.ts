/**
 * The network of an address, by which failed logins are counted. For IPv6 it is the /64, because whoever has one
 * address has them all.
 */
export const networkOf = (address: string): string => {
  if (!address.includes(':')) return address;
  const [withoutZone = ''] = address.split('%');
  const [head = '', tail] = withoutZone.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined
      ? left
      : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return groups.slice(0, 4).join(':');
};
