import { type Static, type TObject, Type } from 'typebox';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { type Fault, RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { nothing, text, texts, topicsOf } from '../engine/topics.ts';
import { hasId, type IdSet, noIds, withIds, withoutIds } from './idSets.ts';

const instances = (description: string) =>
  Type.Optional(Type.Array(name('Id or name of an instance of the model'), { maxItems: 10_000, description }));
const description = Type.String({ description: 'Its purpose', maxLength: 10_000 });

/** The fields of a group, without id, times, authors and last action. */
export const groupMembers = {
  name: name('Name, unique among the groups of the model'),
  description,
  modelId: name('Id of the model'),
};

export const newGroupSchema = Type.Object(
  { name: groupMembers.name, description: Type.Optional(description), instances: instances('Its first members') },
  { additionalProperties: false, title: 'NewResourceGroup', description: 'Group of instances' },
);

/** The body of `updateGroup`. */
export const groupChangesSchema = Type.Object(
  { instancesToAdd: instances('Instances that come in'), instancesToRemove: instances('Instances that go') },
  {
    additionalProperties: false,
    title: 'ResourceGroupChanges',
    description: 'Instances that come into a group, and those that go',
  },
);

const content = { modelId: text, name: text, description: text };
export type GroupContent = SchemaData<TObject<typeof content>>;

/** Instances are ids without duplicates. A change lists only instances that are really added or removed. */
const topics = topicsOf({
  resourceGroupCreated: ['A group of instances was created', Type.Object({ ...content, instances: texts })],
  resourceGroupMembersChanged: [
    'Instances came into a group or left it',
    Type.Object({ added: texts, removed: texts }),
  ],
  resourceGroupDeleted: ['A group of instances was deleted', nothing],
});
export type GroupEvent = EventOf<typeof topics>;

export type GroupState = {
  readonly exists: boolean;
  readonly modelId: string;
  readonly name: string;
  readonly members: IdSet;
};

/**
 * Members are kept in the state only, not in the document. A document with 100,000 members would be written again for
 * each new member.
 */
export const resourceGroup = aggregate<GroupState, GroupEvent>({
  area: 'lifecycle-manager',
  category: 'resourceGroup',
  topics,
  initial: { exists: false, modelId: '', name: '', members: noIds },
  evolve: {
    resourceGroupCreated: (_, { modelId, name, instances }) => ({
      exists: true,
      modelId,
      name,
      members: withIds(noIds, instances),
    }),
    resourceGroupMembersChanged: (state, { added, removed }) => ({
      ...state,
      members: withIds(withoutIds(state.members, removed), added),
    }),
    resourceGroupDeleted: (state) => ({ ...state, exists: false, members: noIds }),
  },
  names: ({ exists, modelId, name }) => (exists ? [{ kind: 'resourceGroup', parent: modelId, name }] : []),
});

/** The ids of the listed instances, in the same order; undefined for each that the model does not have. */
export type Found = readonly (string | undefined)[];

export const create = (
  _: GroupState,
  { modelId, name, description = '', instances = [] }: Static<typeof newGroupSchema> & { readonly modelId: string },
  { refs }: Context<{ readonly modelExists: boolean; readonly found: Found }>,
): readonly GroupEvent[] => {
  if (!refs.modelExists) throw new RequestError('not_found', 'No such resource model', { path: 'model' });
  refuseUnknown(unknown(instances, refs.found, '/instances'));
  return [{ topic: 'resourceGroupCreated', data: { modelId, name, description, instances: idsIn(refs.found) } }];
};

/**
 * Decides `updateGroup`, all or nothing. To add a member again, or to remove an instance that is no member, is no
 * change.
 */
export const changeMembers = (
  { members }: GroupState,
  { instancesToAdd = [], instancesToRemove = [] }: Static<typeof groupChangesSchema>,
  { refs }: Context<{ readonly toAdd: Found; readonly toRemove: Found }>,
): readonly GroupEvent[] => {
  refuseBoth(instancesToRemove, new Set(instancesToAdd));
  refuseUnknown([
    ...unknown(instancesToAdd, refs.toAdd, '/instancesToAdd'),
    ...unknown(instancesToRemove, refs.toRemove, '/instancesToRemove'),
  ]);
  const [come, go] = [idsIn(refs.toAdd), idsIn(refs.toRemove)];
  refuseBoth(refs.toRemove, new Set(come));
  const [added, removed] = [come.filter((id) => !hasId(members, id)), go.filter((id) => hasId(members, id))];
  return added.length + removed.length > 0 ? [{ topic: 'resourceGroupMembersChanged', data: { added, removed } }] : [];
};

/** Runs when an instance is deleted. */
export const drop = (
  { exists, members }: GroupState,
  { instance }: { readonly instance: string },
): readonly GroupEvent[] =>
  exists && hasId(members, instance)
    ? [{ topic: 'resourceGroupMembersChanged', data: { added: [], removed: [instance] } }]
    : [];

export const remove = (): readonly GroupEvent[] => [{ topic: 'resourceGroupDeleted', data: {} }];

/** Part of the deletion of its model. */
export const removeIfThere = ({ exists }: GroupState): readonly GroupEvent[] => (exists ? remove() : []);

const idsIn = (found: Found): readonly string[] => [...new Set(found.filter((id) => id !== undefined))];

const unknown = (ids: readonly string[], found: Found, path: string): readonly Fault[] =>
  ids.flatMap((name, i) =>
    found[i] === undefined
      ? [{ message: `The model has no instance ${JSON.stringify(name)}`, path: `${path}/${i}`, name }]
      : [],
  );

const refuseUnknown = (faults: readonly Fault[]): void => {
  if (faults.length > 0)
    throw new RequestError('not_found', `No such instances: ${faults.map(({ name }) => name).join(', ')}`, { faults });
};

const refuseBoth = (removed: Found, added: ReadonlySet<string | undefined>): void => {
  const i = removed.findIndex((id) => added.has(id));
  if (i >= 0)
    throw new RequestError('invalid', 'The same instance cannot both come and go', { path: `/instancesToRemove/${i}` });
};
