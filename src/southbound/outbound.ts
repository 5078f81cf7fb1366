import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { type BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { blockList, formsOf, within } from './addresses.ts';

/** The items of OUTBOUND_ALLOW: host names in lower case, addresses and CIDR blocks. */
export type Allowed = { readonly hosts: ReadonlySet<string>; readonly addresses: BlockList };

/** The service may not connect to this host. The message names the host, and the setting that may allow it. */
export class OutboundRefused extends Error {
  constructor(host: string, address: string) {
    super(
      `Ways out do not lead to ${host}${host === address ? '' : ` (${address})`}: it is loopback, link-local, this machine or a store of this service, and OUTBOUND_ALLOW does not name it`,
    );
    this.name = 'OutboundRefused';
  }
}

const local = blockList(['127.0.0.0/8', '0.0.0.0/8', '169.254.0.0/16', '::/127', 'fe80::/10']);

type Needs = {
  readonly allowed: Allowed;
  /** Hosts of the event store and the read store. */
  readonly stores: readonly string[];
  /** All addresses of a host, as the system knows them. */
  readonly resolve?: (host: string) => Promise<readonly LookupAddress[]>;
  /** The addresses of this machine at this moment. */
  readonly own?: () => readonly string[];
};

const freshMs = 1000;

const interfaceAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((some = []) => some.map(({ address }) => address));

/** Checks where device adapters and webhooks may connect to. */
export const outbound = ({
  allowed,
  stores,
  resolve = (host) => lookup(host, { all: true }),
  own = interfaceAddresses,
}: Needs) => {
  const addressesOf = async (host: string): Promise<readonly LookupAddress[]> => {
    const family = isIP(host);
    return family ? [{ address: host, family }] : resolve(host);
  };

  const findOwnAddresses = async (): Promise<ReadonlySet<string>> => {
    const ofStores = await Promise.all(stores.map((store) => addressesOf(store).catch(() => [])));
    return new Set([...ofStores.flat().map(({ address }) => address), ...own()].flatMap(formsOf));
  };

  let found: ReturnType<typeof findOwnAddresses> | undefined;
  /**
   * The addresses of the stores and of this machine, as of the last second. Connections must not lead there, nor to those in
   * `local`.
   */
  const ownAddresses = (): ReturnType<typeof findOwnAddresses> => {
    if (!found) setTimeout(() => (found = undefined), freshMs).unref();
    found ??= findOwnAddresses();
    return found;
  };

  return {
    /**
     * The addresses of a host (IPv6 without brackets) that are allowed. Throws `OutboundRefused` if there is none.
     * Connect to these addresses with `pinned`. A second look-up of the name could give other addresses.
     */
    addresses: async (host: string): Promise<readonly LookupAddress[]> => {
      const found = await addressesOf(host);
      if (allowed.hosts.has(host.toLowerCase())) return found;
      const ours = await ownAddresses();
      const refused = (form: string): boolean =>
        (within(local, form) || ours.has(form)) && !within(allowed.addresses, form);
      const good = found.filter(({ address }) => {
        const [plain = '', ...carried] = formsOf(address);
        return within(allowed.addresses, plain) || ![plain, ...carried].some(refused);
      });
      if (good.length === 0) throw new OutboundRefused(host, found[0]?.address ?? host);
      return good;
    },
  };
};

export type Outbound = ReturnType<typeof outbound>;

/** A look-up function for Node's sockets that returns these addresses for any name. There must be at least one. */
export const pinned =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, [...addresses]);
    else if (first) callback(null, first.address, first.family);
    else callback(new Error('There is no address'), '');
  };
