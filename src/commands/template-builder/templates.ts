import { Type } from 'typebox';
import type { Actor } from '../../domain/engine/core.ts';
import {
  newTemplateSchema,
  type TemplateDocument,
  templateDocumentSchema,
  templateParts,
  templatePatchSchema,
} from '../../domain/template-builder/templateSchemas.ts';
import {
  create,
  importOne,
  remove,
  sealData,
  sealTemplate,
  template,
  templateDocuments,
  update,
} from '../../domain/template-builder/templates.ts';
import { templates } from '../../projections/template-builder/templates.ts';
import { importAuthors } from '../authorization/authors.ts';
import { whyNotRun } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { importedId } from '../engine/imports.ts';
import { by, byImport, imported, type Kind } from '../engine/kinds.ts';
import { referrersOfComponent } from '../operations-manager/components.ts';

const command = commandsOf(template);
const kind = 'template';

export const createTemplate = command({
  name: 'createTemplate',
  input: newTemplateSchema,
  on: 'new',
  seal: sealData,
  decide: create,
});
export const updateTemplate = command({
  name: 'updateTemplate',
  input: templatePatchSchema,
  on: 'existing',
  seal: sealData,
  decide: update,
  prepare: async ({ input, state: { content }, actor }, tools) => ({
    referrers:
      input.name === undefined || input.name === content.name
        ? []
        : await referrersOfComponent(tools, kind, [content.name], actor),
  }),
});
export const deleteTemplate = command({
  name: 'deleteTemplate',
  on: 'existing',
  decide: remove,
  prepare: async ({ id, state: { content }, actor }, tools) => ({
    referrers: await referrersOfComponent(tools, kind, [id, content.name], actor),
  }),
});

/** Imports one template of any installation. `templateMeant` chooses the stream. */
export const importTemplate = command({
  name: 'importTemplate',
  input: Type.Object({ template: templateDocumentSchema, overwrite: Type.Optional(Type.Boolean()) }),
  on: 'any',
  decide: importOne,
  seal: (input, state, seal, present) => ({
    ...input,
    template: sealTemplate(
      input.template,
      state,
      present.map(({ template }) => template),
      seal,
    ),
  }),
  prepare: async ({ id, input, state: { exists, content }, actor }, tools) => ({
    referrers:
      exists && input.template.name !== content.name
        ? await referrersOfComponent(tools, kind, [content.name], actor)
        : [],
    ...(await importAuthors({ aggregate: template, id, documents: [input.template], ...input }, tools)),
  }),
});

/** The text of a stored Jinja2 template, by name or id; undefined if there is none that the actor may run. */
export const templateText = async (idOrName: string, actor: Actor, tools: Tools): Promise<string | undefined> => {
  const id = await tools.find(templates, idOrName);
  if (id === undefined || (await whyNotRun({ of: template, id }, actor, tools))) return undefined;
  const { exists, content } = await tools.state(template, id);
  return exists && content.type === 'jinja2' ? content.template : undefined;
};

/** Like `importedId`. An id that another installation made in another form does not count. */
export const templateMeant = (document: TemplateDocument, fresh: string, tools: Tools): Promise<string> =>
  importedId({ aggregate: template, collection: templates }, templateParts(document).known, fresh, tools);

export const templateKind: Kind = {
  ...imported({
    documents: templateDocuments,
    collection: templates,
    command: importTemplate,
    member: 'template',
    meant: templateMeant,
  }),
  remove: deleteTemplate,
  restore: { there: by(updateTemplate), deleted: byImport(importTemplate, 'template', 'importTemplates') },
};
