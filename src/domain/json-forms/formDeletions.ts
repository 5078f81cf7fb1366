import { deletionOf } from '../engine/deletions.ts';

/** The decision to delete several forms. Triggers may name none of them until all are deleted. */
export const formDeletions = deletionOf({
  area: 'json-forms',
  category: 'formDeletion',
  topic: 'formsDeleted',
  completed: 'formDeletionCompleted',
  member: 'ids',
  title: 'FormDeletion',
  noun: 'form',
});
export const formDeletion = formDeletions.of;
