import type { Members } from '@automation-platform/json';
import {
  type DeviceGroupsImported,
  decideImport,
  deviceGroupImport,
  deviceGroupImportSchema,
  importedGroupId,
} from '../../domain/configuration-manager/deviceGroupImports.ts';
import {
  addDevices,
  create,
  type DeviceGroupContent,
  deviceGroup,
  deviceGroupChangesSchema,
  deviceGroupDeletions,
  deviceGroupItemSchema,
  groupDevicesSchema,
  remove,
  removeDecided,
  removeDevices,
  restore,
  update,
} from '../../domain/configuration-manager/deviceGroups.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import type { Referrer } from '../../domain/engine/references.ts';
import { deviceGroups } from '../../projections/configuration-manager/deviceGroups.ts';
import { plans } from '../../projections/configuration-manager/plans.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import type { Recorded } from '../../store/event.ts';
import { accountIds } from '../authorization/authors.ts';
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { deleteDecided } from '../engine/deletions.ts';
import { by, type Kind, partCommand, picked } from '../engine/kinds.ts';
import { importing } from '../engine/locks.ts';
import type { Reaction } from '../engine/reactions.ts';
import { referrerOf } from '../engine/references.ts';
import { deviceGroupReferences } from './trees.ts';

const command = commandsOf(deviceGroup);

export const createDeviceGroup = command({
  name: 'createDeviceGroup',
  input: deviceGroupItemSchema,
  on: 'new',
  decide: create,
});

/** The plans and trees that name the group by its id or name. */
const referrersOf = async (id: string, name: string, actor: Actor, tools: Tools): Promise<readonly Referrer[]> => {
  const any = [id, name].map((value) => ({ field: 'deviceGroup', op: 'equals', value }) as const);
  return [
    ...(await tools.query(plans, { any })).map((doc) => referrerOf(plans, doc, actor, tools)),
    ...(await tools.query(trees, { any })).map((doc) => referrerOf(trees, doc, actor, tools)),
  ];
};

/** The lock is for nodes of trees. Plans may name unknown device groups, so one may name a group that goes at the same time. */
const withReferrers = {
  locks: () => deviceGroupReferences,
  prepare: async (
    { id, state, actor }: { readonly id: string; readonly state: DeviceGroupContent; readonly actor: Actor },
    tools: Tools,
  ) => ({ referrers: await referrersOf(id, state.name, actor, tools) }),
};

export const updateDeviceGroup = command({
  name: 'updateDeviceGroup',
  input: deviceGroupChangesSchema,
  on: 'existing',
  ...withReferrers,
  decide: update,
});

export const addDeviceGroupDevices = command({
  name: 'addDeviceGroupDevices',
  input: groupDevicesSchema,
  on: 'existing',
  decide: addDevices,
});
export const removeDeviceGroupDevices = command({
  name: 'removeDeviceGroupDevices',
  input: groupDevicesSchema,
  on: 'existing',
  decide: removeDevices,
});

export const deleteDeviceGroup = command({
  name: 'deleteDeviceGroup',
  input: noInput,
  on: 'existing',
  ...withReferrers,
  decide: remove,
});

/** Part of a decision to delete groups. */
const removeGroup = command({ name: 'removeDeviceGroup', input: noInput, on: 'any', decide: removeDecided });

export const deleteDeviceGroups = commandsOf(deviceGroupDeletions.of)({
  name: 'deleteDeviceGroups',
  input: deviceGroupDeletions.schema,
  on: 'new',
  decide: deviceGroupDeletions.decide,
  locks: () => [importing, deviceGroupReferences],
  prepare: async ({ input, actor }, tools) => {
    const missing: string[] = [];
    const referrers = new Map<string | undefined, Referrer>();
    for (const id of new Set(input.groupIds)) {
      const { exists, name } = await tools.state(deviceGroup, id);
      if (!exists) missing.push(id);
      else for (const one of await referrersOf(id, name, actor, tools)) referrers.set(one.stream, one);
    }
    return { missing, referrers: [...referrers.values()] };
  },
});

const perQuery = 100;

/** Decides an import of device groups; the reactions below carry it out. */
export const importDeviceGroups = commandsOf(deviceGroupImport)({
  name: 'importDeviceGroups',
  input: deviceGroupImportSchema,
  on: 'new',
  decide: decideImport,
  prepare: async ({ input: { groups } }, tools) => {
    const { query, state } = tools;
    const existing = new Map<string, DeviceGroupContent>();
    const accounts: Record<string, string> = {};
    for (let from = 0; from < groups.length; from += perQuery) {
      const some = groups.slice(from, from + perQuery);
      const any = some.map(({ name }) => ({ field: 'name', op: 'equals', value: name }) as const);
      for (const { name, description, devices, query: condition } of await query(deviceGroups, { any }))
        existing.set(name, { name, description, devices, ...defined({ query: condition }) });
      Object.assign(accounts, await accountIds(some, tools));
    }
    const ids = new Set<string>();
    for (const id of groups.flatMap((group) => importedGroupId(group) ?? []))
      if ((await state(deviceGroup, id)).exists) ids.add(id);
    return { existing, ids, accounts };
  },
});

/** Part of an import. */
const createImported = partCommand(deviceGroup, restore);

export const deviceGroupReactions: readonly Reaction[] = [
  {
    of: deviceGroupImport,
    on: {
      deviceGroupsImported: async ({ data }: Recorded<DeviceGroupsImported>) =>
        data.groups.map(({ _id, ...group }) => ({
          command: createImported,
          id: _id,
          input: group,
        })),
    },
  },
  deleteDecided(deviceGroupDeletions, removeGroup),
];

/** A group that had a query has no list of its own. */
const asItWas = ({ devices, query, ...former }: Members): Members =>
  picked(deviceGroupItemSchema, query === undefined ? { ...former, devices } : { ...former, query });

export const deviceGroupKind: Kind = {
  of: deviceGroup,
  restore: {
    there: by(updateDeviceGroup, { input: asItWas }),
    deleted: by(createDeviceGroup, { input: asItWas }),
  },
};
