import type { Members } from '@automation-platform/json';
import type { AdapterType } from './adapterSchemas.ts';

/** Where devices come from: an adapter, or an inventory whose nodes have hosts. */
export type DeviceSource = { readonly kind: 'adapter' | 'inventory'; readonly name: string };

/** A source as it is stored. The id of an adapter is its name. */
export type KnownSource = DeviceSource & { readonly id: string };

/** A device as its source lists it. */
export type Device = {
  readonly name: string;
  readonly host?: string;
  readonly port?: number;
  readonly ostype?: string;
};

/** Where a device listens for SSH. */
export const sshPlaceOf = ({ name, host = name, port = 22 }: Device) => ({ host, port });

/** A device of a source. */
export type CopiedDevice = { readonly source: KnownSource; readonly device: Device };

/** A device, and how its source says it is reached. Secrets in the properties are sealed. */
export type KnownDevice = {
  readonly source: KnownSource;
  readonly type: AdapterType;
  readonly properties: Members;
  readonly device: Device;
  /** True if the source says that changes keep copies, false if it says that they do not. */
  readonly backups?: boolean;
  /** When the source was created (ISO 8601). */
  readonly created: string;
};

/**
 * Compares sources that know the same device. First come those that `order` names, an adapter before an inventory of that
 * name; then other adapters, then other inventories, each by name.
 */
export const bySource =
  (order: readonly string[]) =>
  (a: DeviceSource, b: DeviceSource): number => {
    const rank = ({ name }: DeviceSource): number => (order.includes(name) ? order.indexOf(name) : order.length);
    if (rank(a) !== rank(b)) return rank(a) - rank(b);
    if (a.kind !== b.kind) return a.kind === 'adapter' ? -1 : 1;
    return a.name < b.name ? -1 : 1;
  };

/** The condition on devices of a list. Texts are parts of a member in any case, or with `exact` the whole. */
export type DeviceFilter = {
  readonly name?: string;
  readonly host?: string;
  readonly port?: string;
  readonly ostype?: string;
  /** All of them. */
  readonly tags?: readonly string[];
  readonly exact?: boolean;
};

export const filterMembers = ['name', 'host', 'port', 'ostype'] as const;

/** True if the device is what the filter asks for. */
export const fitsFilter = (device: Device & { readonly tags?: readonly string[] }, filter: DeviceFilter): boolean => {
  const isFit = (member: (typeof filterMembers)[number]): boolean => {
    const expected = filter[member];
    if (expected === undefined) return true;
    const value = device[member] === undefined ? undefined : String(device[member]);
    if (value === undefined) return false;
    return filter.exact === true ? value === expected : value.toLowerCase().includes(expected.toLowerCase());
  };
  const tags = (device.tags ?? []).map((tag) => tag.toLowerCase());
  return filterMembers.every(isFit) && (filter.tags ?? []).every((tag) => tags.includes(tag.toLowerCase()));
};

/** A request for a page of devices. */
export type DevicesAsked = {
  readonly filter: DeviceFilter;
  /** True for the sources whose devices are wanted. */
  readonly isWanted: (source: DeviceSource & { readonly type: string }) => boolean;
  readonly start: number;
  readonly limit: number;
  readonly order: 1 | -1;
};

/** A page of devices, and how many there are. */
export type DevicePage = {
  readonly total: number;
  readonly list: readonly Pick<KnownDevice, 'source' | 'type' | 'device'>[];
};
