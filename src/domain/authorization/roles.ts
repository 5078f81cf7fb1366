import { type Static, Type } from 'typebox';
import { changesBetween } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { type Referrer, refuseReferred } from '../engine/references.ts';
import { refuseFaults } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { nothing, text, topicsOf } from '../engine/topics.ts';

const method = Type.Object(
  {
    provenance: name('Area of the method'),
    name: name('Name of the method'),
  },
  { additionalProperties: false, title: 'MethodRef', description: 'A method, as GET /authorization/methods lists it' },
);

const members = {
  description: Type.String({ description: 'Purpose of the role', maxLength: 10_000 }),
  allowedMethods: Type.Array(method, { description: 'Methods that holders of the role may call', maxItems: 2000 }),
};
const roleName = name('Name, unique among roles');

export const newRoleSchema = Type.Object(
  { name: roleName, description: Type.Optional(members.description), allowedMethods: members.allowedMethods },
  { additionalProperties: false, title: 'NewRole', description: 'New role' },
);
export const rolePatchSchema = Type.Partial(Type.Object({ name: roleName, ...members }), {
  additionalProperties: false,
  title: 'RolePatch',
  description: 'Changes of a role',
});
export type RoleInput = Static<typeof rolePatchSchema>;

const content = Type.Object({
  name: text,
  description: text,
  allowedMethods: Type.Array(Type.Object({ provenance: text, name: text })),
});

const topics = topicsOf({
  roleCreated: ['A role was created', content],
  roleUpdated: ['Members of a role changed', Type.Partial(content)],
  roleDeleted: ['A role was deleted', nothing],
});
export type RoleContent = SchemaData<typeof content>;
export type Method = RoleContent['allowedMethods'][number];
export type RoleEvent = EventOf<typeof topics>;

export type RoleState = { readonly exists: boolean; readonly content: RoleContent };

const blank: RoleContent = { name: '', description: '', allowedMethods: [] };

export const role = aggregate<RoleState, RoleEvent>({
  area: 'authorization',
  category: 'role',
  topics,
  initial: { exists: false, content: blank },
  evolve: {
    roleCreated: (_, content) => ({ exists: true, content }),
    roleUpdated: ({ exists, content }, changed) => ({ exists, content: { ...content, ...changed } }),
    roleDeleted: ({ content }) => ({ exists: false, content }),
  },
  names: ({ exists, content }) => (exists ? [{ kind: 'role', name: content.name }] : []),
});

/** `methods`: all methods that exist. */
export type RoleRefs = { readonly methods: readonly Method[]; readonly referrers: readonly Referrer[] };

const keyOf = ({ provenance, name }: Method): string => `${provenance}/${name}`;

/**
 * The methods without duplicates. A method must exist or have been listed before. Otherwise throws `not_found` with all
 * such methods.
 */
const checked = (
  methods: readonly Method[],
  before: readonly Method[],
  allMethods: readonly Method[],
): readonly Method[] => {
  const allowed = new Set([...allMethods, ...before].map(keyOf));
  const faults = methods.flatMap((method, i) =>
    allowed.has(keyOf(method)) ? [] : [{ message: `No such method: ${keyOf(method)}`, path: `/allowedMethods/${i}` }],
  );
  refuseFaults('not_found', faults);
  return [
    ...new Map(methods.map(({ provenance, name }) => [keyOf({ provenance, name }), { provenance, name }])).values(),
  ];
};

export const create = (
  _: RoleState,
  { name, description = '', allowedMethods }: Static<typeof newRoleSchema>,
  { refs }: Context<RoleRefs>,
): readonly RoleEvent[] => [
  { topic: 'roleCreated', data: { name, description, allowedMethods: checked(allowedMethods, [], refs.methods) } },
];

export const update = (
  { content }: RoleState,
  { allowedMethods, ...rest }: RoleInput,
  { refs }: Context<RoleRefs>,
): readonly RoleEvent[] => {
  const after = {
    ...content,
    ...rest,
    ...defined({
      allowedMethods: allowedMethods && checked(allowedMethods, content.allowedMethods, refs.methods),
    }),
  };
  if (after.name !== content.name) refuseReferred(refs.referrers, 'renamed');
  const changes = changesBetween(content, after);
  return changes ? [{ topic: 'roleUpdated', data: changes.changed }] : [];
};

export const remove = (_: RoleState, __: unknown, { refs }: Context<RoleRefs>): readonly RoleEvent[] => {
  refuseReferred(refs.referrers, 'deleted');
  return [{ topic: 'roleDeleted', data: {} }];
};
