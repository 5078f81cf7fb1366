import { schemaFaultOf } from '@automation-platform/bounded-schemas';
import { plainValue } from '@automation-platform/json';
import { Type } from 'typebox';
import { everybody } from '../../domain/authorization/gbac.ts';
import type { Actor, Context } from '../../domain/engine/core.ts';
import { type Referrer, refuseReferred } from '../../domain/engine/references.ts';
import { formDeletion, formDeletions } from '../../domain/json-forms/formDeletions.ts';
import { importedFormId } from '../../domain/json-forms/formDocuments.ts';
import {
  type FormDocument,
  formDocumentSchema,
  formPatchSchema,
  newFormSchema,
} from '../../domain/json-forms/formSchemas.ts';
import {
  create,
  type FormRefs,
  type FormState,
  form,
  formDocuments,
  importOne,
  remove,
  sealImported,
  update,
} from '../../domain/json-forms/forms.ts';
import { forms } from '../../projections/json-forms/forms.ts';
import { triggers } from '../../projections/operations-manager/triggers.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { importAuthors } from '../authorization/authors.ts';
import { mayRead, mayWrite } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { importedId } from '../engine/imports.ts';
import { by, byImport, imported, type Kind } from '../engine/kinds.ts';
import type { Reaction } from '../engine/reactions.ts';
import { referrerOf } from '../engine/references.ts';

const command = commandsOf(form);

/** The lock of decisions on which forms exist, what their names are, and which of them triggers name. */
export const formReferences = 'formReferences';

/** The triggers that name a form by one of the ids and names. Names that the actor may not see are replaced. */
const referrersOf = async (
  idsAndNames: readonly string[],
  actor: Actor,
  tools: Tools,
): Promise<readonly Referrer[]> => {
  if (idsAndNames.length === 0) return [];
  const referring = await tools.query(triggers, {
    any: idsAndNames.map((value) => ({ field: 'formId', op: 'equals', value })),
  });
  return referring.map((doc) => referrerOf(triggers, doc, actor, tools));
};

const renames = (
  now: { readonly exists: boolean; readonly content: { readonly name: string } },
  { name }: { readonly name?: string },
): boolean => now.exists && name !== undefined && name !== now.content.name;

export const createForm = command({
  name: 'createForm',
  input: newFormSchema,
  on: 'new',
  decide: create,
  prepare: async ({ input }) => ({ ...schemaFaultOf(input.schema), referrers: [] }),
});
export const updateForm = command({
  name: 'updateForm',
  input: formPatchSchema,
  on: 'existing',
  decide: update,
  locks: (state, input) => (renames(state, input) ? formReferences : undefined),
  prepare: async ({ input, state, actor }, tools) => ({
    ...schemaFaultOf(plainValue(input.schema)),
    referrers: renames(state, input) ? await referrersOf([state.content.name], actor, tools) : [],
  }),
});

/** Imports one form, given as it was written. `formMeant` chooses the stream. */
export const importForm = command({
  name: 'importForm',
  input: Type.Object({ form: formDocumentSchema, overwrite: Type.Optional(Type.Boolean()) }),
  on: 'any',
  decide: importOne,
  seal: sealImported,
  locks: (state, { form }) => (renames(state, form) ? formReferences : undefined),
  prepare: async ({ id, input, state, actor }, tools) => ({
    referrers: renames(state, input.form) ? await referrersOf([state.content.name], actor, tools) : [],
    ...(await importAuthors({ aggregate: form, id, documents: [input.form], ...input }, tools)),
  }),
});

/** The id of the form that an import creates or changes, by the rule of `importedId`. */
export const formMeant = (document: FormDocument, fresh: string, tools: Tools): Promise<string> =>
  importedId(
    { aggregate: form, collection: forms },
    { _id: importedFormId(document), name: document.name },
    fresh,
    tools,
  );

/** Deletes a form together with resources of other kinds. */
const deleteForm = command({
  name: 'deleteForm',
  on: 'existing',
  locks: () => formReferences,
  decide: (state: FormState, _: unknown, { refs }: Context<Pick<FormRefs, 'referrers'>>) => {
    refuseReferred(refs.referrers, 'deleted');
    return remove(state);
  },
  prepare: async ({ id, state: { content }, actor }, tools) => ({
    referrers: await referrersOf([id, content.name], actor, tools),
  }),
});

/** Part of a decision to delete forms. */
const removeForm = command({ name: 'removeForm', on: 'any', decide: remove });
const deletion = commandsOf(formDeletion);
const completeFormDeletion = deletion({
  name: 'completeFormDeletion',
  on: 'existing',
  decide: formDeletions.complete,
});

export const deleteForms = deletion({
  name: 'deleteForms',
  input: formDeletions.schema,
  on: 'new',
  decide: formDeletions.decide,
  locks: (_, { ids }) => (ids.length > 0 ? formReferences : undefined),
  prepare: async ({ input: { ids }, actor }, tools) => {
    const meant = await Promise.all(
      [...new Set(ids)].map(async (id) => {
        const state = await tools.state(form, id);
        const list = (await tools.gbacAbove(form, state, 'change')) ?? everybody;
        return {
          id,
          name: state.content.name,
          isThere: state.exists && mayRead(actor, list),
          open: mayWrite(actor, list),
        };
      }),
    );
    const there = meant.filter(({ isThere }) => isThere);
    return {
      missing: meant.filter(({ isThere }) => !isThere).map(({ id }) => id),
      closed: there.filter(({ open }) => !open).map(({ id }) => id),
      referrers: await referrersOf(
        there.flatMap(({ id, name }) => [id, name]),
        actor,
        tools,
      ),
    };
  },
});

export const formReactions: readonly Reaction[] = [
  {
    of: formDeletion,
    on: {
      formsDeleted: async ({ stream, data }: Recorded<{ readonly ids: readonly string[] }>) => [
        ...data.ids.map((id) => ({ command: removeForm, id, input: {} })),
        { command: completeFormDeletion, id: splitStream(stream).id, input: {} },
      ],
    },
  },
];

export const formKind: Kind = {
  ...imported({
    documents: formDocuments,
    collection: forms,
    command: importForm,
    member: 'form',
    meant: formMeant,
  }),
  remove: deleteForm,
  restore: { there: by(updateForm), deleted: byImport(importForm, 'form', 'importForms') },
};
