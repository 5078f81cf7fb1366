import { PythonError } from '../errors.ts';
import { firstOf, lastOf, type Network, widthOf } from './network.ts';

const byPlace = (a: Network, b: Network): number => {
  if (a.version !== b.version) return a.version - b.version;
  const [first, other] = [firstOf(a), firstOf(b)];
  if (first !== other) return first < other ? -1 : 1;
  return a.prefix - b.prefix;
};

/** `of` is the one network that it is made of, if it is one. */
type Range = { readonly version: 4 | 6; readonly first: bigint; last: bigint; of?: Network | undefined };

/** The fewest networks that are a range together. */
const networksOf = ({ version, first, last, of }: Range): Network[] => {
  if (of) return [of];
  const networks: Network[] = [];
  for (let from = first; from <= last; ) {
    let prefix = widthOf(version);
    const size = (): bigint => 1n << BigInt(widthOf(version) - prefix);
    while (prefix > 0 && from % (size() * 2n) === 0n && from + size() * 2n - 1n <= last) prefix--;
    networks.push({ version, value: from, prefix });
    from += size();
  }
  return networks;
};

/** The fewest networks that have the same addresses. */
export const merged = (networks: readonly Network[]): Network[] => {
  const ranges: Range[] = [];
  for (const network of [...networks].sort(byPlace)) {
    const { version } = network;
    const [first, last] = [firstOf(network), lastOf(network)];
    const before = ranges.at(-1);
    if (before?.version !== version || before.last + 1n < first) ranges.push({ version, first, last, of: network });
    else {
      before.of = undefined;
      if (last > before.last) before.last = last;
    }
  }
  return ranges.flatMap(networksOf);
};

/** The smallest network that has them all. */
export const spanning = (networks: readonly Network[]): Network => {
  const sorted = [...networks].sort(byPlace);
  const [least, most] = [sorted[0], sorted.at(-1)];
  if (!least || !most || least.version !== most.version)
    throw new PythonError('TypeError', 'IP sequence cannot contain both IPv4 and IPv6!');
  const width = widthOf(most.version);
  let [value, { prefix }] = [lastOf(most), most];
  while (prefix > 0 && value > firstOf(least)) {
    prefix--;
    value &= ~((1n << BigInt(width - prefix)) - 1n);
  }
  return { version: least.version, value, prefix };
};
