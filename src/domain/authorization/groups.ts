import { type Static, Type } from 'typebox';
import { changesBetween } from '../engine/changes.ts';
import { type Actor, aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { type Referrer, refuseReferred, refuseUnknown, type Unknown } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { nothing, text, texts, topicsOf } from '../engine/topics.ts';
import { refuseWithoutAdmin } from './admins.ts';

/** Groups that exist from the first start (docs/behaviour/access.md). They cannot be deleted or renamed. */
export const builtInGroups = {
  admins: 'May do everything',
  operators: 'May do all but accounts, roles, profiles and group mappings',
  readers: 'May read everything',
} as const;

/** The built-in groups that a route can open itself to. Admins may call every route. */
export type OpenTo = Exclude<keyof typeof builtInGroups, 'admins'>;

const isBuiltIn = (name: string): boolean => Object.hasOwn(builtInGroups, name);

/** Groups in a request: names or group objects. */
export const groupRefs = (description: string) =>
  Type.Array(
    Type.Union(
      [
        name('Name of a group'),
        Type.Object({ name: name('Name of a group') }, { additionalProperties: true, description: 'Group' }),
      ],
      { title: 'GroupRef', description: 'A group by its name, or a group object' },
    ),
    { description, maxItems: 500 },
  );

/** The names, without duplicates. */
export const namesOf = (refs: readonly (string | { readonly name: string })[]): readonly string[] => [
  ...new Set(refs.map((ref) => (typeof ref === 'string' ? ref : ref.name))),
];

export const roleRefs = (description: string) => Type.Array(name('Name of a role'), { description, maxItems: 500 });

const members = {
  provenance: name('Authentication provider that the group comes from'),
  description: Type.String({ description: 'Purpose of the group', maxLength: 10_000 }),
  assignedRoles: roleRefs('Roles that members have'),
  memberOf: groupRefs('Groups that members belong to as well'),
};
const groupName = name('Name, unique among groups');

export const newGroupSchema = Type.Object(
  { name: groupName, ...Type.Partial(Type.Object(members)).properties },
  { additionalProperties: false, title: 'NewGroup', description: 'New group' },
);
export const groupPatchSchema = Type.Partial(Type.Object({ name: groupName, ...members }), {
  additionalProperties: false,
  title: 'GroupPatch',
  description: 'Changes of a group',
});
export type GroupInput = Static<typeof groupPatchSchema>;

const content = Type.Object({
  name: text,
  provenance: text,
  description: text,
  assignedRoles: texts,
  memberOf: texts,
});
export type GroupContent = SchemaData<typeof content>;

const topics = topicsOf({
  groupCreated: ['A group was created', content],
  groupUpdated: ['Members of a group changed', Type.Partial(content)],
  groupDeleted: ['A group was deleted', nothing],
});
export type GroupEvent = EventOf<typeof topics>;

export type GroupState = { readonly exists: boolean; readonly content: GroupContent };

const blank: GroupContent = { name: '', provenance: 'local', description: '', assignedRoles: [], memberOf: [] };

export const group = aggregate<GroupState, GroupEvent>({
  area: 'authorization',
  category: 'group',
  topics,
  initial: { exists: false, content: blank },
  evolve: {
    groupCreated: (_, content) => ({ exists: true, content }),
    groupUpdated: ({ exists, content }, changed) => ({ exists, content: { ...content, ...changed } }),
    groupDeleted: ({ content }) => ({ exists: false, content }),
  },
  names: ({ exists, content }) => (exists ? [{ kind: 'group', name: content.name }] : []),
});

/** The content of a group after the request. */
export const requested = (before: GroupContent, { assignedRoles, memberOf, ...rest }: GroupInput): GroupContent => ({
  ...before,
  ...rest,
  ...defined({ assignedRoles: assignedRoles && namesOf(assignedRoles), memberOf: memberOf && namesOf(memberOf) }),
});

export type GroupRefs = {
  readonly unknown: Unknown;
  readonly referrers: readonly Referrer[];
  readonly adminRemains: boolean;
};

/** Operators may call these commands. Without this check they could give themselves every right. */
const refuseGranting = ({ admin, groups }: Actor, before: GroupContent, after: GroupContent): void => {
  if (admin || groups.includes('admins')) return;
  const giving = ({ assignedRoles, memberOf, provenance }: GroupContent) => ({ assignedRoles, memberOf, provenance });
  if (changesBetween(giving(before), giving(after)))
    throw new RequestError(
      'forbidden',
      'Only admins may change what a group gives: its roles, its groups and its provenance',
    );
};

export const create = (
  _: GroupState,
  input: Static<typeof newGroupSchema>,
  { actor, refs }: Context<GroupRefs>,
): readonly GroupEvent[] => {
  const content = requested(blank, input);
  refuseGranting(actor, { ...blank, provenance: content.provenance }, content);
  refuseUnknown(refs.unknown);
  return [{ topic: 'groupCreated', data: content }];
};

export const update = (
  { content }: GroupState,
  input: GroupInput,
  { actor, refs }: Context<GroupRefs>,
): readonly GroupEvent[] => {
  const after = requested(content, input);
  refuseGranting(actor, content, after);
  refuseUnknown(refs.unknown);
  if (after.name !== content.name) {
    if (isBuiltIn(content.name))
      throw new RequestError('conflict', `The built-in group ${content.name} cannot be renamed`);
    refuseReferred(refs.referrers, 'renamed');
  }
  refuseWithoutAdmin(refs);
  const changes = changesBetween(content, after);
  return changes ? [{ topic: 'groupUpdated', data: changes.changed }] : [];
};

export const remove = ({ content }: GroupState, _: unknown, { refs }: Context<GroupRefs>): readonly GroupEvent[] => {
  if (isBuiltIn(content.name))
    throw new RequestError('conflict', `The built-in group ${content.name} cannot be deleted`);
  refuseReferred(refs.referrers, 'deleted');
  return [{ topic: 'groupDeleted', data: {} }];
};

/** Creates a built-in group. No event if it exists. */
export const provide = (
  state: GroupState,
  { name }: { readonly name: keyof typeof builtInGroups },
): readonly GroupEvent[] =>
  state.exists ? [] : [{ topic: 'groupCreated', data: { ...blank, name, description: builtInGroups[name] } }];
