import type { Members } from '@automation-platform/json';
import { newAgentSchema } from '../domain/agent-session-manager/agentSchemas.ts';
import { groupPatchSchema, newGroupSchema } from '../domain/authorization/groups.ts';
import { deviceGroupItemSchema } from '../domain/configuration-manager/deviceGroups.ts';
import { formerPlanSchema } from '../domain/configuration-manager/planSchemas.ts';
import { bannerSchema } from '../domain/customization/banner.ts';
import { signatureMembers } from '../domain/engine/authors.ts';
import { same } from '../domain/engine/changes.ts';
import type { Aggregate } from '../domain/engine/core.ts';
import { maskSecrets } from '../domain/engine/secretFields.ts';
import { newServiceGroupSchema } from '../domain/gateway-manager/serviceGroups.ts';
import { groupMappingSchema } from '../domain/group-mappings/groupMappings.ts';
import { inventory, newInventorySchema } from '../domain/inventory-manager/inventories.ts';
import { entriesIn } from '../domain/inventory-manager/layeredMap.ts';
import { formPatchSchema } from '../domain/json-forms/formSchemas.ts';
import { idsIn } from '../domain/lifecycle-manager/idSets.ts';
import { resourceGroup } from '../domain/lifecycle-manager/resourceGroups.ts';
import { newInstanceSchema } from '../domain/lifecycle-manager/resourceInstances.ts';
import { newModelSchema } from '../domain/lifecycle-manager/resourceModels.ts';
import { analyticTemplateSchema } from '../domain/mop/analyticTemplates.ts';
import { commandTemplateSchema } from '../domain/mop/commandTemplates.ts';
import { automationPatchSchema } from '../domain/operations-manager/automations.ts';
import { triggerPatchSchema } from '../domain/operations-manager/triggerMembers.ts';
import { prebuilt } from '../domain/prebuilts/prebuilts.ts';
import { patchBetween } from '../domain/profiles/mergePatch.ts';
import { templatePatchSchema } from '../domain/template-builder/templateSchemas.ts';
import { createAgent, replaceAgent } from './agent-session-manager/agents.ts';
import { createGroup, updateGroup } from './authorization/groups.ts';
import { importScheduledJob } from './automation-catalog/scheduledJobImports.ts';
import { createAdapter, replaceAdapter } from './configuration-manager/adapters.ts';
import { bringBackDeviceGroup } from './configuration-manager/deviceGroups.ts';
import { restoreCompliancePlan } from './configuration-manager/plans.ts';
import { importTree } from './configuration-manager/trees.ts';
import { setBanner } from './customization/banner.ts';
import type { AnyCommand } from './engine/define.ts';
import { bringBackServiceGroup } from './gateway-manager/serviceGroups.ts';
import { updateGroupMapping } from './group-mappings/groupMappings.ts';
import { restoreInventory } from './inventory-manager/inventories.ts';
import { importForm, updateForm } from './json-forms/forms.ts';
import { createResourceGroup, updateResourceGroup } from './lifecycle-manager/resourceGroups.ts';
import { createInstance, updateInstance } from './lifecycle-manager/resourceInstances.ts';
import { importResourceModel, updateResourceModel } from './lifecycle-manager/resourceModels.ts';
import { importAnalyticTemplate, updateAnalyticTemplate } from './mop/analyticTemplates.ts';
import { importCommandTemplate, updateCommandTemplate } from './mop/commandTemplates.ts';
import { importAutomation } from './operations-manager/automationImports.ts';
import { updateAutomation } from './operations-manager/automations.ts';
import { importTrigger, updateTrigger } from './operations-manager/triggers.ts';
import { importPrebuilt } from './prebuilts/prebuilts.ts';
import { activateProfile, createProfile, updateProfile } from './profiles/profiles.ts';
import { importTemplate, updateTemplate } from './template-builder/templates.ts';

