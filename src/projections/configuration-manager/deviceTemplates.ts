import { type DeviceTemplateContent, deviceTemplate } from '../../domain/configuration-manager/deviceTemplates.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';

export type DeviceTemplate = { readonly _id: string } & DeviceTemplateContent & Authored;

/** Device templates; authors are ids of accounts. */
export const deviceTemplates = projection<DeviceTemplate>()(deviceTemplate, {
  collection: 'deviceTemplates',
  on: {
    deviceTemplateCreated: (_, event) => ({ _id: idOf(event), ...event.data, ...authorship(event) }),
    deviceTemplateUpdated: (doc, event) => doc && { ...doc, ...event.data, ...touched(event) },
    deviceTemplateDeleted: () => undefined,
  },
  sorts: { name: ({ name }) => name },
  filters: { name: ({ name }) => name },
});
