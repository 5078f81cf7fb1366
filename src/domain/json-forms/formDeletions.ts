import { type Static, Type } from 'typebox';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { type Referrer, refuseClosed, refuseReferred, refuseUnknownIds } from '../engine/references.ts';
import { name } from '../engine/schemas.ts';
import { nothing, texts, topicsOf } from '../engine/topics.ts';

export const formDeletionSchema = Type.Object(
  { ids: Type.Array(name('Id of a form'), { description: 'Forms to delete: all or none', maxItems: 1000 }) },
  { additionalProperties: false, title: 'FormDeletion', description: 'Forms to delete' },
);
type Input = Static<typeof formDeletionSchema>;

const decision = Type.Object({ ids: texts });
export type FormsDeleted = SchemaData<typeof decision>;

const topics = topicsOf({
  formsDeleted: ['Forms are to be deleted', decision],
  formDeletionCompleted: ['All forms of a deletion are deleted', nothing],
});
export type FormDeletionEvent = EventOf<typeof topics>;

type State = { readonly decided: boolean; readonly completed: boolean };

/** The decision to delete several forms, all or none. It is carried out in the streams of the forms. */
export const formDeletion = aggregate<State, FormDeletionEvent>({
  area: 'json-forms',
  category: 'formDeletion',
  topics,
  initial: { decided: false, completed: false },
  evolve: {
    formsDeleted: () => ({ decided: true, completed: false }),
    formDeletionCompleted: ({ decided }) => ({ decided, completed: true }),
  },
  exists: ({ decided }) => decided,
});

/**
 * `missing`: forms that do not exist or that the actor may not see. `closed`: forms that the actor may not change.
 * `referrers`: triggers that name the rest.
 */
export type FormDeletionRefs = {
  readonly missing: readonly string[];
  readonly closed?: readonly string[];
  readonly referrers: readonly Referrer[];
};

export const decideDeletion = (
  _: State,
  { ids }: Input,
  { refs: { missing, closed = [], referrers } }: Context<FormDeletionRefs>,
): readonly FormDeletionEvent[] => {
  refuseUnknownIds(missing, 'form', '/ids');
  refuseClosed(closed, 'form', '/ids');
  refuseReferred(referrers, 'deleted');
  return ids.length > 0 ? [{ topic: 'formsDeleted', data: { ids: [...new Set(ids)] } }] : [];
};

export const complete = ({ decided, completed }: State): readonly FormDeletionEvent[] =>
  decided && !completed ? [{ topic: 'formDeletionCompleted', data: {} }] : [];
