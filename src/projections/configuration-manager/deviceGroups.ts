import { type DeviceGroupContent, deviceGroup, withChanges } from '../../domain/configuration-manager/deviceGroups.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';

export type DeviceGroup = { readonly _id: string } & DeviceGroupContent & Authored;

/** Device groups; authors are ids of accounts. */
export const deviceGroups = projection<DeviceGroup>()(deviceGroup, {
  collection: 'deviceGroups',
  on: {
    deviceGroupCreated: (_, event) => ({ _id: idOf(event), ...event.data, ...authorship(event) }),
    deviceGroupRestored: (_, event) => ({ _id: idOf(event), ...event.data }),
    deviceGroupUpdated: (doc, event) => doc && { ...withChanges(doc, event.data), ...touched(event) },
    deviceGroupDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created },
  filters: {
    name: (doc) => doc.name,
    description: (doc) => doc.description,
    device: (doc) => doc.devices,
    hasQuery: (doc) => String(doc.query !== undefined),
  },
});
