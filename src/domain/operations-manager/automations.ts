import { type Static, Type } from 'typebox';
import { everybody, gbacInput, gbacOf } from '../authorization/gbac.ts';
import { changesBetween } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { type Imported, importedIn } from '../engine/importedDocuments.ts';
import { name } from '../engine/schemas.ts';
import { gbac, nothing, restored, text, textOrNull, topicsOf } from '../engine/topics.ts';

export const automationMembers = {
  name: name('Name, unique among automations'),
  description: Type.String({ description: 'Its purpose' }),
  componentType: Type.Union([Type.Null(), name('Type')], { description: 'Type of the component that it runs' }),
  componentName: Type.Union([Type.Null(), name('Name')], { description: 'Name of the component that it runs' }),
};

const { name: nameMember, ...optional } = automationMembers;
const members = { ...optional, gbac: gbacInput };

/** The body of a new automation. */
export const newAutomationSchema = Type.Object(
  { name: nameMember, ...Type.Partial(Type.Object(members)).properties },
  { additionalProperties: false, title: 'NewAutomation', description: 'New automation' },
);
export const automationPatchSchema = Type.Partial(Type.Object({ name: nameMember, ...members }), {
  additionalProperties: false,
  title: 'AutomationPatch',
  description: 'Changes of an automation',
});

/** The content of an automation, without times and authors. */
const content = Type.Object({
  name: text,
  description: text,
  componentType: textOrNull,
  componentName: textOrNull,
  gbac,
});
export type AutomationContent = SchemaData<typeof content>;

/**
 * `imported`: the document as it was written, with the ids of its triggers in the place of the triggers. Migrated
 * automations have none.
 */
export const restoredAutomation = Type.Object({ ...content.properties, ...restored });
export type RestoredAutomation = SchemaData<typeof restoredAutomation>;

const topics = topicsOf({
  automationCreated: ['An automation was created', content],
  automationChanged: ['Members of an automation changed', Type.Partial(content)],
  automationRestored: ['An automation got the content of an imported document', restoredAutomation],
  automationDeleted: ['An automation was deleted', nothing],
});
export type AutomationEvent = EventOf<typeof topics>;

export type AutomationState = {
  readonly exists: boolean;
  readonly content: AutomationContent;
  readonly imported?: Imported<AutomationContent>;
};

/** The content, without the other members of the object. */
const contentIn = ({
  name,
  description,
  componentType,
  componentName,
  gbac,
}: AutomationContent): AutomationContent => ({ name, description, componentType, componentName, gbac });

export const automation = aggregate<AutomationState, AutomationEvent>({
  area: 'operations-manager',
  category: 'automation',
  topics,
  initial: {
    exists: false,
    content: { name: '', description: '', componentType: null, componentName: null, gbac: everybody },
  },
  evolve: {
    automationCreated: (_, data) => ({ exists: true, content: data }),
    automationChanged: (state, changed) => ({ ...state, content: { ...state.content, ...changed } }),
    automationRestored: (_, data) => {
      const content = contentIn(data);
      return { exists: true, content, ...importedIn(data, content) };
    },
    automationDeleted: ({ content }) => ({ exists: false, content }),
  },
  names: ({ exists, content }) => (exists ? automationNames(content) : []),
  gbac: ({ content }) => content.gbac,
});

/** The unique name of an automation. */
export const automationNames = ({ name }: { readonly name: string }) => [{ kind: 'automation', name }];

/** The group names in the request that do not exist. */
export type GroupRefs = { readonly unknownGroups: readonly string[] };

export const create = (
  _: AutomationState,
  input: Static<typeof newAutomationSchema>,
  { refs }: Context<GroupRefs>,
): readonly AutomationEvent[] => {
  const { name, description = '', componentType = null, componentName = null } = input;
  return [
    {
      topic: 'automationCreated',
      data: {
        name,
        description,
        componentType,
        componentName,
        gbac: gbacOf(input.gbac, everybody, refs.unknownGroups),
      },
    },
  ];
};

export const change = (
  { content }: AutomationState,
  input: Static<typeof automationPatchSchema>,
  { refs }: Context<GroupRefs>,
): readonly AutomationEvent[] => {
  const changes = changesBetween(content, {
    ...content,
    ...input,
    gbac: gbacOf(input.gbac, content.gbac, refs.unknownGroups),
  });
  return changes ? [{ topic: 'automationChanged', data: changes.changed }] : [];
};

/** Part of an import. Always stores an event, even without a change: the event shows that this part was carried out. */
export const restore = (_: AutomationState, document: RestoredAutomation): readonly AutomationEvent[] => [
  { topic: 'automationRestored', data: document },
];

export const remove = (): readonly AutomationEvent[] => [{ topic: 'automationDeleted', data: {} }];
