import { Type } from 'typebox';
import { startJob } from '../../commands/operations-manager/jobs.ts';
import {
  changesSchema,
  noRows,
  oneText,
  rowStatuses,
} from '../../domain/configuration-manager/configurationChanges.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { jobStatus } from '../../domain/operations-manager/jobSchemas.ts';
import { changeRows, configurationChanges } from '../../projections/configuration-manager/configurationChanges.ts';
import { deviceGroups } from '../../projections/configuration-manager/deviceGroups.ts';
import { deviceTemplates } from '../../projections/configuration-manager/deviceTemplates.ts';
import { documentIn, documentOf, pageOf } from '../../projections/engine/documents.ts';
import { jobs } from '../../projections/operations-manager/jobs.ts';
import { refusalOf } from '../authentication/principal.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { fromStart, success } from '../engine/schemas.ts';
import { newId, requestOf } from '../engine/serve.ts';
import { backUpDeviceRow } from './deviceBackups.ts';
import { area, dryRunRow, refuseUnlessDry } from './devices.ts';

const type = 'configuration-change';
const row: Pick<Route, 'name' | 'access'> = { name: 'changeDevices', access: ['operators'] };

const change = actionRoute({
  ...row,
  method: 'post',
  starts: true,
  path: '/changes',
  summary: 'Apply a configuration to many devices',
  description:
    'A job sends it, a row for each device. It goes on after a crash and sends nothing twice. With dryRunFirst nothing is sent ' +
    'unless all devices take it.',
  alternative: dryRunRow,
  body: changesSchema,
  answer: Type.Object({ ...success.properties, jobId: Type.String() }),
  run: async (call, service) => {
    const { body, actor, principal } = call;
    const about = requestOf(row.name, call, service);
    const { devices, deviceGroups: groups, config, template, options = {} } = body;
    if (!devices && !groups)
      throw new RequestError('invalid', 'One of devices and deviceGroups is needed', { path: '/devices' });
    if ((config === undefined) === (template === undefined))
      throw new RequestError('invalid', oneText, { path: '/config' });
    refuseUnlessDry(row, options, call);
    if (!options.dryRun && options.backup !== false && !principal?.may(area, backUpDeviceRow))
      throw new RequestError('forbidden', `${refusalOf(actor, backUpDeviceRow.name)}: only without copies`, {
        path: '/options/backup',
      });
    for (const group of groups ?? []) await service.entry(deviceGroups, group, actor);
    const used = template === undefined ? undefined : await service.entry(deviceTemplates, template, actor);
    const id = newId(about.idempotency?.key);
    const { position, replayed } = await service.handle(startJob, {
      ...about,
      id,
      input: {
        workflow: 'Configuration change',
        automation: null,
        component: { type, name: 'devices' },
        type,
        groups: [],
        variables: {
          ...body,
          ...(config !== undefined && { config: service.tools.seal(config) }),
          ...(used && { template: used.id }),
        },
        inventories: await service.devices.seenBy(actor).inventoriesOf(devices ?? []),
      },
    });
    return { body: { status: 'success', message: 'The devices are being changed', jobId: id }, position, replayed };
  },
});

const status = Type.Enum([...rowStatuses], { description: 'Outcome at a device' });
const count = Type.Integer({ minimum: 0 });

const get = actionRoute({
  name: 'getConfigurationChange',
  method: 'get',
  reads: true,
  shows: configurationChanges,
  path: '/changes/:jobId',
  access: ['operators', 'readers'],
  summary: 'Show what became of a change of many devices',
  description: 'A row for each device, by name. `status` of the answer is that of the job, `totals` counts all rows.',
  query: { status: Type.Optional(status), ...fromStart },
  answer: Type.Object({
    jobId: Type.String(),
    status: jobStatus,
    totals: Type.Object(Object.fromEntries(rowStatuses.map((one) => [one, count]))),
    total: Type.Integer({ description: 'How many rows there are of the status that is asked for' }),
    list: Type.Array(
      Type.Object({
        device: Type.String(),
        status,
        reason: Type.Optional(Type.String({ description: 'Why it was not sent, was refused, or is not known' })),
        change: Type.Optional(Type.String({ description: 'Id of the change of the device' })),
        backups: Type.Optional(
          Type.Object(
            { before: Type.Union([Type.String(), Type.Null()]), after: Type.Union([Type.String(), Type.Null()]) },
            { description: 'Ids of the copies' },
          ),
        ),
        diff: Type.Optional(
          Type.Union([Type.String(), Type.Null()], { description: 'The lines that differ; secrets are masked' }),
        ),
      }),
    ),
  }),
  run: async ({ params: { jobId }, query, actor }, { model, entryById }) => {
    const job = documentIn(jobs, await entryById(jobs, jobId, actor));
    if (job.component.type !== type) throw new RequestError('not_found', 'No such change');
    const { status: only, start: skip = 0, limit = 25 } = query;
    const { totals = noRows } = (await documentOf(model, configurationChanges, jobId)) ?? {};
    const where = only && ({ field: 'status', op: 'equals', value: only } as const);
    const which = { part: jobId, ...(where && { where }), sort: 'device', order: 1, skip, limit } as const;
    const { entries, total } = await pageOf(model, changeRows, which);
    const list = entries.map((entry) => documentIn(changeRows, entry));
    return { body: { jobId, status: job.status, totals, total, list } };
  },
});

/** Changes of many devices (docs/devices.md). */
export const configurationChangeRoutes: readonly Route[] = [change, get];
