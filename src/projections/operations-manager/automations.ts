import type { Authored } from '../../domain/engine/authors.ts';
import { nameInProject } from '../../domain/engine/namespaces.ts';
import { type AutomationContent, automation } from '../../domain/operations-manager/automations.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';
import { listsGuard } from '../engine/guards.ts';

export type AutomationDoc = { readonly _id: string } & AutomationContent & Authored;

/** Automations; authors are ids of accounts, groups are names. */
export const automations = projection<AutomationDoc>()(automation, {
  collection: 'automations',
  on: {
    automationCreated: (_, event) => ({ _id: idOf(event), ...event.data, ...authorship(event) }),
    automationChanged: (doc, event) => doc && { ...doc, ...event.data, ...touched(event) },
    automationRestored: (_, event) => {
      const { imported: __, ...document } = event.data;
      return { _id: idOf(event), ...document };
    },
    automationDeleted: () => undefined,
  },
  names: { group: { field: 'groups' } },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: {
    name: (doc) => doc.name,
    componentType: (doc) => doc.componentType ?? [],
    componentName: (doc) => doc.componentName ?? [],
    componentInProject: (doc) => (doc.componentName === null ? [] : nameInProject(doc.componentName)),
    groups: ({ gbac }) => [...gbac.read, ...gbac.write],
  },
  guard: ({ gbac }) => listsGuard(gbac),
});
