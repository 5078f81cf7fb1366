import { isObject, type Members } from '@automation-platform/json';
import { type Static, Type } from 'typebox';
import { gbacInput } from '../authorization/gbac.ts';
import { authored, authoredByPeople, objectId } from '../engine/authors.ts';
import { defined } from '../engine/defined.ts';
import { at, type DocumentKind, hasAny, inItems, listOf } from '../engine/documentKinds.ts';
import { withMembers, withoutMembers } from '../engine/exactMembers.ts';
import { exported, type Words } from '../engine/importedDocuments.ts';
import { sealDocument } from '../engine/importedSecrets.ts';
import { lenient, type Parts, partsBy } from '../engine/lenientSchemas.ts';
import type { Seal } from '../engine/secretFields.ts';
import { type AutomationState, automation, automationMembers } from './automations.ts';
import { type ImportedTrigger, sealTrigger, triggerInAutomation, triggerParts } from './importedTriggers.ts';
import type { TriggerState } from './triggers.ts';

/*
 * Automations of other installations (docs/behaviour/imports-and-exports.md). The imported document is stored in
 * parts: each trigger in its own stream, and the rest in the automation's stream. There the ids of the triggers stand in
 * the place of the triggers, in the order of the document. An export puts the parts together.
 */

const { createdBy, lastUpdatedBy } = authoredByPeople;
const own = { _id: objectId('Id'), ...automationMembers, gbac: gbacInput, ...authored, createdBy, lastUpdatedBy };
const strict = { additionalProperties: false, title: 'ImportedAutomation', description: 'Automation' } as const;

/** An automation of any installation. Groups may be names, too. Without `triggers`, the existing triggers stay. */
export const automationDocumentSchema = lenient(
  Type.Object(
    {
      ...own,
      _id: Type.Optional(own._id),
      triggers: Type.Optional(Type.Array(triggerInAutomation, { description: 'Its triggers, in any order' })),
    },
    {
      ...strict,
      title: 'AutomationDocument',
      description: 'Automation of any installation, groups by name or as objects',
    },
  ),
);
export type AutomationDocument = Static<typeof automationDocumentSchema>;

const ownPart = partsBy(Type.Object(own, strict));

/** Takes an imported automation apart, without its triggers. */
export const automationParts = (document: unknown): ReturnType<typeof ownPart> =>
  ownPart(withoutTriggers(document as Members));

const withoutTriggers = (document: Members): Members => withoutMembers(document, (name) => name === 'triggers');

/** The triggers of an imported automation; undefined if it has no such member. */
export const triggersIn = (document: Members): readonly Members[] | undefined =>
  document.triggers as readonly Members[] | undefined;

/**
 * The document with the ids that a person leaves out: `id` of the automation, and those that `triggerIdOf` gives the
 * triggers by name.
 */
export const withIds = (document: AutomationDocument, id: string, triggerIdOf: (name: string) => string): Members => {
  const _id = document._id ?? id;
  const triggers = document.triggers?.map((trigger) => {
    const ids = { _id: triggerIdOf(trigger.name), actionType: 'automations', actionId: _id };
    return withMembers(
      trigger,
      withoutMembers(ids, (name) => Object.hasOwn(trigger, name)),
    );
  });
  return withMembers(document, defined({ _id, triggers }));
};

/** The parts of the document's triggers. */
export const triggerPartsIn = (document: Members): readonly Parts<ImportedTrigger>[] =>
  (triggersIn(document) ?? []).map((trigger, i) => triggerParts(trigger, `/triggers/${i}`));

/** The documents whose secrets the mask keeps. */
export type StoredSecrets = {
  /** The automation in the installed version of a package. */
  readonly packaged?: Members | undefined;
  readonly state?: AutomationState | undefined;
  /** For each trigger of the document the trigger that is there, if there is one. */
  readonly triggers: readonly (TriggerState | undefined)[];
};

/** The document with sealed secrets. A mask where nothing is stored stays. */
export const sealAutomation = (
  document: Members,
  { packaged, state, triggers }: StoredSecrets,
  seal: Seal,
): Members => {
  const befores = [packaged && withoutTriggers(packaged), state?.imported?.document];
  const rest = sealDocument(withoutTriggers(document), befores, seal);
  const sealed = triggersIn(document)?.map((trigger, i) =>
    sealTrigger(
      trigger,
      {
        packaged: packaged && triggersIn(packaged)?.find(({ _id }) => _id === trigger._id),
        state: triggers[i],
      },
      seal,
      `/triggers/${i}`,
    ),
  );
  return withMembers(document, sealed ? withMembers(rest, { triggers: sealed }) : rest);
};

/** The automation's part of the document. `ids`: those of its triggers, in the order of the document. */
export const ownPartOf = (document: Members, _id: string, ids: readonly string[]): Members =>
  withMembers(document, triggersIn(document) ? { _id, triggers: ids } : { _id });

/**
 * The export. `shown` is the automation in answers, with usernames, groups as objects and the name of its component.
 * `triggers` are the exports of its triggers, sorted by name.
 */
export const exportedAutomation = (
  { content, imported }: AutomationState,
  { shown, triggers }: { readonly shown: Members; readonly triggers: readonly Members[] },
  words: Words,
): Members => {
  if (!imported || words !== 'imported') return exported(imported, { content, shown: { ...shown, triggers } }, words);
  const exportedDocument = exported(imported, { content, shown }, words);
  const ids = imported.document.triggers as readonly string[] | undefined;
  const sorted = inOrderOf(triggers, ids ?? []);
  return ids || sorted.length > 0 ? withMembers(exportedDocument, { triggers: sorted }) : exportedDocument;
};

/** The triggers in the order of the import, then those that have come since. */
const inOrderOf = (triggers: readonly Members[], ids: readonly string[]): readonly Members[] => {
  const byId = new Map(triggers.map((trigger) => [trigger._id, trigger]));
  const foundTriggers = ids.map((id) => byId.get(id)).filter((trigger) => trigger !== undefined);
  return [...foundTriggers, ...triggers.filter((trigger) => !foundTriggers.includes(trigger))];
};

/** Automations of any installation. */
export const automationDocuments: DocumentKind = {
  of: automation,
  name: 'automation',
  types: ['automation'],
  secrets: inItems('triggers', 'formData'),
  is: (document) => hasAny(document, 'componentType', 'componentName') && isObject(document.gbac),
  importing: listOf('PUT', '/operations-manager/automations', 'automations'),
  ...at('/operations-manager/automations'),
};
