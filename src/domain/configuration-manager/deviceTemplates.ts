import { type Static, Type } from 'typebox';
import { authored, objectId } from '../engine/authors.ts';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { deletionOf } from '../engine/deletions.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { type Seal, sealSecrets } from '../engine/secretFields.ts';
import { anyMembers, nothing, text, texts, topicsOf } from '../engine/topics.ts';

const members = {
  name: name('Name, unique among device templates'),
  template: Type.String({
    description: 'Jinja2: the lines of a change. It sees the variables, and the device as `device`',
    minLength: 1,
    maxLength: 1_000_000,
  }),
  variables: Type.Record(Type.String(), Type.Any(), { description: 'Values of variables that a change does not give' }),
  deviceOSTypes: Type.Array(name('Type of devices'), { maxItems: 100, description: 'Types that it is for; none: any' }),
};

const { name: nameMember, template, ...rest } = members;
const more = {
  ...Type.Partial(Type.Object(rest)).properties,
  options: Type.Optional(
    Type.Object(
      { deviceOSTypes: Type.Optional(members.deviceOSTypes) },
      { additionalProperties: false, description: 'The same member in other words' },
    ),
  ),
};

/** The body of `createDeviceTemplate`. */
export const newDeviceTemplateSchema = Type.Object(
  { name: nameMember, template, ...more },
  { additionalProperties: false, title: 'NewDeviceTemplate', description: 'New device template' },
);
export type NewDeviceTemplate = Static<typeof newDeviceTemplateSchema>;

export const deviceTemplateChangesSchema = Type.Object(
  { name: Type.Optional(nameMember), template: Type.Optional(template), ...more },
  { additionalProperties: false, title: 'DeviceTemplateChanges', description: 'Changes of a device template' },
);

/** A device template in an import. Ids, times and authors of exports are taken. */
export const deviceTemplateItemSchema = Type.Object(
  {
    id: Type.Optional(objectId('Id')),
    _id: Type.Optional(objectId('Id')),
    ...newDeviceTemplateSchema.properties,
    ...Type.Partial(Type.Object(authored)).properties,
  },
  { additionalProperties: false, title: 'DeviceTemplateItem', description: 'Device template to take in' },
);

/** A device template in answers. */
export const deviceTemplateSchema = Type.Object(
  { id: objectId('Id'), _id: objectId('Id'), ...members, ...authored },
  { title: 'DeviceTemplate', description: 'Device template' },
);

/** Secrets among the variables are sealed. */
const content = Type.Object({ name: text, template: text, variables: anyMembers, deviceOSTypes: texts });
export type DeviceTemplateContent = SchemaData<typeof content>;

const topics = topicsOf({
  deviceTemplateCreated: ['A device template was created', content],
  deviceTemplateUpdated: ['Members of a device template changed', Type.Partial(content)],
  deviceTemplateDeleted: ['A device template was deleted', nothing],
});
export type DeviceTemplateEvent = EventOf<typeof topics>;

type State = { readonly exists: boolean; readonly content: DeviceTemplateContent };

/** A text that is rendered for each device that it is applied to. */
export const deviceTemplate = aggregate<State, DeviceTemplateEvent>({
  area: 'configuration-manager',
  category: 'deviceTemplate',
  topics,
  initial: { exists: false, content: { name: '', template: '', variables: {}, deviceOSTypes: [] } },
  evolve: {
    deviceTemplateCreated: (_, content) => ({ exists: true, content }),
    deviceTemplateUpdated: (state, changes) => ({ ...state, content: { ...state.content, ...changes } }),
    deviceTemplateDeleted: (state) => ({ ...state, exists: false }),
  },
  exists: ({ exists }) => exists,
  names: ({ exists, content: { name } }) => (exists ? [{ kind: 'deviceTemplate', name }] : []),
});

type Given = Static<typeof deviceTemplateChangesSchema>;

/** The input with its secrets sealed. The mask keeps one that is there. */
export const sealTemplate = <Input extends Given>(input: Input, { exists, content }: State, seal: Seal): Input =>
  input.variables === undefined
    ? input
    : { ...input, variables: sealSecrets(input.variables, exists ? content.variables : {}, seal, '/variables') };

const contentOf = (before: DeviceTemplateContent, { options, ...input }: Given): DeviceTemplateContent => ({
  name: input.name ?? before.name,
  template: input.template ?? before.template,
  variables: input.variables ?? before.variables,
  deviceOSTypes: [...new Set(input.deviceOSTypes ?? options?.deviceOSTypes ?? before.deviceOSTypes)],
});

export const create = ({ content }: State, input: NewDeviceTemplate): readonly DeviceTemplateEvent[] => [
  {
    topic: 'deviceTemplateCreated',
    data: contentOf({ ...content, variables: {}, deviceOSTypes: [] }, input),
  },
];

/** Changes the members that are given. */
export const update = ({ content }: State, input: Given): readonly DeviceTemplateEvent[] => {
  const { changed } = changesBetween(content, contentOf(content, input)) ?? {};
  return changed ? [{ topic: 'deviceTemplateUpdated', data: changed }] : [];
};

/** Takes in a template. The same content again is no change; other content needs `overwrite`. */
export const importOne = (
  state: State,
  { template, overwrite }: { readonly template: NewDeviceTemplate; readonly overwrite: boolean },
  _: Context,
): readonly DeviceTemplateEvent[] => {
  if (!state.exists) return create(state, template);
  if (!overwrite && !same(state.content, contentOf(state.content, template)))
    throw new RequestError('conflict', 'Another device template has this id', { path: '/_id' });
  return update(state, template);
};

/** Part of a decision to delete templates. */
export const remove = ({ exists }: State): readonly DeviceTemplateEvent[] =>
  exists ? [{ topic: 'deviceTemplateDeleted', data: {} }] : [];

/** The decision to delete several device templates. */
export const deviceTemplateDeletions = deletionOf({
  area: 'configuration-manager',
  category: 'deviceTemplateDeletion',
  topic: 'deviceTemplatesDeleted',
  member: 'templateIds',
  title: 'DeviceTemplateDeletion',
  noun: 'device template',
});
export const deviceTemplateDeletion = deviceTemplateDeletions.of;
