import { newAgentSchema } from '../domain/agent-session-manager/agentSchemas.ts';
import { groupPatchSchema } from '../domain/authorization/groups.ts';
import { planOptionsSchema } from '../domain/configuration-manager/planSchemas.ts';
import { bannerSchema } from '../domain/customization/banner.ts';
import { signatureMembers } from '../domain/engine/authors.ts';
import type { Members } from '../domain/engine/members.ts';
import { groupMappingSchema } from '../domain/group-mappings/groupMappings.ts';
import { formPatchSchema } from '../domain/json-forms/formSchemas.ts';
import { newInstanceSchema } from '../domain/lifecycle-manager/resourceInstances.ts';
import { analyticTemplateSchema } from '../domain/mop/analyticTemplates.ts';
import { commandTemplateSchema } from '../domain/mop/commandTemplates.ts';
import { automationPatchSchema } from '../domain/operations-manager/automations.ts';
import { triggerPatchSchema } from '../domain/operations-manager/triggerMembers.ts';
import { templatePatchSchema } from '../domain/template-builder/templateSchemas.ts';
import { replaceAgent } from './agent-session-manager/agents.ts';
import { updateGroup } from './authorization/groups.ts';
import { replaceAdapter } from './configuration-manager/adapters.ts';
import { updateCompliancePlan } from './configuration-manager/plans.ts';
import { importTree } from './configuration-manager/trees.ts';
import { setBanner } from './customization/banner.ts';
import type { AnyCommand } from './engine/define.ts';
import { updateGroupMapping } from './group-mappings/groupMappings.ts';
import { importForm, updateForm } from './json-forms/forms.ts';
import { updateInstance } from './lifecycle-manager/resourceInstances.ts';
import { importAnalyticTemplate, updateAnalyticTemplate } from './mop/analyticTemplates.ts';
import { importCommandTemplate, updateCommandTemplate } from './mop/commandTemplates.ts';
import { bringBackAutomation, updateAutomation } from './operations-manager/automations.ts';
import { importTrigger, updateTrigger } from './operations-manager/triggers.ts';
import { importTemplate, updateTemplate } from './template-builder/templates.ts';

/** A command that gives a resource a former content. */
export type Restoring = {
  readonly command: AnyCommand;
  /** The name of the route whose callers may do this. */
  readonly method: string;
  /** The command's input for the former document and, of an import, who made it and when. */
  readonly input: (former: Members) => unknown;
};

/** How resources of a kind are restored: those that are there, and those that were deleted since. */
type Restorable = { readonly there: Restoring; readonly gone?: Restoring };

const ids = ['_id', 'id', ...signatureMembers];

/** The members of a document that a schema names, but for ids, times and authors. */
const picked =
  ({ properties }: { readonly properties: object }) =>
  (former: Members): Members =>
    Object.fromEntries(
      Object.keys(properties).flatMap((name) =>
        Object.hasOwn(former, name) && former[name] !== undefined && !ids.includes(name) ? [[name, former[name]]] : [],
      ),
    );

/** The same, with null for these members if the document lacks them: else a change would leave them as they are. */
const pickedOrNull =
  (schema: { readonly properties: object }, names: readonly string[]) =>
  (former: Members): Members => ({
    ...Object.fromEntries(names.map((name) => [name, null])),
    ...picked(schema)(former),
  });

const within =
  (member: string, inner: (former: Members) => Members) =>
  (former: Members): Members => ({ [member]: inner(former) });

/** The input of an import of the whole document. */
const imported =
  (member: string) =>
  (former: Members): Members => ({ [member]: former, overwrite: true });

/** The kinds of resources that can be restored, by the category of their streams. */
export const restorable: Readonly<Record<string, Restorable>> = {
  adapter: {
    there: {
      command: replaceAdapter,
      method: 'updateAdapter',
      input: picked({ properties: { type: 0, properties: 0, devices: 0 } }),
    },
  },
  agent: { there: { command: replaceAgent, method: 'updateAgent', input: picked(newAgentSchema) } },
  analyticTemplate: {
    there: {
      command: updateAnalyticTemplate,
      method: 'updateAnalyticTemplate',
      input: within('template', picked(analyticTemplateSchema)),
    },
    gone: { command: importAnalyticTemplate, method: 'importTemplate', input: imported('template') },
  },
  automation: {
    there: { command: updateAutomation, method: 'updateAutomation', input: picked(automationPatchSchema) },
    gone: { command: bringBackAutomation, method: 'importAutomations', input: (former) => former },
  },
  banner: { there: { command: setBanner, method: 'setBanner', input: picked(bannerSchema) } },
  commandTemplate: {
    there: {
      command: updateCommandTemplate,
      method: 'updateTemplate',
      input: within('mop', picked(commandTemplateSchema)),
    },
    gone: { command: importCommandTemplate, method: 'importTemplate', input: imported('template') },
  },
  form: {
    there: { command: updateForm, method: 'updateForm', input: picked(formPatchSchema) },
    gone: { command: importForm, method: 'importForms', input: imported('form') },
  },
  group: { there: { command: updateGroup, method: 'updateGroup', input: picked(groupPatchSchema) } },
  groupMapping: {
    there: { command: updateGroupMapping, method: 'updateGroupMapping', input: picked(groupMappingSchema) },
    gone: { command: updateGroupMapping, method: 'updateGroupMapping', input: picked(groupMappingSchema) },
  },
  plan: {
    there: { command: updateCompliancePlan, method: 'updateCompliancePlan', input: picked(planOptionsSchema) },
  },
  resourceInstance: {
    there: { command: updateInstance, method: 'updateResourceInstance', input: picked(newInstanceSchema) },
  },
  template: {
    there: { command: updateTemplate, method: 'updateTemplate', input: picked(templatePatchSchema) },
    gone: { command: importTemplate, method: 'importTemplates', input: imported('template') },
  },
  tree: {
    there: { command: importTree, method: 'importTrees', input: imported('tree') },
    gone: { command: importTree, method: 'importTrees', input: imported('tree') },
  },
  trigger: {
    there: {
      command: updateTrigger,
      method: 'updateTrigger',
      input: pickedOrNull(triggerPatchSchema, ['description', 'options']),
    },
    gone: { command: importTrigger, method: 'importTriggers', input: imported('trigger') },
  },
};
