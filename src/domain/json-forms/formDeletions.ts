import { type Static, Type } from 'typebox';
import { aggregate, type Context, type Event } from '../engine/core.ts';
import { type Referrer, refuseReferred, refuseUnknownIds } from '../engine/references.ts';
import { name } from '../engine/schemas.ts';

export const formDeletionSchema = Type.Object(
  { ids: Type.Array(name('Id of a form'), { description: 'Forms to delete: all or none', maxItems: 1000 }) },
  { additionalProperties: false, title: 'FormDeletion', description: 'Forms to delete' },
);
type Input = Static<typeof formDeletionSchema>;

export type FormsDeleted = { readonly ids: readonly string[] };
export type FormDeletionEvent =
  | Event<'formsDeleted', FormsDeleted>
  /** All forms of the decision are deleted. */
  | Event<'formDeletionCompleted', Record<string, never>>;

type State = { readonly decided: boolean; readonly completed: boolean };

/** The decision to delete several forms, all or none. It is carried out in the streams of the forms. */
export const formDeletion = aggregate<State, FormDeletionEvent>({
  area: 'json-forms',
  category: 'formDeletion',
  initial: { decided: false, completed: false },
  evolve: {
    formsDeleted: () => ({ decided: true, completed: false }),
    formDeletionCompleted: ({ decided }) => ({ decided, completed: true }),
  },
  exists: ({ decided }) => decided,
});

/** `missing`: forms that do not exist. `referrers`: triggers that name the others. */
export type FormDeletionRefs = { readonly missing: readonly string[]; readonly referrers: readonly Referrer[] };

export const decideDeletion = (
  _: State,
  { ids }: Input,
  { refs: { missing, referrers } }: Context<FormDeletionRefs>,
): readonly FormDeletionEvent[] => {
  refuseUnknownIds(missing, 'form', '/ids');
  refuseReferred(referrers, 'deleted');
  return ids.length > 0 ? [{ topic: 'formsDeleted', data: { ids: [...new Set(ids)] } }] : [];
};

export const complete = ({ decided, completed }: State): readonly FormDeletionEvent[] =>
  decided && !completed ? [{ topic: 'formDeletionCompleted', data: {} }] : [];