/** A command that gives a resource a former content. */
export type Restoring = {
  readonly command: AnyCommand;
  /** The name of the route whose callers may do this. */
  readonly method: string;
  /** Another route that they must be allowed to call. */
  readonly also?: string;
  /**
   * The command's input for the former document and, of an import, who made it and when. `present`: the document as of
   * now, if there is one.
   */
  readonly input: (former: Members, present: Members | undefined) => unknown;
  /** Whether it is an import, which takes what the service does not know, too. */
  readonly imports?: boolean;
  /**
   * Whether a changed document comes with all its secrets in clear: the command finds those that are there by other
   * means than their place.
   */
  readonly inClear?: boolean;
};

/** How resources of a kind are restored. */
type Restorable = {
  /** Those that are there. */
  readonly there: Restoring;
  /** Those that were deleted since. */
  readonly gone: Restoring;
  /** Members that only the state has. */
  readonly more?: (state: unknown) => Members;
  /** Documents of another kind that come back with one that was deleted: those whose `field` names it. */
  readonly parts?: { readonly kind: string; readonly field: string; readonly member: string };
};

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

/** The same, and when and by whom it was made. */
const signed =
  (schema: { readonly properties: object }) =>
  (former: Members): Members => ({
    ...picked(schema)(former),
    created: former.created,
    createdBy: former.createdBy,
  });

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

/** One that does both. */
const always = (restoring: Restoring): Restorable => ({ there: restoring, gone: restoring });

/** An import of the whole document. */
const importing = (command: AnyCommand, method: string, member: string): Restoring => ({
  command,
  method,
  input: (former) => ({ [member]: former, overwrite: true }),
  imports: true,
});

/** The members that the state of an aggregate has. */
const ofState =
  <S>(_: Aggregate<S>, members: (state: S) => Members) =>
  (state: unknown): Members =>
    members(state as S); // the state of a stream is that of its aggregate

const listed = (value: unknown): readonly string[] => (Array.isArray(value) ? value : []);

const changedMembers = (former: Members, present: Members = {}): Members => {
  const [then, now] = [new Set(listed(former.instances)), new Set(listed(present.instances))];
  return {
    instancesToAdd: [...then].filter((id) => !now.has(id)),
    instancesToRemove: [...now].filter((id) => !then.has(id)),
  };
};

/** The nodes of an inventory by name, so that their secrets are compared with those of the node of the same name. */
const nodesByName = (nodes: ReadonlyMap<string, { readonly attributes: Members; readonly tags: readonly string[] }>) =>
  Object.fromEntries([...nodes].map(([name, { attributes, tags }]) => [name, { attributes, tags }]));

const inventoryAsItWas = (former: Members): Members => {
  const nodes = Object.entries(former.nodes as Readonly<Record<string, Members>>); // from `nodesByName`
  return { ...picked(newInventorySchema)(former), nodes: nodes.map(([name, node]) => ({ name, ...node })) };
};

const adapterMembers = { properties: { type: 0, properties: 0, devices: 0 } };

