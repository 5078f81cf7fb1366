import {
  bySource,
  type Device,
  type DeviceFilter,
  type DevicePage,
  type DeviceSource,
  type DevicesAsked,
  filterMembers,
  fitsFilter,
  type KnownDevice,
  type KnownSource,
} from '../../domain/configuration-manager/deviceSources.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { deviceOf, propertiesOf } from '../../domain/inventory-manager/nodeDevices.ts';
import { type Adapter, adapters } from '../../projections/configuration-manager/adapters.ts';
import type { Projection } from '../../projections/engine/define.ts';
import { perVersion } from '../../projections/engine/perVersion.ts';
import type { Page, ReadModel, Where } from '../../projections/engine/port.ts';
import { type Inventory, inventories, type NodeDoc, nodes } from '../../projections/inventory-manager/inventories.ts';
import type { Tools } from '../engine/define.ts';
import { credentialSeenBy } from './credentials.ts';
import { pinOf } from './hostKeys.ts';

type Needs = {
  readonly tools: Pick<Tools, 'all' | 'query' | 'mayRead' | 'state'>;
  readonly model: Pick<ReadModel, 'getMany' | 'list' | 'version'>;
};

const pageLength = 1000;
/** Names alone are cheap. */
const namesPage = 10_000;

const devicesByName = new WeakMap<Adapter, ReadonlyMap<string, Device>>();

/** The devices of an adapter by name. */
const devicesIn = (adapter: Adapter): ReadonlyMap<string, Device> => {
  const all = devicesByName.get(adapter) ?? new Map(adapter.devices.map((device) => [device.name, device]));
  devicesByName.set(adapter, all);
  return all;
};

const ofAdapter = ({ name, type, properties, created }: Adapter, device: Device): KnownDevice => ({
  source: { kind: 'adapter', name, id: name },
  type,
  properties,
  device,
  created,
});

/** The device that a node is; undefined for a node that is none. */
const ofNode = ({ _id: id, name: inventory, created, backups }: Inventory, text: string): KnownDevice | undefined => {
  const doc: NodeDoc = JSON.parse(text);
  const found = deviceOf(doc);
  if (!found) return undefined;
  const { protocol, ...device } = found;
  return {
    source: { kind: 'inventory', name: inventory, id },
    type: protocol,
    properties: propertiesOf(doc),
    device,
    created,
    ...defined({ backups }),
  };
};

/** The condition on nodes that are devices and fit the filter. */
const whereOf = ({ exact, tags = [], ...filter }: DeviceFilter) => {
  const op = exact === true ? 'equals' : 'contains';
  const all: Where<keyof typeof nodes.filters>[] = [{ field: 'host', op: 'startsWith', value: '' }];
  for (const field of filterMembers) {
    const value = filter[field];
    if (value !== undefined) all.push({ field, op, value });
  }
  for (const tag of tags) all.push({ field: 'tags', op: 'equals', value: tag.toLowerCase() });
  return { all };
};

/** The place of a name in lists: as that of documents. */
const placeOf = (name: string): string => `${name.toLowerCase()}\u0000${name}`;

/** The devices of one source that a list shows. */
type Listed = {
  readonly total: number;
  readonly take: (start: number, limit: number) => Promise<DevicePage['list']>;
  readonly names: () => Promise<readonly string[]>;
};

/** A source with the devices that the caller sees. */
type Source = DeviceSource & {
  readonly type: string;
  readonly names: () => Promise<readonly string[]>;
  /** `hidden`: names that a source before this one knows, too. */
  readonly listed: (
    devicesQuery: Omit<DevicesAsked, 'start' | 'limit'>,
    hidden: ReadonlySet<string>,
  ) => Promise<Listed>;
};

/**
 * The names of each source that a source before it knows, too. The names of the largest inventory are not walked:
 * `largest` says which of some names it knows.
 */
const hiddenIn = async (
  sources: readonly Source[],
  largest:
    | { readonly at: number; readonly existingNames: (names: readonly string[]) => Promise<readonly string[]> }
    | undefined,
): Promise<readonly ReadonlySet<string>[]> => {
  const knowing = new Map<string, number[]>();
  for (const [at, { names }] of sources.entries()) {
    if (at === largest?.at) continue;
    for (const name of await names()) {
      const some = knowing.get(name);
      if (some) some.push(at);
      else knowing.set(name, [at]);
    }
  }
  if (largest) for (const name of await largest.existingNames([...knowing.keys()])) knowing.get(name)?.push(largest.at);
  const hidden = sources.map(() => new Set<string>());
  for (const [name, some] of knowing) {
    if (some.length === 1) continue;
    const first = Math.min(...some);
    for (const at of some) if (at !== first) hidden[at]?.add(name);
  }
  return hidden;
};

