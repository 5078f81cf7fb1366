import type { Authored } from '../../domain/engine/authors.ts';
import type { FormContent } from '../../domain/json-forms/formSchemas.ts';
import { form } from '../../domain/json-forms/forms.ts';
import { projectGuard } from '../automation-studio/projects.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';

export type FormDoc = { readonly _id: string; readonly id: string } & FormContent & Authored;

/** Forms; authors are ids of accounts. */
export const forms = projection<FormDoc>()(form, {
  collection: 'forms',
  on: {
    formCreated: (_, event) => ({ _id: idOf(event), id: idOf(event), ...event.data, ...authorship(event) }),
    formChanged: (doc, event) => doc && { ...doc, ...event.data, ...touched(event) },
    formRestored: (_, event) => {
      const { imported: __, ...data } = event.data;
      return { _id: idOf(event), id: idOf(event), ...data };
    },
    formDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created, lastUpdated: (doc) => doc.lastUpdated },
  filters: {
    name: (doc) => doc.name,
    version: (doc) => doc.version,
    tags: (doc) => doc.tags.filter((tag) => typeof tag === 'string'),
  },
  guard: ({ name }) => projectGuard(name),
});
