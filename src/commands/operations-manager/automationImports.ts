import { type Static, Type } from 'typebox';
import { groupsIn } from '../../domain/authorization/gbac.ts';
import type { Actor, Gbac } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import {
  type Access,
  automationImport,
  decideImport,
  type ImportRefs,
  type PresentTrigger,
} from '../../domain/operations-manager/automationImports.ts';
import { type AutomationContent, automation } from '../../domain/operations-manager/automations.ts';
import {
  type AutomationDocument,
  automationDocumentSchema,
  automationParts,
  sealAutomation,
  triggerPartsIn,
} from '../../domain/operations-manager/importedAutomations.ts';
import { type TriggerState, trigger } from '../../domain/operations-manager/triggers.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { importAuthors } from '../authorization/authors.ts';
import { unknownGroups } from '../authorization/names.ts';
import { mayRead, mayWrite } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { formReferences } from '../json-forms/forms.ts';
import { componentId } from './components.ts';
import { importedForm } from './triggerForms.ts';
import { faultsOf, triggersOf } from './triggers.ts';

const input = Type.Object({ automation: automationDocumentSchema, overwrite: Type.Optional(Type.Boolean()) });

/**
 * The automation that an import creates or changes: the one with the document's id, else the one with its name that the
 * actor may see.
 */
const meant = async ({ _id, name }: AutomationDocument, actor: Actor, tools: Tools) => {
  const own = await tools.state(automation, _id);
  if (own.exists) return { id: _id, state: own };
  const [namesake] = await tools.query(automations, { field: 'name', op: 'equals', value: name });
  if (!namesake) return { id: _id, state: own };
  const state = await tools.state(automation, namesake._id);
  return state.exists && mayRead(actor, state.content.gbac) ? { id: namesake._id, state } : { id: _id, state: own };
};

const accessOf = (actor: Actor, gbac: Gbac): Access => {
  if (mayWrite(actor, gbac)) return 'write';
  return mayRead(actor, gbac) ? 'read' : 'none';
};

type Importing = { readonly input: Static<typeof input>; readonly actor: Actor };

/**
 * `kept`: the automation in the installed version of a package. The mask keeps its secrets, too. The document may have
 * the marks of domain/engine/exactJson.ts.
 */
export const preparing = async (
  { input: { automation: given, overwrite = false }, actor }: Importing,
  tools: Tools,
  kept: readonly AutomationDocument[],
): Promise<ImportRefs> => {
  const { id, state } = await meant(given, actor, tools);
  const { exists, content, imported } = state;
  // A deleted automation keeps its lists.
  const access = accessOf(actor, content.gbac);
  const elsewhere = new Map<string, { readonly exists: boolean; readonly access: Access }>();
  const triggers: PresentTrigger[] = [...(await triggersOf(id, tools))];
  const known: (TriggerState | undefined)[] = [];
  for (const { _id, name } of given.triggers ?? []) {
    const own = await tools.state(trigger, _id);
    known.push(own.exists ? own : presentNamed(name, triggers));
    if (!own.content) continue;
    const { exists, content: other, imported } = own;
    if (other.actionId === id) {
      // Another node has just created this trigger, and the read models here do not show it yet.
      if (exists && !triggers.some((one) => one.id === _id))
        triggers.push({ id: _id, content: other, ...defined({ imported }) });
      continue;
    }
    const { gbac } = (await tools.state(automation, other.actionId)).content;
    const access = accessOf(actor, gbac);
    elsewhere.set(_id, { exists, access });
    if (access === 'none') known[known.length - 1] = undefined;
  }
  // A caller who may not see the automation must not learn its secrets, or whether it has any.
  const stored =
    access === 'none' ? { triggers: [] } : { packaged: kept[0], state: exists ? state : undefined, triggers: known };
  const sealed = sealAutomation(given, stored, tools.seal);
  const document = automationParts(sealed).known;
  const parts = triggerPartsIn(sealed).map((one) => one.known);
  return {
    id,
    elsewhere,
    triggers: overwrite ? await signed(triggers, tools) : triggers,
    sealed,
    access,
    ...(exists ? { existing: content, ...defined({ imported }) } : {}),
    unknownGroups: await unknownGroups(tools, groupsIn(document.gbac)),
    ...(await importAuthors({ aggregate: automation, id, documents: [document, ...parts], overwrite }, tools)),
    faults: parts.map(faultsOf),
    forms: await Promise.all(
      parts.map((one) =>
        importedForm(
          one,
          triggers.find(({ id }) => id === one._id),
          tools,
        ),
      ),
    ),
    sameComponent: exists && (await sameComponent(document, content, tools)),
  };
};

const signed = (triggers: readonly PresentTrigger[], tools: Tools): Promise<readonly PresentTrigger[]> =>
  Promise.all(
    triggers.map(async (one) => ({ ...one, ...defined({ signature: await tools.signature(trigger, one.id) }) })),
  );

const presentNamed = (name: string, triggers: readonly PresentTrigger[]): TriggerState | undefined => {
  const found = triggers.find(({ content }) => content.name === name);
  return found && { exists: true, ...found };
};

type Component = Pick<AutomationContent, 'componentType' | 'componentName'>;

const sameComponent = async (document: Component, content: AutomationContent, tools: Tools): Promise<boolean> => {
  if (document.componentType !== content.componentType) return false;
  const id = await componentId(tools, document);
  return id !== undefined && id === (await componentId(tools, content));
};

/** Decides an import of an automation; automationReactions.ts carries it out. */
export const importAutomation = commandsOf(automationImport)({
  name: 'importAutomation',
  input,
  on: 'new',
  prepare: (request, tools) => preparing(request, tools, []),
  decide: decideImport,
  locks: (_, { automation: { triggers = [] } }) =>
    triggers.some((one) => 'formId' in one && one.formId !== null) ? formReferences : undefined,
});
