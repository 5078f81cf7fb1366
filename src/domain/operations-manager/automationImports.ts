import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { everybody, gbacExport, gbacOf } from '../authorization/gbac.ts';
import { authoredByPeople, authorsOf, type ImportAuthors, objectId, type Signature } from '../engine/authors.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { withMembers } from '../engine/exactMembers.ts';
import { type Imported, sameRest, withoutContent } from '../engine/importedDocuments.ts';
import { lenient } from '../engine/lenientSchemas.ts';
import { type Code, RequestError } from '../engine/requestError.ts';
import { flag, text, texts, topicsOf, typed } from '../engine/topics.ts';
import { type AutomationContent, automationMembers, automationNames, restoredAutomation } from './automations.ts';
import { type FormFound, refuseForms } from './formReferences.ts';
import { automationParts, ownPartOf, triggerPartsIn, triggersIn } from './importedAutomations.ts';
import { type ImportedTrigger, sameWords, triggerOfAny, triggerParts } from './importedTriggers.ts';
import {
  authorsOfTrigger,
  importedContent,
  type RestoredTrigger,
  restoredTrigger,
  type TriggerContent,
  type TriggerFaults,
  triggerNames,
} from './triggers.ts';

/** An automation as `exportAutomation` returns it. */
export const automationExportSchema = lenient(
  Type.Object(
    {
      _id: objectId('Id'),
      ...automationMembers,
      gbac: gbacExport,
      ...authoredByPeople,
      triggers: Type.Optional(Type.Array(triggerOfAny, { description: 'Its triggers, sorted by name' })),
    },
    { title: 'AutomationExport', description: 'Exported automation' },
  ),
);

type StoredTrigger = RestoredTrigger & { readonly _id: string };

const decision = Type.Object({
  automation: Type.Object({ _id: text, ...restoredAutomation.properties }),
  /** The triggers that change or are created. */
  triggers: Type.Array(typed<StoredTrigger>()(Type.Object({ _id: text, ...restoredTrigger.properties }))),
  /** The ids of the triggers that are deleted. */
  removed: texts,
  overwrite: flag,
});
export type AutomationImported = SchemaData<typeof decision>;

const topics = topicsOf({
  automationImported: ['An automation and its triggers are to be taken in', decision],
});
export type AutomationImportEvent = EventOf<typeof topics>;

/**
 * The decision to import an automation with its triggers, all or nothing. It is carried out in the streams of the
 * automation and the triggers.
 */
export const automationImport = aggregate<{ readonly imported?: AutomationImported }, AutomationImportEvent>({
  area: 'operations-manager',
  category: 'automationImport',
  actsLater: true,
  topics,
  initial: {},
  evolve: { automationImported: (_, imported) => ({ imported }) },
  exists: ({ imported }) => imported !== undefined,
  reservations: ({ imported }) =>
    imported
      ? [
          ...automationNames(imported.automation).map((name) => ({
            owner: `automation-${imported.automation._id}`,
            name,
          })),
          ...imported.triggers.flatMap((trigger) =>
            triggerNames(trigger).map((name) => ({ owner: `trigger-${trigger._id}`, name })),
          ),
        ]
      : [],
});

/** The rights of the actor on a resource. */
export type Access = 'none' | 'read' | 'write';

export type ImportRefs = ImportAuthors & {
  /** The id of the automation to import into: the document's own, or that of the automation with the same name. */
  readonly id: string;
  /** True if the document has no id, and so means the automation with its name. */
  readonly named: boolean;
  /** By the lists of the automation; by its last ones if it was deleted. */
  readonly access: Access;
  /** The document with sealed secrets. */
  readonly sealed: Members;
  /** The automation, if it exists. */
  readonly existing?: AutomationContent;
  readonly imported?: Imported<AutomationContent>;
  /** The automation's present triggers. */
  readonly triggers: readonly PresentTrigger[];
  /**
   * The triggers of the document that belong to another automation, or did so when they were deleted, by id. Triggers that the
   * actor may do with that automation.
   */
  readonly elsewhere: ReadonlyMap<string, { readonly exists: boolean; readonly access: Access }>;
  readonly unknownGroups: readonly string[];
  /** Why the schema or transformation of a trigger cannot be used, in the order of the document's triggers. */
  readonly faults: readonly TriggerFaults[];
  /** The forms of the triggers, in the same order. */
  readonly forms: readonly FormFound[];
  /** The names or ids of these forms; where the trigger that is there names the same form, as this one does. */
  readonly formIds: readonly (string | null | undefined)[];
  /** True if the existing automation has the document's component. One may name it by id, the other by name. */
  readonly sameComponent: boolean;
};

export type PresentTrigger = {
  readonly id: string;
  readonly content: TriggerContent;
  readonly imported?: Imported<TriggerContent>;
  /** Its times and authors, for an import that may replace them. */
  readonly signature?: Signature;
};

type Input = { readonly overwrite?: boolean };

