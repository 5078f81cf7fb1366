import type { Authored } from '../domain/authors.ts';
import { deviceGroup, type DeviceGroupContent, type DeviceGroupEvent } from '../domain/deviceGroups.ts';
import { projection } from './define.ts';
import { idOf, made } from './stamps.ts';

/** Device groups; authors are ids of accounts. */
export const deviceGroups = projection<{ readonly _id: string } & DeviceGroupContent & Authored, DeviceGroupEvent>(deviceGroup, {
  collection: 'deviceGroups',
  on: {
    deviceGroupCreated: (_, event) => ({ _id: idOf(event), ...event.data, ...made(event) }),
    deviceGroupDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created },
  filters: { name: (doc) => doc.name, description: (doc) => doc.description, device: (doc) => doc.devices },
});