/** The nodes of inventories that are devices, and their names. */
const nodeLists = (model: Needs['model']) => {
  const nodesPage = (
    part: string,
    where: Where,
    more: { skip: number; limit: number; order?: 1 | -1 },
  ): Promise<Page> => model.list(nodes.collection, { part, where, sort: 'name', order: 1, ...more });

  /** Those of the names that are devices of the inventory. */
  const named = async (inventory: Inventory, names: readonly string[]): Promise<readonly string[]> => {
    const found: string[] = [];
    for (let at = 0; at < names.length; at += pageLength) {
      const ids = names.slice(at, at + pageLength).map((name) => `${inventory._id}/${name}`);
      for (const entry of await model.getMany(nodes.collection, ids))
        if (entry && entry.filters.host?.length) found.push(entry.id.slice(inventory._id.length + 1));
    }
    return found;
  };

  const namesWhere = async (part: string, where: Where): Promise<readonly string[]> => {
    const names: string[] = [];
    for (;;) {
      const { entries } = await nodesPage(part, where, { skip: names.length, limit: namesPage });
      names.push(...entries.map(({ id }) => id.slice(part.length + 1)));
      if (entries.length < namesPage) return names;
    }
  };

  const names = perVersion(nodes.collection, (_: Needs['model'], part) => namesWhere(part, whereOf({})));
  const namesIn = ({ _id: part }: Inventory): Promise<readonly string[]> => names(model, part);

  return { nodesPage, namesWhere, named, namesIn };
};

const adapterSource = (adapter: Adapter): Source => ({
  kind: 'adapter',
  name: adapter.name,
  type: adapter.type,
  names: async () => adapter.devices.map(({ name }) => name),
  listed: async ({ filter, order }, hidden) => {
    const fitting = adapter.devices
      .filter((device) => !hidden.has(device.name) && fitsFilter(device, filter))
      .toSorted((a, b) => (placeOf(a.name) < placeOf(b.name) ? -order : order));
    return {
      total: fitting.length,
      take: async (start, limit) => fitting.slice(start, start + limit).map((device) => ofAdapter(adapter, device)),
      names: async () => fitting.map(({ name }) => name),
    };
  },
});

/**
 * The devices of all adapters and inventories, as an actor sees them. A device that several sources know is that of the first
 * one; sources that the actor does not see take no part in this.
 */
