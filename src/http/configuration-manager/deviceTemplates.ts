import { isObject, type Members } from '@automation-platform/json';
import { Type } from 'typebox';
import {
  createDeviceTemplate,
  type DeviceTexts,
  deleteDeviceTemplates,
  importDeviceTemplate,
  updateDeviceTemplate,
} from '../../commands/configuration-manager/deviceTemplates.ts';
import { type ChangeOptions, changeOptionsSchema } from '../../domain/configuration-manager/changeOptions.ts';
import {
  deviceTemplateChangesSchema,
  deviceTemplateDeletions,
  deviceTemplateItemSchema,
  deviceTemplateSchema,
} from '../../domain/configuration-manager/deviceTemplates.ts';
import { defined } from '../../domain/engine/defined.ts';
import { name } from '../../domain/engine/schemas.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { type DeviceTemplate, deviceTemplates } from '../../projections/configuration-manager/deviceTemplates.ts';
import { documentIn, pageOf } from '../../projections/engine/documents.ts';
import type { FoundDevice } from '../../southbound/port.ts';
import { signed } from '../authorization/people.ts';
import { deletedCount, deletedCountSchema, plain } from '../engine/envelopes.ts';
import { importRoute } from '../engine/imports.ts';
import type { Join, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, mappedCommandRoute } from '../engine/routes.ts';
import { fromStart, sortedBy } from '../engine/schemas.ts';
import { requestOf } from '../engine/serve.ts';
import { answerOf, changeOf, dryRunRow } from './devices.ts';

declare module '../engine/service.ts' {
  interface Service {
    /** Renders device templates. */
    readonly deviceTexts: DeviceTexts;
  }
}

const path = '/templates';

/** A template in answers: with both names of its id, usernames, and masked secrets. */
const showTemplate: Join<DeviceTemplate> = async (doc, service, call) => ({
  id: doc._id,
  ...(maskSecrets(await signed(doc, service, call)) as object),
});

const optionsMember = Type.Optional(Type.Unsafe<ChangeOptions>(changeOptionsSchema));
const variablesMember = Type.Optional(
  Type.Unsafe<Members>(Type.Object({}, { additionalProperties: true, description: 'Variables by name' })),
);

