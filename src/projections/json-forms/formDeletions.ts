import { formDeletion } from '../../domain/json-forms/formDeletions.ts';
import { idOf, projection } from '../engine/define.ts';

/** Deletions of forms that are decided and not yet carried out in all their streams. */
export const formDeletions = projection<{ readonly _id: string; readonly ids: readonly string[] }>()(formDeletion, {
  collection: 'formDeletions',
  on: {
    formsDeleted: (_, event) => ({ _id: idOf(event), ids: event.data.ids }),
    formDeletionCompleted: () => undefined,
  },
  sorts: { name: (doc) => doc._id },
  filters: { form: (doc) => doc.ids },
});
