import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { deviceFacts } from '../../commands/configuration-manager/deviceChecks.ts';
import { groupMembers } from '../../commands/configuration-manager/groupMembers.ts';
import { queryAll } from '../../commands/engine/tools.ts';
import { checkOf, specLineSchema, whyNotCompared } from '../../domain/configuration-manager/complianceReports.ts';
import { lastOf, lineAt, linesOf, nodesOf, pathOf } from '../../domain/configuration-manager/treeNodes.ts';
import { tree, versionOf } from '../../domain/configuration-manager/trees.ts';
import { objectId } from '../../domain/engine/authors.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { closed, name } from '../../domain/engine/schemas.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { deviceGroups } from '../../projections/configuration-manager/deviceGroups.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import { documentIn } from '../../projections/engine/documents.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { groupsWith } from './deviceGroups.ts';

const access = ['operators', 'readers'] as const;

const refuseType = (type: string, path: string): void => {
  const reason = whyNotCompared(type);
  if (reason !== undefined) throw new RequestError('conflict', reason, { path });
};

const lines = Type.Array(specLineSchema, { description: 'Lines' });

/** Texts that are made from configurations, and configurations from texts. */
const textRoutes: readonly Route[] = [
  actionRoute({
    name: 'generateConfigSpec',
    method: 'post',
    path: '/generate/config_spec',
    access,
    large: true,
    summary: 'Make a golden text from a configuration',
    description:
      'The lines, each required; with template: true the text as well, in Jinja2. The configuration fits it. 400 names the ' +
      'line that cannot be read. Nothing is stored.',
    body: closed({
      nativeConfig: Type.String({ minLength: 1, description: 'Configuration of a device' }),
      deviceType: name('Type of the device'),
      options: Type.Optional(
        closed(
          { template: Type.Optional(Type.Boolean({ description: 'True: the answer has the text' })) },
          { description: 'Form of the answer' },
        ),
      ),
    }),
    answer: Type.Union([
      lines,
      Type.Object({ template: Type.String({ description: 'The text, in Jinja2' }), lines }, { description: 'Text' }),
    ]),
    run: async ({ body: { nativeConfig, deviceType, options = {} }, actor, abandoned }, { renderer }) => {
      refuseType(deviceType, '/deviceType');
      const outcome = await renderer.generate({ nativeConfig, deviceType }, { account: actor.id, signal: abandoned() });
      if ('reason' in outcome)
        throw new RequestError('invalid', `The configuration cannot be read: line ${outcome.line}: ${outcome.reason}`, {
          faults: [{ message: outcome.reason, line: outcome.line, path: '/nativeConfig' }],
        });
      return { body: options.template ? outcome : outcome.lines };
    },
  }),
  actionRoute({
    name: 'translateConfigSpec',
    method: 'post',
    path: '/translate/config_spec',
    access,
    summary: 'Write the lines that a node requires, as a device writes them',
    description:
      'Those of the nodes above it, too; without tags. Expressions stay. 422 names the text and the line that does not ' +
      "render with the version's variables, whose secrets are masked.",
    body: closed({
      treeID: name('Id or name of the tree'),
      version: name('Name of the version'),
      nodePath: Type.String({ minLength: 1, maxLength: 4096, description: 'Path of the node' }),
    }),
    answer: Type.Object({ config: Type.String({ description: 'Configuration' }) }),
    run: async ({ body: { treeID, version: named, nodePath }, actor, abandoned }, service) => {
      const { id } = await service.entry(trees, treeID, actor);
      const state = await service.tools.state(tree, id);
      const deviceType = state.deviceType ?? '';
      refuseType(deviceType, '/treeID');
      const version = versionOf(state, named, '/version');
      const line = lineAt(version.root, nodePath, '/nodePath');
      const texts = line.map(({ template = '' }) => template);
      const variables = maskSecrets(version.variables) as typeof version.variables;
      const run = { texts, variables, deviceType };
      const outcome = await service.renderer.translate(run, { account: actor.id, signal: abandoned() });
      if ('config' in outcome) return { body: outcome };
      const node = line[outcome.text]?.name;
      throw new RequestError('unprocessable', `The text of ${node}, line ${outcome.line}: ${outcome.reason}`, {
        path: '/nodePath',
      });
    },
  }),
];