/** The kinds of resources that can be restored, by the category of their streams. */
export const restorable: Readonly<Record<string, Restorable>> = {
  activeProfile: always({ command: activateProfile, method: 'activateProfile', input: ({ id }) => ({ id }) }),
  adapter: {
    there: { command: replaceAdapter, method: 'updateAdapter', input: picked(adapterMembers) },
    gone: {
      command: createAdapter,
      method: 'createAdapter',
      input: picked({ properties: { name: 0, ...adapterMembers.properties } }),
    },
  },
  agent: {
    there: { command: replaceAgent, method: 'updateAgent', input: picked(newAgentSchema) },
    gone: { command: createAgent, method: 'createAgent', input: picked(newAgentSchema) },
  },
  analyticTemplate: {
    there: {
      command: updateAnalyticTemplate,
      method: 'updateAnalyticTemplate',
      input: within('template', picked(analyticTemplateSchema)),
    },
    gone: importing(importAnalyticTemplate, 'importTemplate', 'template'),
  },
  automation: {
    there: { command: updateAutomation, method: 'updateAutomation', input: picked(automationPatchSchema) },
    gone: {
      command: importAutomation,
      method: 'importAutomations',
      input: (automation) => ({ automation }),
      imports: true,
    },
    parts: { kind: 'trigger', field: 'actionId', member: 'triggers' },
  },
  banner: always({ command: setBanner, method: 'setBanner', input: picked(bannerSchema) }),
  commandTemplate: {
    there: {
      command: updateCommandTemplate,
      method: 'updateTemplate',
      input: within('mop', picked(commandTemplateSchema)),
    },
    gone: importing(importCommandTemplate, 'importTemplate', 'template'),
  },
  deviceGroup: always({
    command: bringBackDeviceGroup,
    method: 'createDeviceGroup',
    input: picked(deviceGroupItemSchema),
  }),
  form: {
    there: { command: updateForm, method: 'updateForm', input: picked(formPatchSchema) },
    gone: importing(importForm, 'importForms', 'form'),
  },
  group: {
    there: { command: updateGroup, method: 'updateGroup', input: picked(groupPatchSchema) },
    gone: { command: createGroup, method: 'createGroup', input: picked(newGroupSchema) },
  },
  groupMapping: always({
    command: updateGroupMapping,
    method: 'updateGroupMapping',
    input: picked(groupMappingSchema),
  }),
  inventory: {
    there: { command: restoreInventory, method: 'addNodes', also: 'clearNodes', input: inventoryAsItWas },
    gone: { command: restoreInventory, method: 'createInventory', also: 'addNodes', input: inventoryAsItWas },
    more: ofState(inventory, ({ nodes }) => ({ nodes: nodesByName(entriesIn(nodes)) })),
  },
  plan: {
    there: { command: restoreCompliancePlan, method: 'updateCompliancePlan', input: signed(formerPlanSchema) },
    gone: { command: restoreCompliancePlan, method: 'createCompliancePlan', input: signed(formerPlanSchema) },
  },
  prebuilt: {
    there: {
      command: importPrebuilt,
      method: 'importPrebuilt',
      input: ({ prebuilt }, present) => ({ prebuilt, overwrite: !same(prebuilt, maskSecrets(present?.prebuilt)) }),
      inClear: true,
    },
    gone: { command: importPrebuilt, method: 'importPrebuilt', input: ({ prebuilt }) => ({ prebuilt }) },
    more: ofState(prebuilt, ({ imported }) => ({ prebuilt: imported?.prebuilt })),
  },
  profile: {
    there: {
      command: updateProfile,
      method: 'updateProfile',
      input: (former, present = {}) => ({ properties: patchBetween(present, former) ?? {} }),
      inClear: true,
    },
    gone: { command: createProfile, method: 'createProfile', input: (former) => former },
  },
  resourceGroup: {
    there: { command: updateResourceGroup, method: 'updateGroup', input: changedMembers },
    gone: {
      command: createResourceGroup,
      method: 'createGroup',
      input: picked({ properties: { modelId: 0, name: 0, description: 0, instances: 0 } }),
    },
    more: ofState(resourceGroup, ({ members }) => ({ instances: idsIn(members) })),
  },
  resourceInstance: {
    there: { command: updateInstance, method: 'updateResourceInstance', input: picked(newInstanceSchema) },
    gone: {
      command: createInstance,
      method: 'createResourceInstance',
      input: picked({ properties: { modelId: 0, ...newInstanceSchema.properties } }),
    },
  },
  resourceModel: {
    there: { command: updateResourceModel, method: 'updateResourceModel', input: picked(newModelSchema) },
    gone: importing(importResourceModel, 'importResourceModel', 'model'),
  },
  scheduledJob: always(importing(importScheduledJob, 'importScheduledJobs', 'job')),
  serviceGroup: always({
    command: bringBackServiceGroup,
    method: 'createServiceGroup',
    input: picked(newServiceGroupSchema),
  }),
  template: {
    there: { command: updateTemplate, method: 'updateTemplate', input: picked(templatePatchSchema) },
    gone: importing(importTemplate, 'importTemplates', 'template'),
  },
  tree: always(importing(importTree, 'importTrees', 'tree')),
  trigger: {
    there: {
      command: updateTrigger,
      method: 'updateTrigger',
      input: pickedOrNull(triggerPatchSchema, ['description', 'options']),
    },
    gone: importing(importTrigger, 'importTriggers', 'trigger'),
  },
};