const newSources = ({ tools, model }: Needs) => {
  const seenIn = async <Doc>(of: Projection<Doc>, actor: Actor): Promise<readonly Doc[]> =>
    (await tools.all(of)).filter((doc) => tools.mayRead(of, doc, actor));

  const { nodesPage, namesWhere, named, namesIn } = nodeLists(model);

  const inventorySource = (inventory: Inventory): Source => ({
    kind: 'inventory',
    name: inventory.name,
    type: 'inventory',
    names: () => namesIn(inventory),
    listed: async ({ filter, order }, hidden) => {
      const where = whereOf(filter);
      const part = inventory._id;
      const { total } = await nodesPage(part, where, { skip: 0, limit: 1 });
      const any = [...hidden].map((value) => ({ field: 'name', op: 'equals', value }) as const);
      let fitting = 0;
      for (let at = 0; total > 0 && at < any.length; at += pageLength) {
        const named = { all: [where, { any: any.slice(at, at + pageLength) }] };
        fitting += (await nodesPage(part, named, { skip: 0, limit: 1 })).total;
      }
      return {
        total: total - fitting,
        take: async (start, limit) => {
          const isWhole = fitting === 0;
          const page = isWhole ? { skip: start, limit } : { skip: 0, limit: start + limit + fitting };
          const { entries } = await nodesPage(part, where, { ...page, order });
          const visible = entries.filter(({ id }) => !hidden.has(id.slice(part.length + 1)));
          return (isWhole ? visible : visible.slice(start, start + limit)).flatMap(
            ({ text }) => ofNode(inventory, text) ?? [],
          );
        },
        names: async () => (await namesWhere(part, where)).filter((name) => !hidden.has(name)),
      };
    },
  });

  /** The devices that the actor sees, by their sources. */
  const partsOf = async (
    devicesQuery: Omit<DevicesAsked, 'start' | 'limit'>,
    actor: Actor,
    order: readonly string[],
  ): Promise<readonly Listed[]> => {
    const visible = await seenIn(inventories, actor);
    const ofInventories = visible.map((inventory) => ({ inventory, source: inventorySource(inventory) }));
    const ofAdapters = (await seenIn(adapters, actor)).map(adapterSource);
    const sources = [...ofAdapters, ...ofInventories.map(({ source }) => source)].toSorted(bySource(order));
    const [largest] = ofInventories.toSorted((a, b) => b.inventory.nodeCount - a.inventory.nodeCount);
    const hidden = await hiddenIn(
      sources,
      largest && {
        at: sources.indexOf(largest.source),
        existingNames: (names) => named(largest.inventory, names),
      },
    );
    const parts: Listed[] = [];
    for (const [at, source] of sources.entries())
      if (devicesQuery.isWanted(source)) parts.push(await source.listed(devicesQuery, hidden[at] ?? new Set()));
    return parts;
  };

  return {
    credential: (name: string, actor: Actor) => credentialSeenBy(name, actor, tools),
    pinned: async (device: KnownDevice) => (await pinOf(device, tools))?.fingerprint,

    /** The sources that know the device, in no particular order. */
    find: async (name: string, actor: Actor): Promise<readonly KnownDevice[]> => {
      const found: KnownDevice[] = [];
      for (const adapter of await tools.all(adapters)) {
        const device = devicesIn(adapter).get(name);
        if (device && tools.mayRead(adapters, adapter, actor)) found.push(ofAdapter(adapter, device));
      }
      const visible = await seenIn(inventories, actor);
      const entries = await model.getMany(
        nodes.collection,
        visible.map(({ _id }) => `${_id}/${name}`),
      );
      for (const [at, inventory] of visible.entries()) {
        const entry = entries[at];
        const device = entry && ofNode(inventory, entry.text);
        if (device) found.push(device);
      }
      return found;
    },

    /** The sources of each of the devices that have any, in no particular order. */
    sourcesOf: async (names: readonly string[], actor: Actor): Promise<ReadonlyMap<string, readonly KnownSource[]>> => {
      const found = new Map<string, KnownSource[]>();
      const add = (name: string, source: KnownSource): unknown => found.set(name, [...(found.get(name) ?? []), source]);
      const nameSet = new Set(names);
      for (const { name: adapter, devices } of await seenIn(adapters, actor))
        for (const { name } of devices)
          if (nameSet.has(name)) add(name, { kind: 'adapter', name: adapter, id: adapter });
      for (const inventory of await seenIn(inventories, actor))
        for (const name of await named(inventory, names))
          add(name, { kind: 'inventory', name: inventory.name, id: inventory._id });
      return found;
    },

    /** The names of the devices that a query is about, sorted within each source. */
    names: async (
      devicesQuery: Omit<DevicesAsked, 'start' | 'limit'>,
      actor: Actor,
      order: readonly string[],
    ): Promise<readonly string[]> => {
      const parts: (readonly string[])[] = [];
      for (const part of await partsOf(devicesQuery, actor, order)) parts.push(await part.names());
      return parts.flat();
    },

    list: async (devicesQuery: DevicesAsked, actor: Actor, order: readonly string[]): Promise<DevicePage> => {
      const { start, limit } = devicesQuery;
      const parts = await partsOf(devicesQuery, actor, order);
      const filled = parts.filter(({ total }) => total > 0);
      const total = filled.reduce((sum, part) => sum + part.total, 0);
      const [only, ...others] = filled;
      if (only && others.length === 0) return { total, list: await only.take(start, limit) };
      const firsts = [];
      for (const part of filled) firsts.push(...(await part.take(0, start + limit)));
      const list = firsts
        .toSorted((a, b) =>
          placeOf(a.device.name) < placeOf(b.device.name) ? -devicesQuery.order : devicesQuery.order,
        )
        .slice(start, start + limit);
      return { total, list };
    },
  };
};

const sourcesOf = new WeakMap<Needs['model'], ReturnType<typeof newSources>>();

/** The sources as a read model shows them. All readers of a read model share the names that are read from it. */
export const deviceSources = (needs: Needs): ReturnType<typeof newSources> => {
  const sources = sourcesOf.get(needs.model) ?? newSources(needs);
  sourcesOf.set(needs.model, sources);
  return sources;
};
