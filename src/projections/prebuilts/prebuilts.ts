import type { Authored } from '../../domain/engine/authors.ts';
import type { PrebuiltPackage } from '../../domain/prebuilts/prebuiltSchemas.ts';
import {
  automationsIn,
  type PrebuiltImported,
  prebuilt,
  projectsIn,
  shownOf,
} from '../../domain/prebuilts/prebuilts.ts';
import { projects } from '../automation-studio/projects.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';
import { allGuards, documentGuard, followedGuard } from '../engine/guards.ts';
import { automations } from '../operations-manager/automations.ts';

export type PrebuiltDoc = { readonly _id: string; readonly name: string } & Omit<PrebuiltPackage, 'bundles'> &
  Pick<PrebuiltImported, 'installed' | 'kept'> &
  Required<Pick<PrebuiltImported, 'refused'>> &
  Authored & {
    readonly bundles: Readonly<Record<string, number>>;
  };

const counts = (bundles: PrebuiltPackage['bundles']): Readonly<Record<string, number>> => {
  const counted: Record<string, number> = {};
  for (const { type } of bundles) counted[type] = (counted[type] ?? 0) + 1;
  return counted;
};

/** Installed packages, without their documents, which may have 32 MiB. Authors are ids of accounts. */
export const prebuilts = projection<PrebuiltDoc>()(prebuilt, {
  collection: 'prebuilts',
  on: {
    prebuiltImported: (doc, event) => {
      const { prebuilt, installed, kept, refused = [] } = event.data;
      const { metadata, manifest, readme } = shownOf(prebuilt, event.data);
      const { created, createdBy } = doc ?? authorship(event);
      return {
        _id: idOf(event),
        name: metadata.name,
        metadata,
        manifest,
        readme,
        bundles: counts(prebuilt.bundles),
        installed,
        kept,
        refused,
        created,
        createdBy,
        ...touched(event),
      };
    },
    prebuiltInstalled: (doc) => doc,
    prebuiltDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  guard: ({ installed }) =>
    allGuards([
      ...automationsIn(installed).map((id) => documentGuard(automations, id)),
      ...projectsIn(installed).map((id) => followedGuard(projects, id)),
    ]),
  guardsVersions: true,
  filters: {
    name: (doc) => doc.name,
    version: (doc) => doc.metadata.version,
    author: (doc) => doc.metadata.author,
    keywords: (doc) => doc.metadata.keywords ?? [],
    type: (doc) => Object.keys(doc.bundles),
  },
});
