import { isObject, type Members } from '@automation-platform/json';
import { type Static, type TSchema, Type } from 'typebox';
import { authoredByPeople, authorsOf, type ImportAuthors, objectId } from '../engine/authors.ts';
import { changesBetween, same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { at, type DocumentKind, nowhere } from '../engine/documentKinds.ts';
import { type Imported, importedIn, sameRest, withoutContent } from '../engine/importedDocuments.ts';
import { sealDocument } from '../engine/importedSecrets.ts';
import { ifItFits, lenient, partsBy } from '../engine/lenientSchemas.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import type { Seal } from '../engine/secretFields.ts';
import { anyMembers, restoredAs, text, textOrNull, topicsOf, typed, whole } from '../engine/topics.ts';

const description = Type.String({ description: 'Its purpose', maxLength: 10_000 });
const schema = Type.Unsafe<Readonly<Record<string, unknown>>>(
  Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'JSON Schema of instanceData, draft-07 or 2020-12, without remote references',
    },
  ),
);
const workflow = Type.Union([name('Automation or workflow'), Type.Null()], {
  description: 'Automation or workflow that carries it out; null: it takes effect at once',
});

const actionMembers = {
  _id: name('Id, unique within the model, in lower case; made here it has four hexadecimal digits'),
  name: name('Name, unique among the actions of the model'),
  type: Type.Enum(['import', 'create', 'update', 'delete'], { description: 'The effect on instances' }),
  workflow,
  description,
};

/** An action of a model. */
export const actionSchema = Type.Object(actionMembers, {
  additionalProperties: false,
  title: 'ResourceAction',
  description: 'Action on instances of a model',
});

const newActionSchema = Type.Object(
  {
    name: actionMembers.name,
    type: actionMembers.type,
    ...Type.Partial(Type.Object({ _id: actionMembers._id, workflow, description })).properties,
  },
  {
    additionalProperties: false,
    title: 'NewResourceAction',
    description: 'Action; without an id it keeps that of the action with its name, or gets one',
  },
);

/** The body of a create request, and of a request that replaces a model. */
export const newModelSchema = Type.Object(
  {
    name: name('Name, unique among models'),
    description: Type.Optional(description),
    schema,
    actions: Type.Optional(Type.Array(newActionSchema, { maxItems: 200, description: 'Actions on instances' })),
  },
  { additionalProperties: false, title: 'NewResourceModel', description: 'Resource model' },
);
export type NewModel = Static<typeof newModelSchema>;

const orNull = <S extends TSchema>(schema: S) => Type.Optional(Type.Union([schema, Type.Null()]));
const { created, lastUpdated, ...people } = authoredByPeople;

const document = Type.Object(
  {
    _id: Type.Optional({ ...objectId('Id; any other than 24 hexadecimal digits is only kept'), [ifItFits]: true }),
    name: newModelSchema.properties.name,
    description: orNull(description),
    schema,
    actions: Type.Optional(
      Type.Array(
        Type.Object(
          {
            _id: Type.Optional(actionMembers._id),
            name: actionMembers.name,
            type: actionMembers.type,
            workflow: orNull(
              Type.String({ description: 'Automation or workflow that carries it out', maxLength: 256 }),
            ),
            description: orNull(description),
          },
          { additionalProperties: false, title: 'ResourceAction', description: 'Action on instances' },
        ),
        { maxItems: 200, description: 'Actions on instances' },
      ),
    ),
    created: Type.Optional({ ...created, [ifItFits]: true }),
    lastUpdated: Type.Optional({ ...lastUpdated, [ifItFits]: true }),
    ...people,
  },
  {
    additionalProperties: false,
    title: 'ImportedResourceModel',
    description: 'Resource model of any installation',
  },
);

/** A model in an import, as it was written. */
export const importedModelSchema = Type.Unsafe<Members>(lenient(document));

/** Takes an imported model apart. */
export const modelParts = partsBy(document);

/** The fields of a model in documents, without id, times and authors. */
export const modelMembers = {
  name: newModelSchema.properties.name,
  description,
  schema,
  actions: Type.Array(actionSchema, { description: 'Actions on instances' }),
};

/** An action in events. */
export const actionInEvents = Type.Object({
  _id: text,
  name: text,
  type: typed<Static<typeof actionMembers.type>>()(text),
  workflow: textOrNull,
  description: text,
});
export type ResourceAction = SchemaData<typeof actionInEvents>;

const content = Type.Object({
  name: text,
  description: text,
  schema: anyMembers,
  actions: Type.Array(actionInEvents),
});
export type ModelContent = SchemaData<typeof content>;

