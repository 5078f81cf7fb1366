import { type Static, Type } from 'typebox';
import {
  createDeviceGroup,
  deleteDeviceGroup,
  importDeviceGroups,
} from '../../commands/configuration-manager/deviceGroups.ts';
import { deviceGroupItemSchema, deviceGroupSchema } from '../../domain/configuration-manager/deviceGroups.ts';
import { defined } from '../../domain/engine/defined.ts';
import { deviceGroups } from '../../projections/configuration-manager/deviceGroups.ts';
import { signed, signing } from '../authorization/people.ts';
import { plain, results, succeeded, withStatus } from '../engine/envelopes.ts';
import type { Envelope, Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { bareOrListed, changed, success } from '../engine/schemas.ts';

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

const listedGroupSchema = Type.Object(
  { id: deviceGroupSchema.properties._id, ...deviceGroupSchema.properties },
  { title: 'ListedDeviceGroup', description: 'Device group in the list of all' },
);

const path = '/devicegroups/:id';

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
    join: signed,
    bare: async (group, { model }) => {
      const sign = await signing(model, [group]);
      return { id: group._id, ...sign(group) };
    },
    envelope: results,
    answer: bareOrListed(listedGroupSchema, deviceGroupSchema),
  }),
  getRoute({
    name: 'exportDeviceGroup',
    method: 'get',
    path: `${path}/export`,
    access: ['operators', 'readers'],
    summary: 'Export a device group',
    description: 'What the import of device groups takes back.',
    get: deviceGroups,
    exports: true,
    join: signed,
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
    join: signed,
    envelope: plain,
    answer: deviceGroupSchema,
  }),
  commandRoute({
    name: 'deleteDeviceGroup',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete a device group that no plan names',
    description: '409 names the plans that name it.',
    command: deleteDeviceGroup,
    join: signed,
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
