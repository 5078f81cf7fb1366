import { type Static, Type } from 'typebox';
import { changesBetween } from '../engine/changes.ts';
import { aggregate, type Context, type Event } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';

const description = Type.String({ description: 'What it is for', maxLength: 10_000 });
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
  _id: Type.String({ pattern: '^[0-9a-fA-F]{4}$', description: 'Four hexadecimal digits, unique within the model' }),
  name: name('Name, unique among the actions of the model'),
  type: Type.Enum(['import', 'create', 'update', 'delete'], { description: 'What it does to instances' }),
  workflow,
  description,
};

/** An action of a model. */
export const actionSchema = Type.Object(actionMembers, {
  additionalProperties: false,
  title: 'ResourceAction',
  description: 'Action on instances of a model',
});
export type ResourceAction = Static<typeof actionSchema>;

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
    actions: Type.Optional(
      Type.Array(newActionSchema, { maxItems: 200, description: 'What can be done with instances' }),
    ),
  },
  { additionalProperties: false, title: 'NewResourceModel', description: 'Resource model' },
);
export type NewModel = Static<typeof newModelSchema>;

/** The fields of a model in documents, without id, times and authors. */
export const modelMembers = {
  name: newModelSchema.properties.name,
  description,
  schema,
  actions: Type.Array(actionSchema, { description: 'What can be done with instances' }),
};
export type ModelContent = {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly actions: readonly ResourceAction[];
};

export type ModelEvent =
  | Event<'resourceModelCreated', ModelContent>
  | Event<'resourceModelChanged', Partial<ModelContent>>
  /** Decides that the instances and groups of the model are deleted too. */
  | Event<'resourceModelDeleted', { readonly deletedInstances: number }>
  /** One step of that deletion is done. */
  | Event<'resourceModelPartsRemoved', { readonly removed: number }>;

export type ModelState = {
  readonly exists: boolean;
  readonly content: ModelContent;
  readonly deletedInstances: number;
};

export const resourceModel = aggregate<ModelState, ModelEvent>({
  area: 'lifecycle-manager',
  category: 'resourceModel',
  initial: { exists: false, content: { name: '', description: '', schema: {}, actions: [] }, deletedInstances: 0 },
  evolve: {
    resourceModelCreated: (state, content) => ({ ...state, exists: true, content }),
    resourceModelChanged: (state, changed) => ({ ...state, content: { ...state.content, ...changed } }),
    resourceModelDeleted: (state, { deletedInstances }) => ({ ...state, exists: false, deletedInstances }),
    resourceModelPartsRemoved: (state) => state,
  },
  exists: (state) => state.exists,
  names: ({ exists, content }) => (exists ? [{ kind: 'resourceModel', name: content.name }] : []),
});

/** `schemaFault`: why the schema cannot be compiled; absent if it can. */
export type ModelRefs = { readonly schemaFault?: string };

export const create = (_: ModelState, input: NewModel, context: Context<ModelRefs>): readonly ModelEvent[] => [
  { topic: 'resourceModelCreated', data: contentOf(input, [], context) },
];

/** Existing instances are not checked against the new schema. It holds for later changes. */
export const replace = (
  { content }: ModelState,
  input: NewModel,
  context: Context<ModelRefs>,
): readonly ModelEvent[] => {
  const changes = changesBetween(content, contentOf(input, content.actions, context));
  return changes ? [{ topic: 'resourceModelChanged', data: changes.changed }] : [];
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

/** Makes a deleted model anew. `parts`: how many instances and groups of it are still to be deleted. */
export const bringBack = (
  state: ModelState,
  input: NewModel,
  context: Context<ModelRefs & { readonly parts: number }>,
): readonly ModelEvent[] => {
  if (context.refs.parts > 0)
    throw new RequestError('unavailable', 'The instances of the deleted model are still being deleted; try again', {
      retryAfterSeconds: 1,
    });
  return create(state, input, context);
};

/** The action with the id, in upper or lower case. */
export const actionOf = ({ actions }: ModelContent, id: string): ResourceAction | undefined =>
  actions.find(({ _id }) => _id === id.toLowerCase());

const contentOf = (
  { name, description = '', schema, actions = [] }: NewModel,
  before: readonly ResourceAction[],
  { newId, refs }: Context<ModelRefs>,
): ModelContent => {
  if (refs.schemaFault !== undefined)
    throw new RequestError('invalid', `The schema cannot be used: ${refs.schemaFault}`, { path: '/schema' });
  const fault = (i: number, member: string, message: string) =>
    new RequestError('invalid', message, { path: `/actions/${i}/${member}` });
  actions.forEach((action, i) => {
    if (actions.findIndex((other) => other.name === action.name) < i)
      throw fault(i, 'name', 'Two actions have this name');
    if (
      action._id !== undefined &&
      actions.findIndex(({ _id }) => _id?.toLowerCase() === action._id?.toLowerCase()) < i
    )
      throw fault(i, '_id', 'Two actions have this id');
    if (action.type === 'import' && action.workflow != null)
      throw fault(i, 'workflow', 'An import takes effect at once: it has no workflow');
  });
  const taken = new Set(actions.flatMap(({ _id }) => _id?.toLowerCase() ?? []));
  const idFor = (actionName: string): string => {
    const own = before.find((action) => action.name === actionName)?._id;
    let id = own !== undefined && !taken.has(own) ? own : undefined;
    for (let tried = 0; id === undefined || taken.has(id); tried++) id = newId(`${actionName}/${tried}`).slice(-4);
    taken.add(id);
    return id;
  };
  return {
    name,
    description,
    schema,
    actions: actions.map(({ _id, name: actionName, type, workflow = null, description: about = '' }) => ({
      _id: _id?.toLowerCase() ?? idFor(actionName),
      name: actionName,
      type,
      workflow,
      description: about,
    })),
  };
};