const deviceTrees = actionRoute({
  name: 'getDeviceTrees',
  method: 'post',
  reads: true,
  path: '/devices/device/trees',
  access,
  summary: 'List the nodes of golden configurations that a device is in',
  description: 'By its name, or by a device group that has it.',
  body: closed({ device: name('Name of the device') }),
  answer: Type.Array(
    Type.Object({
      id: objectId('Id of the tree'),
      name: Type.String({ description: 'Name of the tree' }),
      version: Type.String({ description: 'Name of the version' }),
      nodePath: Type.String({ description: 'Path of the node' }),
      nodeId: objectId('configId of the node'),
    }),
  ),
  run: async ({ body: { device }, actor }, service) => {
    const { tools } = service;
    const groups = await groupsWith(device, actor, service);
    const ofDevice = new Set(groups.flatMap(({ _id, name }) => [_id, name]));
    const any = [
      { field: 'device', op: 'equals', value: device } as const,
      ...[...ofDevice].map((value) => ({ field: 'deviceGroup', op: 'equals', value }) as const),
    ];
    const found = await queryAll(tools, trees, { any });
    return {
      body: found.flatMap(({ _id: id, name, versions }) =>
        versions.flatMap(({ name: version, root }) =>
          linesOf(root).flatMap((line) => {
            const { configId: nodeId, devices = [], deviceGroups: named = [] } = lastOf(line);
            const isIn = devices.includes(device) || named.some((group) => ofDevice.has(group));
            return isIn ? [{ id, name, version, nodePath: pathOf(line), nodeId }] : [];
          }),
        ),
      ),
    };
  },
});

const treeDevices = actionRoute({
  name: 'getTreeDevices',
  method: 'post',
  reads: true,
  path: '/devices/tree',
  access,
  summary: 'List the devices of a tree',
  description: 'The names of those in its nodes, and in their device groups. Without a version, of all versions.',
  body: closed({ treeId: name('Id or name of the tree'), version: Type.Optional(name('Name of the version')) }),
  answer: Type.Array(Type.String(), { description: 'Names, sorted' }),
  run: async ({ body: { treeId, version }, actor }, service) => {
    const { entry, tools } = service;
    const members = groupMembers(service);
    const doc = documentIn(trees, await entry(trees, treeId, actor));
    const versions = version === undefined ? doc.versions : [versionOf(doc, version, '/version')];
    const nodes = versions.flatMap(({ root }) => nodesOf(root));
    const names = new Set(nodes.flatMap(({ devices = [] }) => devices));
    for (const group of new Set(nodes.flatMap(({ deviceGroups = [] }) => deviceGroups))) {
      const id = await tools.find(deviceGroups, group);
      const found = id === undefined ? undefined : await tools.shown(deviceGroups, id);
      for (const device of found ? await members.devicesOf(found, actor) : []) names.add(device);
    }
    return { body: [...names].sort() };
  },
});

const renderedTexts = actionRoute({
  name: 'getConfigTemplate',
  method: 'post',
  path: '/config_template',
  access,
  summary: 'Render the text of a node',
  description:
    "With the version's variables, whose secrets are masked, and those of the options over them. `device` names the device " +
    'that the texts see.',
  body: closed({
    treeId: name('Id or name of the tree'),
    version: name('Name of the version'),
    nodePath: Type.String({ minLength: 1, maxLength: 4096, description: 'Path of the node' }),
    options: Type.Optional(
      closed(
        {
          variables: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'Variables by name' })),
          device: Type.Optional(name('Name of the device')),
        },
        { description: 'Further variables, and the device' },
      ),
    ),
  }),
  answer: Type.Object({
    currentTemplate: Type.String({ description: 'The text of the node' }),
    inheritedTemplate: Type.String({ description: 'The texts of the nodes above it, the root first' }),
    template: Type.String({ description: 'Both' }),
  }),
  run: async ({ body, actor, abandoned }, service) => {
    const { id: treeId } = await service.entry(trees, body.treeId, actor);
    const state = await service.tools.state(tree, treeId);
    const version = versionOf(state, body.version, '/version');
    const line = lineAt(version.root, body.nodePath, '/nodePath');
    const { device = '', variables: further } = body.options ?? {};
    const { device: facts } =
      device === '' ? { device: { name: '' } } : await deviceFacts(service).factsOf(device, actor);
    const { texts, variables } = checkOf(state, { treeId, version, line }, facts, further as Members | undefined);
    const visible = maskSecrets(variables) as typeof variables;
    const about = { account: actor.id, signal: abandoned(), find: async () => undefined };
    const parts: string[] = [];
    for (const text of texts) parts.push(await service.renderer.render(text, visible, about));
    const join = (texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n');
    return {
      body: {
        currentTemplate: parts.at(-1) ?? '',
        inheritedTemplate: join(parts.slice(0, -1)),
        template: join(parts),
      },
    };
  },
});

/** Texts and configurations made from one another, and the nodes of a device. */
export const configSpecRoutes: readonly Route[] = [...textRoutes, renderedTexts, deviceTrees, treeDevices];