const search = actionRoute({
  name: 'searchDeviceTemplates',
  method: 'post',
  reads: true,
  shows: deviceTemplates,
  path: `${path}/search`,
  access: ['operators', 'readers'],
  summary: 'Search device templates',
  description: 'Sorted by name.',
  body: Type.Object(
    {
      name: Type.Optional(Type.String({ description: 'Part of the name in any case, or the id' })),
      options: Type.Optional(
        Type.Object(
          { ...fromStart, sort: sortedBy('name') },
          { additionalProperties: false, description: 'The part of the list' },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  answer: Type.Object({ list: Type.Array(deviceTemplateSchema), total: Type.Integer() }),
  run: async (call, service) => {
    const { name: part = '', options: { start = 0, limit = 25, sort } = {} } = call.body;
    const named = await service.model.get(deviceTemplates.collection, part);
    const where = part === '' ? undefined : ({ field: 'name', op: 'contains', value: part } as const);
    const query = defined({ sort: 'name' as const, order: sort?.name ?? 1, skip: start, limit, where });
    const page = named ? { entries: [named], total: 1 } : await pageOf(service.model, deviceTemplates, query);
    const list = [];
    for (const entry of page.entries) list.push(await showTemplate(documentIn(deviceTemplates, entry), service, call));
    return { body: { list, total: page.total } };
  },
});

const update = mappedCommandRoute({
  name: 'updateDeviceTemplate',
  method: 'put',
  path,
  access: ['operators'],
  summary: 'Change a device template',
  description: 'Members that are given change. ******** keeps a secret.',
  command: updateDeviceTemplate,
  named: (_, { id }) => id,
  body: Type.Object(
    {
      id: name('Id or name of the device template'),
      data: deviceTemplateChangesSchema,
      options: deviceTemplateChangesSchema.properties.options,
    },
    { additionalProperties: false },
  ),
  input: (_, { data, options }) => ({ ...data, ...defined({ options: data.options ?? options }) }),
  // A request that changed nothing is not known under its key.
  envelope: (_, { changed, replayed }) => JSON.stringify({ status: 'success', updated: changed || replayed ? 1 : 0 }),
  answer: Type.Object({ status: Type.Literal('success'), updated: Type.Integer() }),
});

const take = importRoute({
  name: 'importDeviceTemplates',
  method: 'post',
  path: '/import/templates',
  access: ['operators'],
  summary: 'Import device templates',
  description: 'Takes what a search answers. A template that is there with the same content is no change.',
  member: 'templates',
  document: deviceTemplateItemSchema,
  itemSchema: deviceTemplateSchema,
  take: async ({ document, overwrite, fresh, about }, service, call) => {
    const {
      id,
      _id = id ?? fresh,
      created: _,
      createdBy: __,
      lastUpdated: ___,
      lastUpdatedBy: ____,
      ...template
    } = document;
    const input = { template, overwrite };
    const { doc, position, replayed } = await service.handle(importDeviceTemplate, { ...about, id: _id, input });
    return { data: await showTemplate(doc as DeviceTemplate, service, call), position, replayed }; // its own document
  },
});

const applyRow: Pick<Route, 'name' | 'access'> = { name: 'applyDeviceTemplate', access: ['operators'] };

const apply = actionRoute({
  ...applyRow,
  method: 'post',
  path: `${path}/apply`,
  summary: 'Apply a device template to a device',
  description:
    'Renders it with the variables and the facts about the device, then does as with any configuration. 409 for a device of a type ' +
    'that it is not for.',
  alternative: dryRunRow,
  body: Type.Object(
    {
      deviceName: name('Name of a device'),
      templateId: name('Id or name of a device template'),
      variables: variablesMember,
      options: optionsMember,
    },
    { additionalProperties: false },
  ),
  answer: Type.Object(
    {
      status: Type.String(),
      result: Type.Array(Type.Object({ value: Type.Any({ description: "The adapter's answer" }) })),
      chosenAdapter: Type.String({ description: "Name of the device's source" }),
    },
    { additionalProperties: true },
  ),
  run: async (call, service) => {
    const { deviceName, templateId, variables = {}, options = {} } = call.body;
    const { actor } = call;
    requestOf(applyRow.name, call, service);
    const config = async (found: FoundDevice) => {
      const template = documentIn(deviceTemplates, await service.entry(deviceTemplates, templateId, actor));
      return service.deviceTexts(template, { found, actor, variables, signal: call.abandoned() });
    };
    const change = await changeOf({ row: applyRow, deviceName }, call, service, { options, config });
    const { text = 'null', ...answer } = await answerOf(change, service);
    const value: unknown = JSON.parse(String(text));
    const body = isObject(value) ? value : {};
    const status = typeof body.status === 'string' ? body.status : 'success';
    return { ...answer, body: { ...body, status, result: [{ value }], chosenAdapter: change.found.source.name } };
  },
});

/** Device templates (docs/southbound.md). */
export const deviceTemplateRoutes: readonly Route[] = [
  commandRoute({
    name: 'createDeviceTemplate',
    method: 'post',
    path,
    access: ['operators'],
    summary: 'Create a device template',
    description: 'Its variables may hold secrets, which are kept sealed.',
    command: createDeviceTemplate,
    join: showTemplate,
    envelope: (text) => `{"result":"success","data":${text}}`,
    answer: Type.Object({ result: Type.Literal('success'), data: deviceTemplateSchema }),
  }),
  search,
  getRoute({
    name: 'getDeviceTemplate',
    method: 'get',
    path: `${path}/:id`,
    access: ['operators', 'readers'],
    summary: 'Get a device template',
    get: deviceTemplates,
    join: showTemplate,
    envelope: plain,
    answer: deviceTemplateSchema,
  }),
  update,
  commandRoute({
    name: 'deleteDeviceTemplates',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete device templates, all or none',
    description: 'Ids in the body or in the query. Ids that are not there are 404, naming all; then none is deleted.',
    query: { templateIds: deviceTemplateDeletions.idList },
    bodyInQuery: true,
    command: deleteDeviceTemplates,
    envelope: deletedCount,
    answer: deletedCountSchema,
  }),
  take,
  apply,
];