const topics = topicsOf({
  resourceModelCreated: ['A resource model was created', content],
  resourceModelChanged: ['Members of a resource model changed', Type.Partial(content)],
  resourceModelRestored: restoredAs('A resource model', content.properties),
  /** Decides that the instances and groups of the model are deleted too. */
  resourceModelDeleted: [
    'A resource model was deleted, with its instances and groups',
    Type.Object({ deletedInstances: whole }),
  ],
  /** One step of that deletion is done. */
  resourceModelPartsRemoved: ['Instances and groups of a deleted model were removed', Type.Object({ removed: whole })],
});
export type ModelEvent = EventOf<typeof topics>;

export type ModelState = {
  readonly exists: boolean;
  readonly content: ModelContent;
  /** The last import; undefined if there was none. */
  readonly imported?: Imported<ModelContent>;
  readonly deletedInstances: number;
};

const contentIn = ({ name, description, schema, actions }: ModelContent): ModelContent => ({
  name,
  description,
  schema,
  actions,
});

export const resourceModel = aggregate<ModelState, ModelEvent>({
  area: 'lifecycle-manager',
  category: 'resourceModel',
  topics,
  initial: { exists: false, content: { name: '', description: '', schema: {}, actions: [] }, deletedInstances: 0 },
  evolve: {
    resourceModelCreated: (state, content) => ({ ...state, exists: true, content }),
    resourceModelChanged: (state, changed) => ({ ...state, content: { ...state.content, ...changed } }),
    resourceModelRestored: ({ deletedInstances }, data) => {
      const content = contentIn(data);
      return { exists: true, content, deletedInstances, ...importedIn(data, content) };
    },
    resourceModelDeleted: ({ content }, { deletedInstances }) => ({ exists: false, content, deletedInstances }),
    resourceModelPartsRemoved: (state) => state,
  },
  names: ({ exists, content }) => (exists ? [{ kind: 'resourceModel', name: content.name }] : []),
});

/** `schemaFault`: why the schema cannot be compiled; absent if it can. */
export type ModelRefs = { readonly schemaFault?: string };

export const create = (_: ModelState, input: NewModel, context: Context<ModelRefs>): readonly ModelEvent[] => {
  refuseSchema(context.refs);
  refuseActions(input.actions);
  return [{ topic: 'resourceModelCreated', data: contentOf(input, [], context) }];
};

/**
 * Existing instances are not checked against the new schema. It holds for later changes. A schema and actions that stay
 * as they are may be such as only an import brings.
 */
export const replace = (
  { content }: ModelState,
  input: NewModel,
  context: Context<ModelRefs>,
): readonly ModelEvent[] => {
  if (!same(input.schema, content.schema)) refuseSchema(context.refs);
  if (!same(input.actions, content.actions)) refuseActions(input.actions);
  const changes = changesBetween(content, contentOf(input, content.actions, context));
  return changes ? [{ topic: 'resourceModelChanged', data: changes.changed }] : [];
};

type Importing = { readonly model: Members; readonly overwrite?: boolean };

/** The import with sealed secrets. The mask keeps those of the last import. */
export const sealModel = <I extends Importing>(input: I, { imported }: ModelState, seal: Seal): I => ({
  ...input,
  model: sealDocument(input.model, [imported?.document], seal),
});

/**
 * Imports a model of any installation with its times and authors, into its own stream or that of the model with the
 * same name. A schema that cannot be used is kept: whoever writes an instance is told.
 */
export const importOne = (
  { exists, content, imported }: ModelState,
  { model, overwrite = false }: Importing,
  context: Context<ImportAuthors & { readonly parts: number }>,
): readonly ModelEvent[] => {
  const { refs, id } = context;
  refuseParts(refs);
  const { known } = modelParts(model);
  refuseSameIds(known.actions);
  const newContent = contentOf(known, content.actions, context);
  const own = [id, imported && modelParts(imported.document).known._id].includes(known._id ?? id);
  const alike = same(newContent, content) && sameRest(model, defined({ imported, content }), modelParts, refs);
  if (exists && (own || overwrite) && alike) return [];
  if (exists && !overwrite)
    throw own
      ? new RequestError('conflict', 'A resource model with this id exists with other content', { path: '/_id' })
      : new RequestError('conflict', 'Another resource model has this name', { path: '/name' });
  const authors = authorsOf(known, refs.accounts, context);
  return [
    {
      topic: 'resourceModelRestored',
      data: { ...newContent, ...authors, imported: withoutContent(model, newContent) },
    },
  ];
};

