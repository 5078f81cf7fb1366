import { type Static, Type } from 'typebox';
import {
  addDeviceGroupDevices,
  createDeviceGroup,
  deleteDeviceGroup,
  deleteDeviceGroups,
  importDeviceGroups,
  removeDeviceGroupDevices,
  updateDeviceGroup,
} from '../../commands/configuration-manager/deviceGroups.ts';
import { groupMembers } from '../../commands/configuration-manager/groupMembers.ts';
import { queryAll } from '../../commands/engine/tools.ts';
import {
  deviceGroupChangesSchema,
  deviceGroupDeletions,
  deviceGroupItemSchema,
  deviceGroupSchema,
} from '../../domain/configuration-manager/deviceGroups.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { refuseUnknownIds } from '../../domain/engine/references.ts';
import { name as nameSchema } from '../../domain/engine/schemas.ts';
import { type DeviceGroup, deviceGroups } from '../../projections/configuration-manager/deviceGroups.ts';
import { documentIn, pageOf } from '../../projections/engine/documents.ts';
import { signing } from '../authorization/people.ts';
import { deletedCount, deletedCountSchema, plain, results, succeeded, withStatus } from '../engine/envelopes.ts';
import type { Envelope, Join, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { bareOrListed, changed, fromStart, orWrapped, success } from '../engine/schemas.ts';
import type { Service } from '../engine/service.ts';

const { name, description } = deviceGroupItemSchema.properties;

const oneName = '[^\\u0000-\\u001f\\u007f,]{0,256}';

/** The older form of the request for a new device group: the names of devices in one text. */
const inWords = Type.Object(
  {
    groupName: name,
    groupDescription: description,
    deviceNames: Type.String({
      description: 'Names of devices, separated by commas',
      pattern: `^${oneName}(,${oneName})*$`,
    }),
  },
  { additionalProperties: false, title: 'DeviceGroupInWords', description: 'New device group' },
);

const eitherForm = Type.Unsafe<Static<typeof inWords> | Static<typeof deviceGroupItemSchema>>({
  if: { type: 'object', required: ['groupName'], properties: { groupName: {} } },
  then: inWords,
  else: deviceGroupItemSchema,
});

const ofEitherForm = (_: unknown, body: Static<typeof eitherForm>): Static<typeof deviceGroupItemSchema> => {
  if (!('groupName' in body)) return body;
  const { groupName: name, groupDescription: description, deviceNames } = body;
  const devices = deviceNames
    .split(',')
    .map((device) => device.trim())
    .filter(Boolean);
  return defined({ name, description, devices });
};

const created: Envelope = (text) => {
  const { _id: id, name } = JSON.parse(text);
  return JSON.stringify({ id, name, message: 'Successfully created device group', status: 'success' });
};

/** Device groups in answers: with both names of the id, usernames, and the devices of queries that the caller sees. */
const showGroups = async (groups: readonly DeviceGroup[], actor: Actor, service: Service) => {
  const sign = await signing(service.model, groups);
  const { devicesOf } = groupMembers(service);
  const answers = [];
  for (const group of groups) answers.push({ id: group._id, ...sign(group), devices: await devicesOf(group, actor) });
  return answers;
};

const showGroup: Join<DeviceGroup> = async (group, service, { actor }) =>
  (await showGroups([group], actor, service))[0];

/** Exports have the query of a group, without the devices that fit it. */
const exportsOf = async (groups: readonly DeviceGroup[], { model }: Pick<Service, 'model'>) => {
  const sign = await signing(model, groups);
  return groups.map((group) => ({ id: group._id, ...sign(group) }));
};

/** The groups that have the device: by name, or by a query that the actor's devices fit. */
export const groupsWith = async (device: string, actor: Actor, service: Service): Promise<readonly DeviceGroup[]> => {
  const { tools } = service;
  const listing = await queryAll(tools, deviceGroups, { field: 'device', op: 'equals', value: device });
  const asking = await queryAll(tools, deviceGroups, { field: 'hasQuery', op: 'equals', value: 'true' });
  const { has } = groupMembers(service);
  const fitting: DeviceGroup[] = [];
  for (const group of asking) if (await has(group, device, actor)) fitting.push(group);
  return [...listing, ...fitting];
};

const path = '/devicegroups/:id';
const access = ['operators', 'readers'] as const;
const groupList = Type.Array(deviceGroupSchema, { description: 'Device groups' });

const inDetails = orWrapped('details', deviceGroupChangesSchema);

const groupDevicesRoute = (method: 'post' | 'delete') =>
  commandRoute({
    name: method === 'post' ? 'addDeviceGroupDevices' : 'removeDeviceGroupDevices',
    method,
    path: `${path}/devices`,
    access: ['operators'],
    summary: method === 'post' ? 'Add devices to a device group' : 'Remove devices from a device group',
    description: 'Each name counts once. 409 for a group with a query.',
    command: method === 'post' ? addDeviceGroupDevices : removeDeviceGroupDevices,
    envelope: succeeded(`Successfully ${method === 'post' ? 'added' : 'removed'} devices`),
    answer: success,
  });

const search = actionRoute({
  name: 'searchDeviceGroups',
  method: 'post',
  reads: true,
  path: '/deviceGroups/search',
  access,
  summary: 'Search device groups',
  description: 'Sorted by name.',
  body: Type.Object(
    {
      name: Type.Optional(Type.String({ description: 'Part of the name, in any case' })),
      options: Type.Optional(
        Type.Object(
          {
            start: fromStart.start,
            limit: Type.Optional(
              Type.Integer({ minimum: 1, maximum: 100, default: 100, description: 'How many to give' }),
            ),
          },
          { additionalProperties: false, description: 'The part of the list' },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  answer: Type.Object({ total: Type.Integer({ description: 'How many there are' }), results: groupList }),
  run: async ({ body: { name = '', options: { start = 0, limit = 100 } = {} }, actor }, service) => {
    const where = name === '' ? undefined : ({ field: 'name', op: 'contains', value: name } as const);
    const query = defined({ sort: 'name' as const, order: 1 as const, skip: start, limit, where });
    const { entries, total } = await pageOf(service.model, deviceGroups, query);
    const found = entries.map((entry) => documentIn(deviceGroups, entry));
    return { body: { total, results: await showGroups(found, actor, service) } };
  },
});

const ofDevice = actionRoute({
  name: 'getDeviceGroupsOfDevice',
  method: 'get',
  reads: true,
  path: '/groups/device/:device',
  access,
  summary: 'List the device groups that have a device',
  description: 'Those that list its name, and those whose query it fits.',
  answer: groupList,
  run: async ({ params: { device = '' }, actor }, service) => ({
    body: await showGroups(await groupsWith(device, actor, service), actor, service),
  }),
});

const groupName = nameSchema('Name of the device group');

const named = actionRoute({
  name: 'getDeviceGroupByName',
  method: 'get',
  reads: true,
  path: '/name/devicegroups',
  access,
  summary: 'Get a device group by its name',
  description: 'Its name in the query, or in the body as other programs send it.',
  query: { groupName },
  bodyInQuery: true,
  body: Type.Object({ groupName }, { additionalProperties: false }),
  answer: deviceGroupSchema,
  run: async ({ body: { groupName }, actor }, service) => {
    const group = documentIn(deviceGroups, await service.entry(deviceGroups, groupName, actor));
    return { body: (await showGroups([group], actor, service))[0] };
  },
});

const exportGroups = actionRoute({
  name: 'exportDeviceGroups',
  method: 'post',
  reads: true,
  path: '/export/groups',
  access,
  summary: 'Export device groups',
  description: 'The groups of these ids, or all. The import of device groups takes the answer back.',
  body: Type.Object(
    { groupIds: Type.Optional(Type.Array(nameSchema('Id of a device group'), { maxItems: 1000, description: 'Ids' })) },
    { additionalProperties: false },
  ),
  answer: Type.Object({ groups: groupList }),
  run: async ({ body: { groupIds } }, service) => {
    const { model, tools } = service;
    if (!groupIds) return { body: { groups: await exportsOf(await queryAll(tools, deviceGroups), service) } };
    const ids = [...new Set(groupIds)];
    const entries = await model.getMany(deviceGroups.collection, ids);
    refuseUnknownIds(
      ids.filter((_, at) => !entries[at]),
      'device group',
      '/groupIds',
    );
    const groups = entries.flatMap((entry) => (entry ? [documentIn(deviceGroups, entry)] : []));
    return { body: { groups: await exportsOf(groups, service) } };
  },
});

/** Device groups, and `importGroups`. */
export const deviceGroupRoutes: readonly Route[] = [
  mappedCommandRoute({
    name: 'createDeviceGroup',
    method: 'post',
    path: '/devicegroup',
    access: ['operators'],
    summary: 'Create a device group',
    description: 'Its devices as a list, or as names in one text, separated by commas.',
    command: createDeviceGroup,
    body: eitherForm,
    input: ofEitherForm,
    envelope: created,
    answer: Type.Object({
      id: Type.String(),
      name: Type.String(),
      message: Type.String(),
      status: Type.Literal('success'),
    }),
  }),
  listRoute({
    name: 'getDeviceGroups',
    method: 'get',
    path: '/deviceGroups',
    access: ['operators', 'readers'],
    summary: 'List device groups',
    description: 'Without a query a bare list of all.',
    list: deviceGroups,
    join: showGroup,
    bare: showGroup,
    envelope: results,
    answer: bareOrListed(deviceGroupSchema, deviceGroupSchema),
  }),
  search,
  ofDevice,
  named,
  exportGroups,
  getRoute({
    name: 'exportDeviceGroup',
    method: 'get',
    path: `${path}/export`,
    access: ['operators', 'readers'],
    summary: 'Export a device group',
    description: 'The document that the import of device groups takes back.',
    get: deviceGroups,
    exports: true,
    join: async (group, service) => (await exportsOf([group], service))[0],
    envelope: plain,
    answer: deviceGroupSchema,
  }),
  getRoute({
    name: 'getDeviceGroup',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get a device group',
    get: deviceGroups,
    join: showGroup,
    envelope: plain,
    answer: deviceGroupSchema,
  }),
  mappedCommandRoute({
    name: 'updateDeviceGroup',
    method: 'put',
    path,
    access: ['operators'],
    summary: 'Change a device group',
    description:
      'Members that are given change, in `details` or bare. A list takes the place of a query, and a query that of a list. 409 ' +
      'names the plans and trees that name a group which is to be renamed.',
    command: updateDeviceGroup,
    ...inDetails,
    envelope: succeeded('Successfully updated device group'),
    answer: success,
  }),
  groupDevicesRoute('post'),
  groupDevicesRoute('delete'),
  commandRoute({
    name: 'deleteDeviceGroups',
    method: 'delete',
    path: '/deviceGroups',
    access: ['operators'],
    summary: 'Delete device groups, all or none',
    description:
      'Ids in the body or in the query. Ids that are not there are 404, naming all; 409 names the plans and trees that name ' +
      'one. Then none is deleted.',
    query: { groupIds: deviceGroupDeletions.idList },
    bodyInQuery: true,
    command: deleteDeviceGroups,
    envelope: deletedCount,
    answer: deletedCountSchema,
  }),
  commandRoute({
    name: 'deleteDeviceGroup',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete a device group that no plan and no tree names',
    description: '409 names those that name it.',
    command: deleteDeviceGroup,
    join: showGroup,
    envelope: withStatus(() => 'Successfully deleted device group'),
    answer: changed(deviceGroupSchema),
  }),
  commandRoute({
    name: 'importGroups',
    method: 'post',
    path: '/import/groups',
    access: ['operators'],
    large: true,
    summary: 'Import device groups, all or none',
    description:
      'Takes what the list and the export give; ids, times and authors are kept. A group that exists with the same ' +
      'content is no change; other content under a used name or id is a conflict, and nothing is imported.',
    command: importDeviceGroups,
    envelope: succeeded('Successfully imported device groups'),
    answer: success,
  }),
];
