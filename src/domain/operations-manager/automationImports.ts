import { type Static, Type } from 'typebox';
import { everybody, gbacExport, gbacInput, gbacOf } from '../authorization/gbac.ts';
import { type Authored, authored, authorsOf, objectId } from '../engine/authors.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type Event } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { RequestError } from '../engine/requestError.ts';
import { type AutomationContent, automationMembers, automationNames } from './automations.ts';
import { type FormFound, refuseForms } from './formReferences.ts';
import { type TriggerDocument, triggerSchema } from './triggerMembers.ts';
import { checkedContent, type TriggerContent, triggerNames } from './triggers.ts';

const triggers = Type.Optional(Type.Array(triggerSchema, { description: 'Its triggers, sorted by name' }));

/** An automation as `exportAutomation` returns it. */
export const automationExportSchema = Type.Object(
  { _id: objectId('Id'), ...automationMembers, gbac: gbacExport, ...authored, triggers },
  { title: 'AutomationExport', description: 'Exported automation' },
);

/** An automation in an import. Groups may be names, too. Without `triggers`, the existing triggers stay. */
export const automationDocumentSchema = Type.Object(
  { _id: objectId('Id'), ...automationMembers, gbac: gbacInput, ...authored, triggers },
  {
    additionalProperties: false,
    title: 'AutomationDocument',
    description: 'Exported automation, groups by name or as objects',
  },
);

type Stored<Content> = Content & Authored & { readonly _id: string };

export type AutomationImported = {
  readonly automation: Stored<AutomationContent>;
  /** The triggers that change or are created. */
  readonly triggers: readonly Stored<TriggerContent>[];
  /** The ids of the triggers that are deleted. */
  readonly removed: readonly string[];
  readonly overwrite: boolean;
};

export type AutomationImportEvent = Event<'automationImported', AutomationImported>;

/**
 * The decision to import an automation with its triggers, all or nothing. It is carried out in the streams of the
 * automation and the triggers.
 */
export const automationImport = aggregate<{ readonly imported?: AutomationImported }, AutomationImportEvent>({
  area: 'operations-manager',
  category: 'automationImport',
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

export type ImportRefs = {
  /** The id of the automation to import into: the document's own, or that of the automation with the same name. */
  readonly id: string;
  readonly access: 'none' | 'read' | 'write';
  /** The automation's content, if it exists. */
  readonly existing?: AutomationContent;
  /** The automation's present triggers. */
  readonly triggers: readonly { readonly id: string; readonly content: TriggerContent }[];
  /**
   * The triggers of the document that belong to another automation, by id, and whether the actor may change that
   * automation.
   */
  readonly elsewhere: Readonly<Record<string, { readonly writable: boolean }>>;
  readonly unknownGroups: readonly string[];
  /** Account ids by username. */
  readonly accounts: Readonly<Record<string, string>>;
  /** Why the schema of a trigger cannot be compiled, in the order of the document's triggers. */
  readonly schemaFaults: readonly (string | undefined)[];
  /** The forms of the triggers, and their form data with sealed secrets, in the same order. */
  readonly forms: readonly FormFound[];
  readonly formData: readonly (object | null | undefined)[];
  /** Whether the existing automation has the document's component. One may name it by id, the other by name. */
  readonly sameComponent: boolean;
};

type Input = { readonly automation: Static<typeof automationDocumentSchema>; readonly overwrite?: boolean };

export const decideImport = (
  _: unknown,
  { automation: document, overwrite = false }: Input,
  context: Context<ImportRefs>,
): readonly AutomationImportEvent[] => {
  const { refs } = context;
  const { name, description, componentType } = document;
  const { componentName } = refs.sameComponent && refs.existing ? refs.existing : document;
  if (refs.access === 'none') throw new RequestError('not_found', 'No such automation', { path: '/_id' });
  if (refs.access === 'read')
    throw new RequestError('forbidden', 'Only members of its write groups may change the automation', { path: '/_id' });
  const content = {
    name,
    description,
    componentType,
    componentName,
    gbac: gbacOf(document.gbac, everybody, refs.unknownGroups),
  };
  const wanted = triggersOf(document, refs);
  const current = new Map(refs.triggers.map(({ id, content }) => [id, content]));
  const changed = wanted.filter(({ id, content }) => !same(content, current.get(id)));
  const removed = document.triggers
    ? [...current.keys()].filter((id) => !wanted.some((trigger) => trigger.id === id))
    : [];
  const own = refs.id === document._id;
  if (refs.existing && (own || overwrite) && same(content, refs.existing) && changed.length + removed.length === 0)
    return [];

  if (refs.existing && !overwrite)
    throw new RequestError(
      'conflict',
      own ? 'An automation with this id exists with other content' : 'Another automation has this name',
      { path: own ? '/_id' : '/name' },
    );
  const taken = changed.find(({ id }) => Object.hasOwn(refs.elsewhere, id));
  if (taken && !overwrite)
    throw new RequestError('conflict', 'A trigger with this id belongs to another automation', {
      path: `/triggers/${taken.index}/_id`,
    });
  if (taken && !refs.elsewhere[taken.id]?.writable)
    throw new RequestError('forbidden', 'A trigger with this id belongs to an automation that you may not change', {
      path: `/triggers/${taken.index}/_id`,
    });
  return [
    {
      topic: 'automationImported',
      data: {
        automation: { _id: refs.id, ...content, ...authorsOf(document, refs.accounts, context) },
        triggers: changed.map(({ id, content, document }) => ({
          _id: id,
          ...content,
          ...authorsOf(document, refs.accounts, context),
        })),
        removed,
        overwrite,
      },
    },
  ];
};

/**
 * The triggers of the document with their future ids: the trigger's own id, else that of the automation's trigger with
 * the same name.
 */
const triggersOf = ({ _id, triggers = [] }: Input['automation'], refs: ImportRefs) => {
  checkDistinct(triggers);
  refuseForms(
    triggers.map((trigger, i) => ({
      formId: 'formId' in trigger ? trigger.formId : null,
      form: refs.forms[i],
      path: `/triggers/${i}`,
    })),
  );
  return triggers.map((document, index) => {
    const path = `/triggers/${index}`;
    if (document.actionId !== _id)
      throw new RequestError('invalid', 'The trigger is of another automation', { path: `${path}/actionId` });
    const known = refs.triggers.some(({ id }) => id === document._id) || Object.hasOwn(refs.elsewhere, document._id);
    const namesake = known
      ? undefined
      : refs.triggers.find(
          ({ id, content }) => content.name === document.name && !triggers.some((other) => other._id === id),
        );
    const [schemaFault, form] = [refs.schemaFaults[index], refs.forms[index]];
    const content = checkedContent(
      { ...document, actionId: refs.id },
      { form, formData: refs.formData[index], ...defined({ schemaFault }) },
      path,
    );
    return { id: namesake?.id ?? document._id, index, document, content };
  });
};

const checkDistinct = (triggers: readonly TriggerDocument[]): void => {
  for (const member of ['_id', 'name', 'routeName'] as const) {
    const seen = new Set<string>();
    triggers.forEach((trigger, i) => {
      const value = (trigger as { readonly [member in typeof member]?: string })[member];
      if (value === undefined) return;
      if (seen.has(value))
        throw new RequestError('invalid', `Two triggers have the same ${member}`, { path: `/triggers/${i}/${member}` });
      seen.add(value);
    });
  }
};