export const decideImport = (
  _: unknown,
  { overwrite = false }: Input,
  context: Context<ImportRefs>,
): readonly AutomationImportEvent[] => {
  const { refs } = context;
  const { sealed } = refs;
  const { known } = automationParts(sealed);
  const { name, description, componentType } = known;
  const { componentName } = refs.sameComponent && refs.existing ? refs.existing : known;
  if (refs.access === 'none') throw takenId();
  if (refs.access === 'read')
    throw new RequestError('forbidden', 'Only members of its write groups may change the automation', { path: '/_id' });
  const content = {
    name,
    description,
    componentType,
    componentName,
    gbac: gbacOf(known.gbac, everybody, refs.unknownGroups),
  };
  const importedTriggers = triggersOf(known._id, refs);
  const current = new Map(refs.triggers.map((trigger) => [trigger.id, trigger]));
  const changed = importedTriggers.filter((one) => !isThere(one, current.get(one.id), refs));
  const removed = triggersIn(sealed)
    ? [...current.keys()].filter((id) => !importedTriggers.some((trigger) => trigger.id === id))
    : [];
  const own = refs.id === known._id;
  const isSame =
    same(content, refs.existing) &&
    sameRest(sealed, defined({ imported: refs.imported, content: refs.existing }), automationParts, refs);
  if (refs.existing && (own || overwrite) && isSame && changed.length + removed.length === 0) return [];

  if (refs.existing && !overwrite) throw own && !refs.named ? takenId() : takenName(own);
  refuseTaken(importedTriggers, refs.elsewhere, overwrite);
  const ids = importedTriggers.map(({ id }) => id);
  return [
    {
      topic: 'automationImported',
      data: {
        automation: {
          _id: refs.id,
          ...content,
          ...authorsOf(known, refs.accounts, context),
          imported: withoutContent(ownPartOf(sealed, refs.id, ids), content),
        },
        // A trigger with the same content may have come with other times, or in another order of members.
        triggers: importedTriggers
          .filter((one) => changed.includes(one) || !saysTheSame(one, current.get(one.id)))
          .map(({ id, content, known, document }) => ({
            _id: id,
            ...content,
            ...authorsOfTrigger(known, content, context),
            imported: withoutContent(document, content),
          })),
        removed,
        overwrite,
      },
    },
  ];
};

const takenId = (): RequestError =>
  new RequestError('conflict', 'An automation with this id exists with other content', { path: '/_id' });

const takenName = (own: boolean): RequestError => {
  const message = own ? 'An automation with this name exists with other content' : 'Another automation has this name';
  return new RequestError('conflict', message, { path: '/name' });
};

/** Throws if the import would take a trigger that it may not take. */
const refuseTaken = (
  triggers: readonly WantedTrigger[],
  elsewhere: ImportRefs['elsewhere'],
  overwrite: boolean,
): void => {
  const foreign = triggers.flatMap(({ id, index }) => {
    const found = elsewhere.get(id);
    return found ? [{ ...found, path: `/triggers/${index}/_id` }] : [];
  });
  const conflicts = foreign.filter(({ exists, access }) => access === 'none' || (exists && !overwrite));
  refuseEach('conflict', 'A trigger with this id belongs to another automation', conflicts);
  const closed = foreign.filter(({ access }) => access === 'read');
  refuseEach('forbidden', 'A trigger with this id belongs to an automation that you may not change', closed);
};

const refuseEach = (code: Code, message: string, places: readonly { readonly path: string }[]): void => {
  if (places.length > 0)
    throw new RequestError(code, message, { faults: places.map(({ path }) => ({ path, message })) });
};

/** A trigger of the document, with the id that it gets. */
type WantedTrigger = {
  readonly id: string;
  readonly index: number;
  readonly document: Members;
  readonly known: ImportedTrigger;
  readonly content: TriggerContent;
};

const isThere = (
  { content, document }: WantedTrigger,
  present: PresentTrigger | undefined,
  { accounts }: ImportAuthors,
): boolean =>
  present !== undefined &&
  same(content, present.content) &&
  sameRest(document, present, triggerParts, { accounts, signature: present.signature });

const saysTheSame = ({ document }: WantedTrigger, present: PresentTrigger | undefined): boolean =>
  present !== undefined && sameWords(document, present);

/**
 * The triggers of the document with their future ids: the trigger's own id, else that of the automation's trigger with
 * the same name.
 */
const triggersOf = (_id: string, refs: ImportRefs): readonly WantedTrigger[] => {
  const parts = triggerPartsIn(refs.sealed);
  const importedTriggers = parts.map(({ known }) => known);
  checkDistinct(importedTriggers);
  refuseForms(
    importedTriggers.map((trigger, i) => ({
      formId: 'formId' in trigger ? trigger.formId : null,
      form: refs.forms[i],
      path: `/triggers/${i}`,
    })),
  );
  return parts.map(({ known, unknown }, index) => {
    const path = `/triggers/${index}`;
    if (known.actionId !== _id)
      throw new RequestError('invalid', 'The trigger is of another automation', { path: `${path}/actionId` });
    const own = refs.triggers.find(({ id }) => id === known._id);
    const namesake =
      own || refs.elsewhere.get(known._id)?.exists
        ? undefined
        : refs.triggers.find(
            ({ id, content }) => content.name === known.name && !importedTriggers.some((other) => other._id === id),
          );
    const [faults, form] = [refs.faults[index], refs.forms[index]];
    const formId = refs.formIds[index];
    const here = { known: { ...known, actionId: refs.id, ...defined({ formId }) }, unknown };
    const content = importedContent(here, own?.content, { form, ...faults }, path);
    const id = namesake?.id ?? known._id;
    const document = withMembers(triggersIn(refs.sealed)?.[index] ?? {}, { _id: id, actionId: refs.id });
    return { id, index, document, known, content };
  });
};

const checkDistinct = (triggers: readonly ImportedTrigger[]): void => {
  for (const member of ['_id', 'name', 'routeName'] as const) {
    const earlier = new Set<string>();
    triggers.forEach((trigger, i) => {
      const value = (trigger as { readonly [member in typeof member]?: string })[member];
      if (value === undefined) return;
      if (earlier.has(value))
        throw new RequestError('invalid', `Two triggers have the same ${member}`, { path: `/triggers/${i}/${member}` });
      earlier.add(value);
    });
  }
};
