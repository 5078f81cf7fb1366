import { Type } from 'typebox';
import { create, importOne, remove, template, update } from '../domain/templates.ts';
import { newTemplateSchema, type TemplateDocument, templateDocumentSchema, templatePatchSchema } from '../domain/templateSchemas.ts';
import { accountIds } from './authors.ts';
import { commandsOf, type Tools } from './define.ts';
import { referrersOfComponent } from './references.ts';

const command = commandsOf(template);
const kind = 'template';

export const createTemplate = command({ name: 'createTemplate', input: newTemplateSchema, on: 'new', decide: create });
export const updateTemplate = command({
  name: 'updateTemplate', input: templatePatchSchema, on: 'existing', decide: update,
  prepare: async ({ input, state: { content }, actor }, tools) =>
    ({ referrers: input.name === undefined || input.name === content.name ? [] : await referrersOfComponent(tools, kind, [content.name], actor) }),
});
export const deleteTemplate = command({
  name: 'deleteTemplate', input: Type.Object({}), on: 'existing', decide: remove,
  prepare: async ({ id, state: { content }, actor }, tools) => ({ referrers: await referrersOfComponent(tools, kind, [id, content.name], actor) }),
});

/** Takes one exported document in; `templateMeant` tells into which stream. */
export const importTemplate = command({
  name: 'importTemplate', input: Type.Object({ template: templateDocumentSchema, overwrite: Type.Optional(Type.Boolean()) }), on: 'any', decide: importOne,
  prepare: async ({ input, state: { exists, content }, actor }, tools) => ({
    referrers: exists && input.template.name !== content.name ? await referrersOfComponent(tools, kind, [content.name], actor) : [],
    accounts: await accountIds([input.template], tools),
  }),
});

/** The id of the template that an import of the document is about: its own if there is such a template, else that of the template with its name, else its own, or `fresh` if it has none. */
export const templateMeant = async ({ _id, name }: TemplateDocument, fresh: string, { find, state }: Tools): Promise<string> => {
  if (_id !== undefined && (await state(template, _id)).exists) return _id;
  return await find('templates', name) ?? _id ?? fresh;
};
