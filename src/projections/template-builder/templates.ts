import type { Authored } from '../../domain/engine/authors.ts';
import type { TemplateContent } from '../../domain/template-builder/templateSchemas.ts';
import { template } from '../../domain/template-builder/templates.ts';
import { projectGuard } from '../automation-studio/projects.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';

export type TemplateDoc = { readonly _id: string } & TemplateContent & Authored;

/** Templates; authors are ids of accounts. */
export const templates = projection<TemplateDoc>()(template, {
  collection: 'templates',
  on: {
    templateCreated: (_, event) => ({ _id: idOf(event), ...event.data, ...authorship(event) }),
    templateChanged: (doc, event) => doc && { ...doc, ...event.data, ...touched(event) },
    templateRestored: (_, event) => {
      const { imported: __, ...data } = event.data;
      return { _id: idOf(event), ...data };
    },
    templateDeleted: () => undefined,
  },
  component: 'template',
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: {
    name: (doc) => doc.name,
    type: (doc) => doc.type,
    group: (doc) => doc.group,
    tags: (doc) => doc.tags.filter((tag) => typeof tag === 'string'),
  },
  guard: ({ name }) => projectGuard(name),
});
