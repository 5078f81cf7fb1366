import { type Static, Type } from 'typebox';
import type { Actor } from '../../domain/engine/core.ts';
import {
  type CommandTemplateDocument,
  change,
  commandTemplate,
  commandTemplateChangeSchema,
  commandTemplateDocuments,
  contentOf,
  create,
  importedCommandTemplateSchema,
  importOne,
  newCommandTemplateSchema,
  patternsIn,
  remove,
} from '../../domain/mop/commandTemplates.ts';
import { sealImported, type TemplateRefs, type TemplateState } from '../../domain/mop/mopTemplates.ts';
import { commandTemplates } from '../../projections/mop/commandTemplates.ts';
import { importAuthors } from '../authorization/authors.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { by, byImport, imported, type Kind } from '../engine/kinds.ts';
import { referrersOfComponent } from '../operations-manager/components.ts';
import { patternFaults } from './searches.ts';

const command = commandsOf(commandTemplate);

type Request = { readonly id: string; readonly state: TemplateState<{ readonly name: string }>; readonly actor: Actor };

const faultsOf = (document: CommandTemplateDocument) => patternFaults(patternsIn(contentOf(document)));
/** The automations that name the template by its name, or by name or id (`both`). */
const referrersOf = async ({ id, state: { content }, actor }: Request, tools: Tools, by: 'name' | 'both') =>
  content
    ? referrersOfComponent(tools, 'mop-template', by === 'both' ? [id, content.name] : [content.name], actor)
    : [];

const importInput = Type.Object({ template: importedCommandTemplateSchema, overwrite: Type.Optional(Type.Boolean()) });

export const createCommandTemplate = command({
  name: 'createCommandTemplate',
  input: Type.Object({ mop: newCommandTemplateSchema }, { additionalProperties: false }),
  on: 'new',
  decide: create,
  prepare: async ({ input: { mop } }): Promise<TemplateRefs> => ({ patternFaults: await faultsOf(mop) }),
});
export const updateCommandTemplate = command({
  name: 'updateCommandTemplate',
  input: Type.Object({ mop: commandTemplateChangeSchema }, { additionalProperties: false }),
  on: 'existing',
  decide: change,
  prepare: async (request, tools): Promise<TemplateRefs> => ({
    patternFaults: await faultsOf(request.input.mop),
    referrers: await referrersOf(request, tools, 'name'),
  }),
});
export const deleteCommandTemplate = command({
  name: 'deleteCommandTemplate',
  on: 'existing',
  decide: remove,
  prepare: async (request, tools): Promise<TemplateRefs> => ({ referrers: await referrersOf(request, tools, 'both') }),
});
export const importCommandTemplate = command({
  name: 'importCommandTemplate',
  input: importInput,
  on: 'any',
  decide: importOne,
  seal: sealImported,
  prepare: async (request: Request & { readonly input: Static<typeof importInput> }, tools): Promise<TemplateRefs> => ({
    referrers: await referrersOf(request, tools, 'name'),
    ...(await importAuthors(
      { aggregate: commandTemplate, id: request.id, documents: [request.input.template], ...request.input },
      tools,
    )),
  }),
});

export const commandTemplateKind: Kind = {
  ...imported({
    documents: commandTemplateDocuments,
    collection: commandTemplates,
    command: importCommandTemplate,
    member: 'template',
    inside: '/template',
  }),
  remove: deleteCommandTemplate,
  restore: { there: by(updateCommandTemplate), deleted: byImport(importCommandTemplate, 'template', 'importTemplate') },
};
