import {
  type DeviceGroupsImported,
  decideImport,
  deviceGroupImport,
  deviceGroupImportSchema,
  importedGroupId,
} from '../../domain/configuration-manager/deviceGroupImports.ts';
import {
  create,
  type DeviceGroupContent,
  deviceGroup,
  deviceGroupItemSchema,
  remove,
  restore,
} from '../../domain/configuration-manager/deviceGroups.ts';
import { deviceGroups } from '../../projections/configuration-manager/deviceGroups.ts';
import { plans } from '../../projections/configuration-manager/plans.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import type { Recorded } from '../../store/event.ts';
import { accountIds } from '../authorization/authors.ts';
import { commandsOf, noInput } from '../engine/define.ts';
import { anew, type Kind, partCommand } from '../engine/kinds.ts';
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

/** The lock is for nodes of trees. Plans may name unknown device groups, so one may name a group that is deleted at the same time. */
export const deleteDeviceGroup = command({
  name: 'deleteDeviceGroup',
  input: noInput,
  on: 'existing',
  decide: remove,
  locks: () => deviceGroupReferences,
  prepare: async ({ id, state, actor }, tools) => {
    const any = [id, state.name].map((value) => ({ field: 'deviceGroup', op: 'equals', value }) as const);
    return {
      referrers: [
        ...(await tools.query(plans, { any })).map((doc) => referrerOf(plans, doc, actor, tools)),
        ...(await tools.query(trees, { any })).map((doc) => referrerOf(trees, doc, actor, tools)),
      ],
    };
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
      for (const { name, description, devices } of await query(deviceGroups, { any }))
        existing.set(name, { name, description, devices });
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
];

export const deviceGroupKind: Kind = { of: deviceGroup, restore: anew(createDeviceGroup) };
