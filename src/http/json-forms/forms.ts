import { Type } from 'typebox';
import { createForm, deleteForms, formMeant, importForm, updateForm } from '../../commands/json-forms/forms.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { partsBy } from '../../domain/engine/lenientSchemas.ts';
import { formDocumentSchema, formPatchSchema, formSchema } from '../../domain/json-forms/formSchemas.ts';
import { type FormDoc, forms } from '../../projections/json-forms/forms.ts';
import { signed } from '../authorization/people.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import { importRoute } from '../engine/imports.ts';
import type { AreaRoutes, Envelope } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';

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

const plainForm = partsBy(formDocumentSchema);

const importForms = importRoute({
  name: 'importForms',
  method: 'post',
  path: '/import/forms',
  access: ['operators'],
  summary: 'Import forms',
  description:
    'Ids, times and authors are kept. The same document again is no change; other content under a used id or ' +
    'name is 409 unless overwrite is true.',
  member: 'forms',
  document: formDocumentSchema,
  shown: formSchema,
  take: async ({ document, overwrite, fresh, about }, service, call) => {
    const form = plainForm(document).known;
    const id = await formMeant(form, fresh, service.tools);
    const { doc, position, replayed } = await service.handle(importForm, { ...about, id, input: { form, overwrite } });
    return { data: await signed(doc as FormDoc, service, call), position, replayed };
  },
});

// The command creates a decision to delete, so the envelope would say `Created`. The client asked for a deletion, so
// the status is `OK`.
const deleted: Envelope = (text) => `{"status":"OK","message":"Successfully deleted forms","data":${text}}`;

/** Forms (docs/decisions/forms.md). */
export const formRoutes: AreaRoutes = {
  area: 'json-forms',
  prefix: '/json-forms',
  routes: [
    listRoute({
      name: 'getForms',
      method: 'get',
      path,
      access: ['operators', 'readers'],
      summary: 'List forms',
      list: forms,
      join: signed,
      envelope: results,
      answer: listed(formSchema),
    }),
    commandRoute({
      name: 'createForm',
      method: 'post',
      path,
      access: ['operators'],
      summary: 'Create a form',
      command: createForm,
      join: signed,
      envelope: withStatus(() => 'Successfully created form'),
      answer: changed(formSchema),
    }),
    mappedCommandRoute({
      name: 'updateForm',
      method: 'put',
      path,
      access: ['operators'],
      summary: 'Update a form',
      description:
        'The one with the _id or id of the options, else the one with their name. What they leave out stays.',
      command: updateForm,
      named: meant,
      input: (_, { options }) => options,
      join: signed,
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
      name: 'getForm',
      method: 'get',
      path: `${path}/:id`,
      access: ['operators', 'readers'],
      summary: 'Get a form',
      get: forms,
      join: signed,
      envelope: plain,
      answer: formSchema,
    }),
  ],
};
