import { Type } from 'typebox';
import { createForm, deleteForms, formMeant, importForm, updateForm } from '../../commands/json-forms/forms.ts';
import type { Words } from '../../domain/engine/importedDocuments.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { withLargeIntegers } from '../../domain/json-forms/formDocuments.ts';
import { formDocumentSchema, formPatchSchema, formSchema } from '../../domain/json-forms/formSchemas.ts';
import { type FormDoc, forms } from '../../projections/json-forms/forms.ts';
import { signed } from '../authorization/people.ts';
import { withStatus } from '../engine/envelopes.ts';
import { exportedDocument, importRoute, missingIn } from '../engine/imports.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { AreaRoutes, Envelope, Join } from '../engine/route.ts';
import { commandRoute, getRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, wordsSchema } from '../engine/schemas.ts';

const path = '/forms';

/** The id or name of the form in a request: its id if the request has one, else its name. */
const meant = (
  _: unknown,
  {
    options: { _id, id, name },
  }: { readonly options: { readonly _id?: string; readonly id?: string; readonly name?: string } },
): string => {
  const idOrName = _id ?? id ?? name;
  if (idOrName === undefined)
    throw new RequestError('invalid', 'The form must be named by its _id, id or name', { path: '/options/_id' });
  return idOrName;
};

/** A form with the names of its authors, and masks in the place of secrets that an import has brought. */
const showForm: Join<FormDoc> = async (doc, service, call) => maskSecrets(await signed(doc, service, call));

const importForms = importRoute({
  name: 'importForms',
  method: 'post',
  path: '/import/forms',
  access: ['operators'],
  summary: 'Import forms',
  description:
    'Takes forms of any installation, old ones too. Ids, times and authors are kept, and so is what the service does ' +
    'not know. The same document again is no change; other content under a used id or name is 409 unless overwrite ' +
    'is true. A schema that cannot be used is kept, too: triggers that name the form say so.',
  member: 'forms',
  document: formDocumentSchema,
  itemSchema: formSchema,
  take: async ({ document: form, path, overwrite, fresh, about }, service, call) => {
    const id = await formMeant(form, fresh, service.tools);
    const { doc, position, replayed } = await service.handle(importForm, { ...about, id, input: { form, overwrite } });
    return {
      data: await showForm(doc as FormDoc, service, call),
      position,
      replayed,
      missingSecrets: await missingIn(importForm.aggregate, id, path, service),
    };
  },
});

// The command creates a decision to delete, so the envelope would say `Created`. The client asked for a deletion, so
// the status is `OK`.
const deleted: Envelope = (text) => `{"status":"OK","message":"Successfully deleted forms","data":${text}}`;

const usual = resourceRoutes({
  noun: 'form',
  path,
  one: `${path}/:id`,
  documents: forms,
  schema: formSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
  join: showForm,
});

/** Forms (docs/decisions/forms.md). */
export const formRoutes: AreaRoutes = {
  area: 'json-forms',
  prefix: '/json-forms',
  routes: [
    usual.list({ name: 'getForms', summary: 'List forms' }),
    usual.create({
      name: 'createForm',
      summary: 'Create a form',
      command: createForm,
    }),
    mappedCommandRoute({
      name: 'updateForm',
      method: 'put',
      path,
      access: ['operators'],
      summary: 'Update a form',
      description:
        'The one with the _id or id of the options, else the one with their name. Members that they leave out stay.',
      command: updateForm,
      named: meant,
      exact: 'options',
      input: (_, { options }) => withLargeIntegers(options),
      join: showForm,
      body: Type.Object({ options: formPatchSchema }, { additionalProperties: false }),
      envelope: withStatus(() => 'Successfully updated form'),
      answer: changed(formSchema),
    }),
    commandRoute({
      name: 'deleteForms',
      method: 'delete',
      path,
      access: ['operators'],
      summary: 'Delete forms, all or none',
      description: '409 when a trigger names one of them.',
      command: deleteForms,
      envelope: deleted,
      answer: Type.Object({
        status: Type.Literal('OK'),
        message: Type.String(),
        data: Type.Union([
          Type.Null(),
          Type.Object({
            _id: Type.String({ description: 'Id of the deletion' }),
            ids: Type.Array(Type.String(), { description: 'Forms that went' }),
          }),
        ]),
      }),
    }),
    importForms,
    getRoute({
      name: 'exportForm',
      path: `${path}/:id/export`,
      access: ['operators', 'readers'],
      summary: 'Export a form',
      description:
        'The document that the import of forms takes back: the form with what an import brought and the service does not know.',
      query: { as: wordsSchema },
      get: forms,
      exports: true,
      join: async (doc, service, call) =>
        exportedDocument(
          {
            aggregate: importForm.aggregate,
            id: doc._id,
            view: (await showForm(doc, service, call)) as object,
            words: call.query.as as Words,
          },
          service,
        ),
      answer: formDocumentSchema,
    }),
    usual.get({ name: 'getForm', summary: 'Get a form' }),
  ],
};
