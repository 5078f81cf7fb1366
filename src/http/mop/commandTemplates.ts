import { Type } from 'typebox';
import { groupMembers } from '../../commands/configuration-manager/groupMembers.ts';
import { refuseRun } from '../../commands/engine/access.ts';
import {
  createCommandTemplate,
  deleteCommandTemplate,
  updateCommandTemplate,
} from '../../commands/mop/commandTemplates.ts';
import { runCommandTemplate, type Ways } from '../../commands/mop/runTemplates.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { name } from '../../domain/engine/schemas.ts';
import {
  commandTemplate,
  commandTemplateSchema,
  commandText,
  contentOf,
  ruleSchema,
} from '../../domain/mop/commandTemplates.ts';
import { deviceGroups } from '../../projections/configuration-manager/deviceGroups.ts';
import { documentIn } from '../../projections/engine/documents.ts';
import { commandTemplates } from '../../projections/mop/commandTemplates.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import type { Service } from '../engine/service.ts';
import {
  changesOfTemplates,
  creationAnswer,
  runSchema,
  templateNamed,
  templateRoute,
  templatesRoute,
  verdictMembers,
} from './mopTemplates.ts';

const ruleResult = Type.Object(
  {
    ...ruleSchema.properties,
    rule: Type.String(),
    ruleB: Type.Optional(Type.String()),
    raw: Type.String(),
    ...verdictMembers,
  },
  { title: 'CommandRuleResult', description: 'A rule with its variables put in, and what it says of an answer' },
);
const commandResult = Type.Object(
  {
    raw: Type.String({ description: 'The command before variables were put in' }),
    evaluated: Type.String({ description: 'The command as the device was asked' }),
    device: Type.String({ description: 'Name of the device' }),
    response: Type.String({ description: 'Its answer, or the reason why there is none' }),
    result: Type.Boolean({ description: 'True if the command passed' }),
    all_pass_flag: Type.Boolean({ description: 'passRule of the command' }),
    rules: Type.Array(ruleResult),
  },
  { title: 'CommandResult', description: 'A command on a device' },
);

const mostDevices = 1000;

type Asked = {
  readonly devices?: readonly string[] | undefined;
  readonly deviceGroups?: readonly string[] | undefined;
};

/** The names of all devices, of groups those that the actor sees. */
const namesOf = async ({ devices, deviceGroups: groups }: Asked, actor: Actor, service: Service) => {
  if (!devices && !groups)
    throw new RequestError('invalid', 'One of devices and deviceGroups is needed', { path: '/devices' });
  const { devicesOf } = groupMembers(service);
  const names = new Set(devices);
  for (const group of groups ?? []) {
    const found = documentIn(deviceGroups, await service.entry(deviceGroups, group, actor));
    for (const name of await devicesOf(found, actor)) names.add(name);
  }
  if (names.size === 0) throw new RequestError('conflict', 'The groups have no devices', { path: '/deviceGroups' });
  if (names.size > mostDevices)
    throw new RequestError('conflict', `It may ask ${mostDevices} devices; these are ${names.size}`, {
      path: '/deviceGroups',
    });
  return [...names];
};

/** The ways to the devices that the actor sees. */
const waysOf = (actor: Actor, traceparent: string | undefined, { devices }: Service): Ways => {
  const { find, calls } = devices.seenBy(actor);
  return { find, ...calls(traceparent) };
};

const devicesToAsk = Type.Array(name('Name of a device'), {
  minItems: 1,
  maxItems: mostDevices,
  description: 'Devices to ask',
});

const run = actionRoute({
  name: 'runCommandTemplate',
  method: 'post',
  path: '/RunCommandTemplate',
  access: ['operators'],
  summary: 'Run a command template on devices',
  description:
    'Up to 8 devices at once. A device that fails is told in its results. Unknown devices: 404 naming all; ' +
    'missing variables: 422 naming all; then nothing is asked.',
  body: Type.Object(
    {
      template: templateNamed,
      devices: Type.Optional(devicesToAsk),
      deviceGroups: Type.Optional(
        Type.Array(name('Id or name of a device group'), {
          minItems: 1,
          maxItems: 1000,
          description: 'Groups of devices to ask; 1,000 devices at most in all',
        }),
      ),
      variables: Type.Optional(
        Type.Unsafe<Readonly<Record<string, unknown>>>(
          Type.Object(
            {},
            {
              additionalProperties: true,
              description: 'Values for <!name!> in commands and rules: texts, numbers, truth values',
            },
          ),
        ),
      ),
    },
    { additionalProperties: false },
  ),
  answer: runSchema('CommandTemplateRun', 'Results device by device, commands in their order', commandResult),
  run: async ({ body: { template, devices, deviceGroups, variables = {} }, actor, traceparent }, service) => {
    const { id, text } = await service.entry(commandTemplates, template, actor);
    await refuseRun({ of: commandTemplate, id }, actor, service.tools);
    const names = await namesOf({ devices, deviceGroups }, actor, service);
    const ways = waysOf(actor, traceparent, service);
    return { body: await runCommandTemplate(contentOf(JSON.parse(text)), names, variables, ways) };
  },
});

const runCommands = actionRoute({
  name: 'runCommandDevices',
  method: 'post',
  path: '/RunCommandDevices',
  access: ['operators'],
  summary: 'Run a command on devices',
  description:
    'As a run of a template with this command alone: up to 8 devices at once, unknown devices 404 naming all. A ' +
    'variable <!name!> has no value here: 422.',
  body: Type.Object({ command: commandText, devices: devicesToAsk }, { additionalProperties: false }),
  answer: Type.Array(
    Type.Object(
      {
        ...Type.Pick(commandResult, ['device', 'raw', 'response']).properties,
        result: Type.Boolean({ description: 'True if the device answered' }),
      },
      { title: 'DeviceAnswer', description: 'The answer of a device to a command' },
    ),
  ),
  run: async ({ body: { command, devices }, actor, traceparent }, service) => {
    const template = contentOf({ name: command, commands: [{ command }] });
    const { commands_results: answers } = await runCommandTemplate(
      template,
      devices,
      {},
      waysOf(actor, traceparent, service),
    );
    return { body: answers.map(({ device, raw, response, result }) => ({ device, raw, response, result })) };
  },
});

const usual = changesOfTemplates('template', commandTemplates, commandTemplateSchema);

/** Command templates (docs/command-templates.md). */
export const commandTemplateRoutes: readonly Route[] = [
  templatesRoute('listTemplates', 'command templates', commandTemplates, commandTemplateSchema),
  templateRoute('listATemplate', 'a command template', commandTemplates, commandTemplateSchema),
  usual.create({
    name: 'createTemplate',
    path: '/createTemplate',
    summary: 'Create a command template',
    command: createCommandTemplate,
    ...creationAnswer('template', commandTemplateSchema),
  }),
  usual.update({
    name: 'updateTemplate',
    method: 'post',
    path: '/updateTemplate/:id',
    summary: 'Replace a command template',
    description:
      'Brings it to what the document says; what that leaves out gets its default. Id, times and authors of ' +
      'the document change nothing.',
    command: updateCommandTemplate,
  }),
  usual.remove({
    name: 'deleteTemplate',
    method: 'post',
    path: '/deleteTemplate/:id',
    summary: 'Delete a command template that no automation runs',
    command: deleteCommandTemplate,
  }),
  run,
  runCommands,
];
