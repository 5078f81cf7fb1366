import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { authoredByPeople, authorsOf, objectId, signatureMembers } from '../engine/authors.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { at, type DocumentKind, nowhere } from '../engine/documentKinds.ts';
import { RequestError } from '../engine/requestError.ts';
import { authors, text, topicsOf } from '../engine/topics.ts';
import {
  contentOf,
  type DeviceGroupContent,
  deviceGroup,
  deviceGroupItemSchema,
  deviceGroupName,
  groupContent,
} from './deviceGroups.ts';

/** A device group in an import, as lists give it. */
const importedGroup = Type.Object(
  {
    ...deviceGroupItemSchema.properties,
    _id: Type.Optional(Type.String({ description: 'Id; any other than 24 hexadecimal digits is not kept' })),
    id: Type.Optional(Type.String({ description: 'The same' })),
    ...authoredByPeople,
  },
  { additionalProperties: false, title: 'ImportedDeviceGroup', description: 'Device group to take in' },
);

export const deviceGroupImportSchema = Type.Object(
  {
    groups: Type.Array(importedGroup, { description: 'Device groups to take in: all or none', maxItems: 1000 }),
  },
  { additionalProperties: false, title: 'DeviceGroupImport', description: 'Device groups to take in' },
);

const decision = Type.Object({
  groups: Type.Array(
    Type.Object({ _id: text, ...groupContent.properties, ...Type.Partial(Type.Object(authors)).properties }),
  ),
});
export type DeviceGroupsImported = SchemaData<typeof decision>;

const topics = topicsOf({
  deviceGroupsImported: ['Device groups are to be taken in', decision],
});
export type DeviceGroupImportEvent = EventOf<typeof topics>;

/** The decision to import several device groups, all or none. It is carried out in the streams of the groups. */
export const deviceGroupImport = aggregate<DeviceGroupsImported, DeviceGroupImportEvent>({
  area: 'configuration-manager',
  category: 'deviceGroupImport',
  topics,
  initial: { groups: [] },
  evolve: { deviceGroupsImported: (_, imported) => imported },
  exists: ({ groups }) => groups.length > 0,
  reservations: ({ groups }) =>
    groups.map(({ _id, name }) => ({ owner: `deviceGroup-${_id}`, name: deviceGroupName(name) })),
});

export type DeviceGroupImportRefs = {
  /** The existing groups whose names are in the request, by name. */
  readonly existing: ReadonlyMap<string, DeviceGroupContent>;
  /** The ids of the request that groups have. */
  readonly ids: ReadonlySet<string>;
  /** Account ids by username. */
  readonly accounts: Readonly<Record<string, string>>;
};

const isId = Compile(objectId(''));

/** The id that an imported group keeps; undefined if it has none, or one that no group can have here. */
export const importedGroupId = ({
  id,
  _id = id,
}: {
  readonly _id?: string;
  readonly id?: string;
}): string | undefined => (isId.Check(_id) ? _id : undefined);

/**
 * Decides `importGroups`. An existing group with the same content is no change, with other content a conflict. So is
 * the id of a group that has another name.
 */
export const decideImport = (
  _: unknown,
  input: Static<typeof deviceGroupImportSchema>,
  context: Context<DeviceGroupImportRefs>,
): readonly DeviceGroupImportEvent[] => {
  const { newId, refs } = context;
  const groups = input.groups.map(({ id, ...group }) => ({ ...defined({ _id: id }), ...group }));
  refuseRepeated(groups, 'name');
  refuseRepeated(groups, '_id');

  const others = groups.flatMap((group, i) => {
    const there = refs.existing.get(group.name);
    if (there && !alike(there, contentOf(group)))
      return [{ ...conflict('with other content', group), path: `/groups/${i}` }];
    const id = importedGroupId(group);
    if (there || id === undefined || !refs.ids.has(id)) return [];
    return [{ ...conflict('under another name: its id is used', group), path: `/groups/${i}/_id` }];
  });
  if (others.length > 0)
    throw new RequestError(
      'conflict',
      `Device groups exist with other content: ${others.map(({ name }) => name).join(', ')}`,
      { faults: others },
    );

  const news = groups.filter(({ name }) => !refs.existing.has(name));
  return news.length > 0
    ? [
        {
          topic: 'deviceGroupsImported',
          data: {
            groups: news.map((group) => ({
              _id: importedGroupId(group) ?? newId(`device group ${group.name}`),
              ...contentOf(group),
              ...(signatureMembers.some((member) => group[member] !== undefined) &&
                authorsOf(group, refs.accounts, context)),
            })),
          },
        },
      ]
    : [];
};

const conflict = (how: string, { name }: { readonly name: string }) => ({
  message: `The device group ${JSON.stringify(name)} exists ${how}`,
  name,
});

const refuseRepeated = (groups: readonly Static<typeof importedGroup>[], member: 'name' | '_id'): void => {
  const values = groups.map((group) => group[member]);
  const repeated = values.flatMap((value, i) =>
    value !== undefined && values.indexOf(value) < i
      ? [{ message: `${JSON.stringify(value)} is named twice`, path: `/groups/${i}/${member}` }]
      : [],
  );
  if (repeated.length > 0)
    throw new RequestError('invalid', 'Names and ids must be unique within the request', { faults: repeated });
};

/** The order of devices does not matter. */
const alike = (a: DeviceGroupContent, b: DeviceGroupContent): boolean =>
  a.description === b.description && same([...a.devices].sort(), [...b.devices].sort()) && same(a.query, b.query);

/** The members of a device group beside its name and devices. */
const otherMembers: readonly string[] = ['_id', 'id', 'description', 'query', ...signatureMembers];

/** Device groups of any installation. */
export const deviceGroupDocuments: DocumentKind = {
  of: deviceGroup,
  name: 'device group',
  types: [],
  secrets: nowhere,
  is: ({ name, devices, ...others }) =>
    typeof name === 'string' &&
    Array.isArray(devices) &&
    devices.every((one) => typeof one === 'string') &&
    Object.keys(others).every((member) => otherMembers.includes(member)),
  importing: (document) => ({
    method: 'POST',
    path: '/configuration_manager/import/groups',
    body: `{"groups":[${document}]}`,
  }),
  ...at('/configuration_manager/deviceGroups', '/configuration_manager/devicegroups'),
};
