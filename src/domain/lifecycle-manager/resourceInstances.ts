import { type Static, Type } from 'typebox';
import { changesBetween } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { type Fault, RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { anyMembers, nothing, text, topicsOf } from '../engine/topics.ts';

/** Data that fit the schema of the model. Secrets in them are sealed. */
export type InstanceData = Readonly<Record<string, unknown>>;

const description = Type.String({ description: 'Its purpose', maxLength: 10_000 });
export const instanceMembers = {
  name: name('Name, unique among the instances of the model'),
  description,
  instanceData: Type.Unsafe<InstanceData>(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'The data that the schema of the model asks for; members named like secrets are shown as ********',
      },
    ),
  ),
};

/** The body of a create request, and of a request that replaces an instance. */
export const newInstanceSchema = Type.Object(
  { name: instanceMembers.name, description: Type.Optional(description), instanceData: instanceMembers.instanceData },
  { additionalProperties: false, title: 'NewResourceInstance', description: 'Instance of a resource model' },
);
type NewInstance = Static<typeof newInstanceSchema>;

const changeable = { name: text, description: text, instanceData: anyMembers };
const content = Type.Object({ modelId: text, ...changeable });
export type InstanceContent = SchemaData<typeof content>;

const topics = topicsOf({
  resourceInstanceCreated: ['A resource instance was created', content],
  resourceInstanceChanged: ['Members of a resource instance changed', Type.Partial(Type.Object(changeable))],
  resourceInstanceDeleted: ['A resource instance was deleted', nothing],
});
export type InstanceEvent = EventOf<typeof topics>;

export type InstanceState = { readonly exists: boolean; readonly content: InstanceContent };

export const resourceInstance = aggregate<InstanceState, InstanceEvent>({
  area: 'lifecycle-manager',
  category: 'resourceInstance',
  topics,
  initial: { exists: false, content: { modelId: '', name: '', description: '', instanceData: {} } },
  evolve: {
    resourceInstanceCreated: (_, content) => ({ exists: true, content }),
    resourceInstanceChanged: ({ exists, content }, changed) => ({ exists, content: { ...content, ...changed } }),
    resourceInstanceDeleted: ({ content }) => ({ exists: false, content }),
  },
  names: ({ exists, content }) => (exists ? [instanceName(content)] : []),
});

/** The name that an instance claims. */
export const instanceName = ({ modelId, name }: Pick<InstanceContent, 'modelId' | 'name'>) => ({
  kind: 'resourceInstance',
  parent: modelId,
  name,
});

/** Tells if the model exists; the faults of the data under its schema, and the data with sealed secrets. */
export type DataRefs = {
  readonly modelExists: boolean;
  readonly faults: readonly Fault[];
  readonly instanceData: InstanceData;
};

/** Throws `unprocessable` with the paths if the data do not fit the schema of the model. */
export const refuseUnfit = (faults: readonly Fault[]): void => {
  if (faults[0])
    throw new RequestError(
      'unprocessable',
      `It does not fit the schema of the model: ${faults[0].path} ${faults[0].message}`,
      { faults },
    );
};

/** Throws `not_found` if the model does not exist, else like `refuseUnfit`. */
const refuseUnusable = ({ modelExists, faults }: DataRefs): void => {
  if (!modelExists) throw new RequestError('not_found', 'No such resource model', { path: 'model' });
  refuseUnfit(faults);
};

export const create = (
  _: InstanceState,
  { modelId, name, description = '' }: NewInstance & { readonly modelId: string },
  { refs }: Context<DataRefs>,
): readonly InstanceEvent[] => {
  refuseUnusable(refs);
  return [{ topic: 'resourceInstanceCreated', data: { modelId, name, description, instanceData: refs.instanceData } }];
};

export const replace = (
  { content }: InstanceState,
  { name, description = '' }: NewInstance,
  { refs }: Context<DataRefs>,
): readonly InstanceEvent[] => {
  refuseUnusable(refs);
  const changes = changesBetween(content, { ...content, name, description, instanceData: refs.instanceData });
  return changes ? [{ topic: 'resourceInstanceChanged', data: changes.changed }] : [];
};

export const remove = (): readonly InstanceEvent[] => [{ topic: 'resourceInstanceDeleted', data: {} }];

/** Part of an action: creates the instance, unless its model is deleted. */
export const admit = (
  { exists }: InstanceState,
  content: InstanceContent,
  { refs }: Context<{ readonly modelExists: boolean }>,
): readonly InstanceEvent[] =>
  refs.modelExists && !exists ? [{ topic: 'resourceInstanceCreated', data: content }] : [];

/**
 * Part of an action: replaces the data, or with `merge` only the members of the same names. Always stores an event,
 * even without a change. The event shows that the action was carried out; without it, a retry could overwrite a later
 * edit.
 */
export const amend = (
  { exists, content }: InstanceState,
  { instanceData, merge }: { readonly instanceData?: InstanceData; readonly merge?: InstanceData },
): readonly InstanceEvent[] =>
  exists
    ? [
        {
          topic: 'resourceInstanceChanged',
          data: { instanceData: { ...(instanceData ?? content.instanceData), ...merge } },
        },
      ]
    : [];

/** Part of an action, or of the deletion of the model. */
export const removeIfThere = ({ exists }: InstanceState): readonly InstanceEvent[] => (exists ? remove() : []);
