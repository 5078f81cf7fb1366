import { type Static, Type } from 'typebox';
import { groupsIn } from '../../domain/authorization/gbac.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import {
  automationDocumentSchema,
  automationImport,
  decideImport,
  type ImportRefs,
} from '../../domain/operations-manager/automationImports.ts';
import { type AutomationContent, automation } from '../../domain/operations-manager/automations.ts';
import { type TriggerContent, trigger } from '../../domain/operations-manager/triggers.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { accountIds } from '../authorization/authors.ts';
import { unknownGroups } from '../authorization/names.ts';
import { mayRead, mayWrite } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { formReferences } from '../json-forms/forms.ts';
import { componentId } from './components.ts';
import { importedData, importedForm } from './triggerForms.ts';
import { filterFaultOf, triggersOf } from './triggers.ts';

const input = Type.Object({ automation: automationDocumentSchema, overwrite: Type.Optional(Type.Boolean()) });
type Document = Static<typeof input>['automation'];

/**
 * The automation that an import creates or changes: the one with the document's id, else the one with its name that the
 * actor may see.
 */
const meant = async ({ _id, name }: Document, actor: Actor, tools: Tools) => {
  const own = await tools.state(automation, _id);
  if (own.exists) return { id: _id, state: own };
  const [namesake] = await tools.query(automations, { field: 'name', op: 'equals', value: name });
  if (!namesake) return { id: _id, state: own };
  const state = await tools.state(automation, namesake._id);
  return state.exists && mayRead(actor, state.content.gbac) ? { id: namesake._id, state } : { id: _id, state: own };
};

const accessTo = (readable: boolean, writable: boolean): ImportRefs['access'] => {
  if (writable) return 'write';
  return readable ? 'read' : 'none';
};

type Importing = { readonly input: Static<typeof input>; readonly actor: Actor };

/** `kept`: the automation in the installed version of a package. The mask keeps its secrets, too. */
export const preparing = async (
  { input: { automation: document }, actor }: Importing,
  tools: Tools,
  kept: readonly Document[],
): Promise<ImportRefs> => {
  const {
    id,
    state: { exists, content },
  } = await meant(document, actor, tools);
  const given = document.triggers ?? [];
  const readable = !exists || mayRead(actor, content.gbac);
  const elsewhere: Record<string, { writable: boolean }> = {};
  const triggers = [...(await triggersOf(id, tools))];
  const known: (TriggerContent | undefined)[] = [];
  for (const { _id, name } of given) {
    const { exists, content: other } = await tools.state(trigger, _id);
    known.push(exists ? other : triggers.find(({ content }) => content.name === name)?.content);
    if (!exists || !other) continue;
    if (other.actionId === id) {
      // Another node has just created this trigger, and the read models here do not show it yet.
      if (!triggers.some((one) => one.id === _id)) triggers.push({ id: _id, content: other });
      continue;
    }
    const { gbac } = (await tools.state(automation, other.actionId)).content;
    elsewhere[_id] = { writable: mayWrite(actor, gbac) };
    if (!mayRead(actor, gbac)) known[known.length - 1] = undefined;
  }
  const inPackage = kept.flatMap(({ triggers = [] }) => triggers);
  // A caller who may not see the automation must not learn its secrets, or whether it has any.
  const befores = (i: number) => (readable ? [inPackage.find(({ _id }) => _id === given[i]?._id), known[i]] : []);
  const formData = given.map((one, i) => importedData(one, befores(i), tools, `/triggers/${i}`));
  return {
    id,
    elsewhere,
    triggers,
    access: accessTo(readable, !exists || mayWrite(actor, content.gbac)),
    ...defined({ existing: exists ? content : undefined }),
    unknownGroups: await unknownGroups(tools, groupsIn(document.gbac)),
    accounts: await accountIds([document, ...given], tools),
    schemaFaults: given.map((one) => filterFaultOf(one).schemaFault),
    formData,
    forms: await Promise.all(
      given.map((one, i) =>
        importedForm({ ...one, formData: formData[i] }, triggers.find(({ id }) => id === one._id)?.content, tools),
      ),
    ),
    sameComponent: exists && (await sameComponent(document, content, tools)),
  };
};

const sameComponent = async (document: Document, content: AutomationContent, tools: Tools): Promise<boolean> => {
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
