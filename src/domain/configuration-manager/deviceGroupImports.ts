import { type Static, Type } from 'typebox';
import { authoredByPeople } from '../engine/authors.ts';
import { same } from '../engine/changes.ts';
import { aggregate, type Context, type Event } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';
import { contentOf, type DeviceGroupContent, deviceGroupItemSchema, deviceGroupName } from './deviceGroups.ts';

/** A device group in an import, as lists give it. Its id, times and authors are not kept. */
const importedGroup = Type.Object(
  {
    ...deviceGroupItemSchema.properties,
    description: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'What it is for' })),
    _id: Type.Optional(Type.String({ description: 'Not kept' })),
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

export type DeviceGroupsImported = { readonly groups: readonly (DeviceGroupContent & { readonly _id: string })[] };

export type DeviceGroupImportEvent = Event<'deviceGroupsImported', DeviceGroupsImported>;

/** The decision to import several device groups, all or none. It is carried out in the streams of the groups. */
export const deviceGroupImport = aggregate<DeviceGroupsImported, DeviceGroupImportEvent>({
  area: 'configuration-manager',
  category: 'deviceGroupImport',
  initial: { groups: [] },
  evolve: { deviceGroupsImported: (_, imported) => imported },
  exists: ({ groups }) => groups.length > 0,
  reservations: ({ groups }) =>
    groups.map(({ _id, name }) => ({ owner: `deviceGroup-${_id}`, name: deviceGroupName(name) })),
});

/** The existing groups whose names are in the request, by name. */
export type DeviceGroupImportRefs = { readonly existing: ReadonlyMap<string, DeviceGroupContent> };

/** Decides `importGroups`. An existing group with the same content is no change, with other content a conflict. */
export const decideImport = (
  _: unknown,
  { groups }: Static<typeof deviceGroupImportSchema>,
  { newId, refs }: Context<DeviceGroupImportRefs>,
): readonly DeviceGroupImportEvent[] => {
  const seen = new Set<string>();
  const repeated = groups.flatMap(({ name }, i) =>
    seen.size === seen.add(name).size
      ? [{ message: `${JSON.stringify(name)} is named twice`, path: `/groups/${i}/name` }]
      : [],
  );
  if (repeated.length > 0)
    throw new RequestError('invalid', 'Names must be unique within the request', { faults: repeated });

  const wanted = groups.map(({ description, ...group }) => contentOf({ ...group, description: description ?? '' }));
  const others = wanted.flatMap((group, i) => {
    const there = refs.existing.get(group.name);
    return there && !alike(there, group)
      ? [
          {
            message: `The device group ${JSON.stringify(group.name)} exists with other content`,
            path: `/groups/${i}`,
            name: group.name,
          },
        ]
      : [];
  });
  if (others.length > 0)
    throw new RequestError(
      'conflict',
      `Device groups exist with other content: ${others.map(({ name }) => name).join(', ')}`,
      { faults: others },
    );

  const news = wanted.filter(({ name }) => !refs.existing.has(name));
  return news.length > 0
    ? [
        {
          topic: 'deviceGroupsImported',
          data: { groups: news.map((group) => ({ _id: newId(`device group ${group.name}`), ...group })) },
        },
      ]
    : [];
};

/** The order of devices does not matter. */
const alike = (a: DeviceGroupContent, b: DeviceGroupContent): boolean =>
  a.description === b.description && same([...a.devices].sort(), [...b.devices].sort());
