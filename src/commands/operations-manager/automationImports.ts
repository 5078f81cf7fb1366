import { type Static, Type } from 'typebox';
import { groupsIn } from '../../domain/authorization/gbac.ts';
import type { Actor, Context, Gbac } from '../../domain/engine/core.ts';
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
  automationDocuments,
  automationParts,
  sealAutomation,
  triggerPartsIn,
  withIds,
} from '../../domain/operations-manager/importedAutomations.ts';
import { type TriggerState, trigger } from '../../domain/operations-manager/triggers.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { importAuthors } from '../authorization/authors.ts';
import { unknownGroups } from '../authorization/names.ts';
import { mayRead, mayWrite } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { by, imported, type Kind } from '../engine/kinds.ts';
import { importing } from '../engine/locks.ts';
import { restoreAutomation, updateAutomation } from './automations.ts';
import { componentId } from './components.ts';
import { importedForm, inStoredWords } from './triggerForms.ts';
import { faultsOf, locksOfNames, triggersOf } from './triggers.ts';

const input = Type.Object({ automation: automationDocumentSchema, overwrite: Type.Optional(Type.Boolean()) });

/**
 * The automation that an import creates or changes: the one with the document's id, else the one with its name that the
 * actor may see. `fresh`: the id for a document that has none.
 */
const meant = async ({ _id: given, name }: AutomationDocument, fresh: string, actor: Actor, tools: Tools) => {
  const _id = given ?? fresh;
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

type Importing = Pick<Context, 'actor' | 'newId'> & { readonly input: Static<typeof input> };

/**
 * `present`: the automation in the installed version of a package. The mask keeps its secrets, too. The document may have
 * the marks of packages/json.
 */
export const preparing = async (
  { input: { automation: written, overwrite = false }, actor, newId }: Importing,
  tools: Tools,
  present: readonly AutomationDocument[],
): Promise<ImportRefs> => {
  const { id, state } = await meant(written, newId('automation'), actor, tools);
  const { exists, content, imported } = state;
  // A deleted automation keeps its lists.
  const access = accessOf(actor, content.gbac);
  const elsewhere = new Map<string, { readonly exists: boolean; readonly access: Access }>();
  const triggers: PresentTrigger[] = [...(await triggersOf(id, tools))];
  const documentWithIds = withIds(
    written,
    id,
    (name) => triggers.find(({ content }) => content.name === name)?.id ?? newId(`trigger ${name}`),
  );
  const triggerStates: (TriggerState | undefined)[] = [];
  for (const {
    known: { _id, name },
  } of triggerPartsIn(documentWithIds)) {
    const own = await tools.state(trigger, _id);
    triggerStates.push(own.exists ? own : presentNamed(name, triggers));
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
    if (access === 'none') triggerStates[triggerStates.length - 1] = undefined;
  }
  // A caller who may not see the automation must not learn its secrets, or whether it has any.
  const stored =
    access === 'none'
      ? { triggers: [] }
      : { packaged: present[0], state: exists ? state : undefined, triggers: triggerStates };
  const sealed = sealAutomation(documentWithIds, stored, tools.seal);
  const document = automationParts(sealed).known;
  const parts = await Promise.all(
    triggerPartsIn(sealed).map(({ known }) =>
      inStoredWords(
        known,
        triggers.find(({ id }) => id === known._id),
        tools,
      ),
    ),
  );
  return {
    id,
    named: written._id === undefined,
    elsewhere,
    triggers: overwrite ? await signed(triggers, tools) : triggers,
    sealed,
    access,
    ...(exists ? { existing: content, ...defined({ imported }) } : {}),
    unknownGroups: await unknownGroups(tools, groupsIn(document.gbac)),
    ...(await importAuthors({ aggregate: automation, id, documents: [document, ...parts], overwrite }, tools)),
    faults: await Promise.all(
      parts.map((one) => faultsOf(one, triggers.find(({ id }) => id === one._id)?.content, actor, tools)),
    ),
    forms: await Promise.all(
      parts.map((one) =>
        importedForm(
          one,
          triggers.find(({ id }) => id === one._id),
          actor,
          tools,
        ),
      ),
    ),
    formIds: parts.map((one) => ('formId' in one ? one.formId : undefined)),
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
  locks: (_, { automation: { triggers = [] } }) => [importing, ...new Set(triggers.flatMap(locksOfNames))],
});

export const automationKind: Kind = {
  ...imported({
    documents: automationDocuments,
    collection: automations,
    command: importAutomation,
    member: 'automation',
  }),
  part: restoreAutomation,
  restore: {
    there: by(updateAutomation),
    deleted: {
      command: importAutomation,
      method: 'importAutomations',
      input: (automation) => ({ automation }),
      imports: true,
    },
    parts: { kind: 'trigger', field: 'actionId', member: 'triggers' },
  },
};
