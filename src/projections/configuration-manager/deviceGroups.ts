import { type DeviceGroupContent, deviceGroup } from '../../domain/configuration-manager/deviceGroups.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import { idOf, made, projection } from '../engine/define.ts';

/** Device groups; authors are ids of accounts. */
export const deviceGroups = projection<{ readonly _id: string } & DeviceGroupContent & Authored>()(deviceGroup, {
  collection: 'deviceGroups',
  on: {
    deviceGroupCreated: (_, event) => ({ _id: idOf(event), ...event.data, ...made(event) }),
    deviceGroupRestored: (_, event) => ({ _id: idOf(event), ...event.data }),
    deviceGroupDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created },
  filters: { name: (doc) => doc.name, description: (doc) => doc.description, device: (doc) => doc.devices },
});
