import { type Static, Type } from 'typebox';
import { change, commandTemplate, type CommandTemplateDocument, commandTemplateSchema, contentOf, create, importOne, newCommandTemplateSchema, patternsIn, remove } from '../domain/commandTemplates.ts';
import type { Actor } from '../domain/core.ts';
import type { TemplateRefs, TemplateState } from '../domain/mopTemplates.ts';
import { accountIds } from './authors.ts';
import { commandsOf, type Tools } from './define.ts';
import { referrersOfComponent } from './references.ts';
import { patternFaults } from './searches.ts';

const command = commandsOf(commandTemplate);

type Request = { readonly state: TemplateState<{ readonly name: string }>; readonly actor: Actor };

const faultsOf = (document: CommandTemplateDocument) => patternFaults(patternsIn(contentOf(document)));
const referrersOf = async ({ state, actor }: Request, tools: Tools) => (state.content ? referrersOfComponent('mop-template', state.content.name, actor, tools) : []);

const importInput = Type.Object({ template: commandTemplateSchema, overwrite: Type.Optional(Type.Boolean()) });

export const createCommandTemplate = command({
  name: 'createCommandTemplate', input: Type.Object({ mop: newCommandTemplateSchema }), on: 'new', decide: create,
  prepare: async ({ input: { mop } }): Promise<TemplateRefs> => ({ patternFaults: await faultsOf(mop) }),
});
export const updateCommandTemplate = command({
  name: 'updateCommandTemplate', input: Type.Object({ mop: commandTemplateSchema }), on: 'existing', decide: change,
  prepare: async (request, tools): Promise<TemplateRefs> => ({ patternFaults: await faultsOf(request.input.mop), referrers: await referrersOf(request, tools) }),
});
export const deleteCommandTemplate = command({
  name: 'deleteCommandTemplate', input: Type.Object({}), on: 'existing', decide: remove,
  prepare: async (request, tools): Promise<TemplateRefs> => ({ referrers: await referrersOf(request, tools) }),
});
export const importCommandTemplate = command({
  name: 'importCommandTemplate', input: importInput, on: 'any', decide: importOne,
  prepare: async (request: Request & { readonly input: Static<typeof importInput> }, tools): Promise<TemplateRefs> => ({
    patternFaults: await faultsOf(request.input.template), referrers: await referrersOf(request, tools), accounts: await accountIds([request.input.template], tools),
  }),
});