/** Decides `deleteResourceModel`. A model with instances can only be deleted together with them. */
export const remove = (
  _: ModelState,
  { withInstances }: { readonly withInstances: boolean },
  { refs: { instances } }: Context<{ readonly instances: number }>,
): readonly ModelEvent[] => {
  if (instances > 0 && !withInstances) {
    const message = `The model has ${instances} instance${instances === 1 ? '' : 's'}; delete-associated-instances deletes them as well`;
    throw new RequestError('conflict', message, { faults: [{ message, instances }] });
  }
  return [{ topic: 'resourceModelDeleted', data: { deletedInstances: instances } }];
};

/** Part of a deletion. */
export const countRemoved = (
  { exists }: ModelState,
  { removed }: { readonly removed: number },
): readonly ModelEvent[] => (exists ? [] : [{ topic: 'resourceModelPartsRemoved', data: { removed } }]);

/** `parts`: how many instances and groups of a deleted model are still to be deleted. */
const refuseParts = ({ parts }: { readonly parts: number }): void => {
  if (parts > 0)
    throw new RequestError('unavailable', 'The instances of the deleted model are still being deleted; try again', {
      retryAfterSeconds: 1,
    });
};

/** The action with the id, in upper or lower case. */
export const actionOf = ({ actions }: ModelContent, id: string): ResourceAction | undefined =>
  actions.find(({ _id }) => _id === id.toLowerCase());

const refuseSchema = ({ schemaFault }: ModelRefs): void => {
  if (schemaFault !== undefined)
    throw new RequestError('invalid', `The schema cannot be used: ${schemaFault}`, { path: '/schema' });
};

type GivenAction = Pick<ResourceAction, 'name' | 'type'> & {
  readonly _id?: string | undefined;
  readonly workflow?: string | null | undefined;
  readonly description?: string | null | undefined;
};

const faultAt = (i: number, member: string, message: string): RequestError =>
  new RequestError('invalid', message, { path: `/actions/${i}/${member}` });

const refuseSameIds = (actions: readonly GivenAction[] = []): void => {
  const ids = actions.map(({ _id }) => _id?.toLowerCase());
  ids.forEach((id, i) => {
    if (id !== undefined && ids.indexOf(id) < i) throw faultAt(i, '_id', 'Two actions have this id');
  });
};

/** The members that a person may not write. An import may bring them. */
const refuseActions = (actions: readonly GivenAction[] = []): void => {
  refuseSameIds(actions);
  actions.forEach(({ name, type, workflow }, i) => {
    if (actions.findIndex((other) => other.name === name) < i) throw faultAt(i, 'name', 'Two actions have this name');
    if (type === 'import' && workflow != null)
      throw faultAt(i, 'workflow', 'An import takes effect at once: it has no workflow');
  });
};

type GivenModel = Pick<ModelContent, 'name' | 'schema'> & {
  readonly description?: string | null | undefined;
  readonly actions?: readonly GivenAction[] | undefined;
};

/** The content of a request or document, with defaults. Actions without an id keep that of the action with their name. */
const contentOf = (
  { name, description, schema, actions = [] }: GivenModel,
  before: readonly ResourceAction[],
  { newId }: Pick<Context, 'newId'>,
): ModelContent => {
  const usedIds = new Set(actions.flatMap(({ _id }) => _id?.toLowerCase() ?? []));
  const idFor = (actionName: string): string => {
    const own = before.find((action) => action.name === actionName)?._id;
    let id = own !== undefined && !usedIds.has(own) ? own : undefined;
    for (let attempt = 0; id === undefined || usedIds.has(id); attempt++)
      id = newId(`${actionName}/${attempt}`).slice(-4);
    usedIds.add(id);
    return id;
  };
  return {
    name,
    description: description ?? '',
    schema,
    actions: actions.map(({ _id, name: actionName, type, workflow, description: about }) => ({
      _id: _id?.toLowerCase() ?? idFor(actionName),
      name: actionName,
      type,
      workflow: workflow || null,
      description: about ?? '',
    })),
  };
};

/** Resource models of any installation. */
export const modelDocuments: DocumentKind = {
  of: resourceModel,
  name: 'resource model',
  types: [],
  secrets: nowhere,
  is: ({ name, schema, actions }) => typeof name === 'string' && isObject(schema) && Array.isArray(actions),
  importing: (document, { overwrite }) => ({
    method: 'POST',
    path: '/lifecycle-manager/resources/import',
    body: `{"model":${document},"overwrite":${overwrite}}`,
  }),
  ...at('/lifecycle-manager/resources'),
};
