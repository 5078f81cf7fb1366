import { Type } from 'typebox';
import type { Gbac, SchemaData } from '../engine/core.ts';
import { refuseUnknownGroups } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { groupRefs, namesOf } from './groups.ts';

const lists = { read: 'Groups that may see and run it', write: 'Groups that may see, run and change it' };

/** Access lists in requests. An absent list stays as it is. */
export const gbacInput = Type.Object(
  { read: Type.Optional(groupRefs(lists.read)), write: Type.Optional(groupRefs(lists.write)) },
  { additionalProperties: false, title: 'GbacInput', description: 'Access by groups; both lists empty: everybody' },
);
export type GbacInput = SchemaData<typeof gbacInput>;

const names = (description: string) => Type.Array(name('Name of a group'), { description });

/** Access lists in documents: names of groups. */
export const gbacSchema = Type.Object(
  { read: names(lists.read), write: names(lists.write) },
  { title: 'Gbac', description: 'Access by groups; both lists empty: everybody' },
);

/** A group in other documents. */
export const groupObjectSchema = Type.Object(
  {
    provenance: Type.String({ description: 'Authentication provider that the group comes from' }),
    name: name('Name of the group'),
    description: Type.String({ description: 'Purpose of the group' }),
  },
  { title: 'GroupObject', description: 'Group' },
);
const groups = (description: string) => Type.Array(groupObjectSchema, { description });

/** Access lists in exports: group objects. */
export const gbacExport = Type.Object(
  { read: groups(lists.read), write: groups(lists.write) },
  { title: 'GbacExport', description: 'Access by groups; both lists empty: everybody' },
);

/** Lists that let admins pass alone: no group has this name. */
export const adminsAlone: Gbac = { read: [''], write: [''] };

export const everybody: Gbac = { read: [], write: [] };

/** The names in the access lists, without duplicates. */
export const groupsIn = (input: GbacInput | undefined): readonly string[] =>
  namesOf([...(input?.read ?? []), ...(input?.write ?? [])]);

/**
 * The access lists after a request. `read` without `write` is `invalid`; names in `unknown` are `not_found`, all in one
 * error. `path` points to the lists in the body.
 */
export const gbacOf = (
  input: GbacInput | undefined,
  before: Gbac,
  unknown: readonly string[],
  path = '/gbac',
): Gbac => {
  if (!input) return before;
  const after = {
    read: input.read ? namesOf(input.read) : before.read,
    write: input.write ? namesOf(input.write) : before.write,
  };
  if (after.read.length > 0 && after.write.length === 0)
    throw new RequestError('invalid', 'Groups that may read need at least one group that may write', {
      path: `${path}/write`,
    });
  refuseUnknownGroups(unknown, path);
  return after;
};
