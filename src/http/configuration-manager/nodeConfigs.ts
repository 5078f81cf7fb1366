import { type Static, Type } from 'typebox';
import { setTreeNodeText } from '../../commands/configuration-manager/trees.ts';
import { type Checked, specLineSchema } from '../../domain/configuration-manager/complianceReports.ts';
import { refuseText } from '../../domain/configuration-manager/treeChanges.ts';
import { findNode, type Line, lineAt } from '../../domain/configuration-manager/treeNodes.ts';
import {
  nodeConfigSchema,
  type nodeTextSchema,
  type TreeVersion,
} from '../../domain/configuration-manager/treeSchemas.ts';
import { merged, type TreeState, tree, versionOf } from '../../domain/configuration-manager/trees.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { closed } from '../../domain/engine/schemas.ts';
import { maskNamed, maskSecrets } from '../../domain/engine/secretFields.ts';
import { trees } from '../../projections/configuration-manager/trees.ts';
import type { Specified } from '../../southbound/port.ts';
import type { Answer, Call, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { success } from '../engine/schemas.ts';
import { etagOf, requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';

type Text = Pick<TreeVersion, 'variables'> & { readonly template: string };

/** The lines of a text with the variables of its version, whose secrets are masked; undefined of what has no lines. */
export const readText = async (
  { template, variables }: Text,
  { deviceType }: TreeState,
  { actor, abandoned }: Call,
  { renderer }: Service,
): Promise<Specified | undefined> => {
  if (deviceType === 'json') return undefined;
  const visible = maskSecrets(variables) as Text['variables'];
  const run = { template, variables: visible, deviceType: deviceType ?? '' };
  try {
    return await renderer.specify(run, { account: actor.id, signal: abandoned() });
  } catch (error) {
    // It takes too much time or memory with these variables.
    if (error instanceof RequestError && error.code === 'unprocessable')
      return { reason: error.message, line: 1, when: 'rendering' };
    throw error;
  }
};

type NewText = Static<typeof nodeTextSchema> & { readonly treeId: string };

/**
 * Reads the text of a node that is to be stored. One that is no Jinja2, or has lines that cannot be read, is refused; one that
 * does not render with the version's variables is not: those of a plan or a device come to them.
 */
const check = async (
  { treeId, version, template, variables = {} }: NewText,
  call: Call,
  service: Service,
): Promise<Specified | undefined> => {
  refuseText(template, '/data/template');
  const state = await service.tools.state(tree, treeId);
  const before = versionOf(state, version, '/treeVersion').variables;
  const read = await readText({ template, variables: merged(before, maskNamed(variables)) }, state, call, service);
  if (read && 'reason' in read && read.when !== 'rendering')
    throw new RequestError('invalid', `The text cannot be stored: line ${read.line}: ${read.reason}`, {
      faults: [{ message: read.reason, line: read.line, path: '/data/template' }],
    });
  return read;
};

const store = async (
  about: ReturnType<typeof requestOf>,
  text: NewText,
  call: Call,
  service: Service,
): Promise<Pick<Answer, 'position' | 'replayed' | 'etag'>> => {
  await check(text, call, service);
  const { treeId: id, ...input } = text;
  const { revision, position, replayed } = await service.handle(setTreeNodeText, { ...about, id, input });
  return { position, replayed, etag: etagOf(revision, undefined) };
};

type Found = { readonly treeId: string; readonly version: string };

/** The versions that have a node with the id, the oldest first. Copies of earlier versions of the service share ids. */
const withConfigId = async (configId: string, { tools }: Service): Promise<readonly [Found, ...Found[]]> => {
  const docs = await tools.query(trees, { field: 'configId', op: 'equals', value: configId });
  const [first, ...others] = docs
    .toSorted((a, b) => (`${a.created} ${a._id}` < `${b.created} ${b._id}` ? -1 : 1))
    .flatMap(({ _id, versions }) =>
      versions.filter(({ root }) => findNode(root, configId)).map(({ name }) => ({ treeId: _id, version: name })),
    );
  if (!first) throw new RequestError('not_found', 'No node has this configId', { path: 'configId' });
  return [first, ...others];
};

const faultSchema = Type.Object({ line: Type.Integer(), reason: Type.String() });
const faultIn = (read: Specified | undefined): Static<typeof faultSchema> | undefined =>
  read && 'reason' in read ? { line: read.line, reason: read.reason } : undefined;

const specSchema = Type.Object(
  {
    id: Type.String({ description: 'configId of the node' }),
    deviceType: Type.Union([Type.String(), Type.Null()]),
    template: Type.String({ description: 'The text of the node, in Jinja2' }),
    lines: Type.Union([Type.Array(specLineSchema), Type.Null()], {
      description: "The lines of the text, rendered with the version's variables; null if that fails",
    }),
    fault: Type.Optional(faultSchema),
  },
  { title: 'ConfigSpec', description: 'Text of a node of a golden configuration' },
);

const specOf = async (configId: string, { treeId, version }: Found, call: Call, service: Service) => {
  const state = await service.tools.state(tree, treeId);
  const { root, variables } = versionOf(state, version);
  const template = findNode(root, configId)?.template ?? '';
  const read = await readText({ template, variables }, state, call, service);
  const fault = faultIn(read);
  const lines = read && 'lines' in read ? read.lines : null;
  return { id: configId, deviceType: state.deviceType, template, lines, ...defined({ fault }) };
};

const name = { type: 'string', minLength: 1 } as const;

/** Texts of nodes of golden configurations. */
export const nodeConfigRoutes: readonly Route[] = [
  actionRoute({
    name: 'updateNodeConfig',
    method: 'put',
    conditional: true,
    path: '/node/config',
    access: ['operators'],
    summary: 'Set the text of a node of a golden configuration',
    description:
      'Jinja2, then lines with tags (docs/comparing.md). 400 names the line that is no Jinja2 or cannot be read. ' +
      'The path is the names from the root, joined by /. `If-Match` is that of the tree. updateVariables merges the variables into those of the version. ' +
      'fault, of a dry run: the text can be stored, but does not render with the variables that are known here.',
    body: closed({
      treeId: Type.String({ ...name, description: 'Id or name of the tree' }),
      treeVersion: Type.String({ ...name, description: 'Name of the version' }),
      nodePath: Type.String({ ...name, description: 'Names from the root, joined by /' }),
      data: Type.Required(nodeConfigSchema, { additionalProperties: false }),
      updateVariables: Type.Boolean({ description: 'True if the variables are merged into those of the version' }),
      dryRun: Type.Optional(Type.Boolean({ description: 'Reads the text and stores nothing' })),
    }),
    answer: Type.Object({ ...success.properties, fault: Type.Optional(faultSchema) }),
    run: async (call, service) => {
      const about = requestOf('updateNodeConfig', call, service);
      const { treeId, treeVersion, nodePath, data, updateVariables, dryRun } = call.body;
      const { id } = await service.entry(trees, treeId, call.actor);
      const input = {
        treeId: id,
        version: treeVersion,
        node: { path: nodePath },
        template: data.template,
        ...(updateVariables && { variables: data.variables }),
      };
      // So that a path that is not there is named before the text is read.
      lineAt(versionOf(await service.tools.state(tree, id), treeVersion, '/treeVersion').root, nodePath, '/nodePath');
      if (dryRun) {
        const fault = faultIn(await check(input, call, service));
        return { body: { status: 'success', message: 'The text can be stored', ...defined({ fault }) } };
      }
      const result = await store(about, input, call, service);
      return { body: { status: 'success', message: 'Node Config updated' }, ...result };
    },
  }),
  actionRoute({
    name: 'getConfigSpec',
    method: 'get',
    path: '/config_specs/:configId',
    reads: true,
    access: ['operators', 'readers'],
    summary: 'Get the text of a node, and its lines',
    description: 'By the configId of the node. One that several nodes share means the oldest.',
    answer: specSchema,
    run: async (call, service) => {
      const configId = call.params.configId ?? '';
      const [first] = await withConfigId(configId, service);
      return { body: await specOf(configId, first, call, service) };
    },
  }),
  actionRoute({
    name: 'updateConfigSpec',
    method: 'put',
    conditional: true,
    path: '/config_specs/:configId',
    access: ['operators'],
    summary: 'Set the text of a node by its configId',
    description:
      '`If-Match` is that of the tree. Variables are merged into those of the version. 409 if several nodes share the id.',
    body: closed({ data: nodeConfigSchema }),
    answer: Type.Object({ ...success.properties, ...specSchema.properties }),
    run: async (call, service) => {
      const about = requestOf('updateConfigSpec', call, service);
      const configId = call.params.configId ?? '';
      const [found, ...others] = await withConfigId(configId, service);
      if (others.length > 0)
        throw new RequestError('conflict', 'Several nodes share this configId: name one by its path', {
          faults: [{ message: 'The id is not unique', path: 'configId', nodes: [found, ...others] }],
        });
      const input = { ...found, node: { configId }, ...call.body.data };
      const result = await store(about, input, call, service);
      const spec = await specOf(configId, found, call, service);
      return { body: { status: 'success', message: 'Config spec updated', ...spec }, ...result };
    },
  }),
];

/** The node that a request names, and the nodes above it; the root without a path. */
export const checkedNode = (
  state: TreeState,
  treeId: string,
  { version: name, nodePath }: { readonly version: string; readonly nodePath: string | undefined },
): Checked => {
  const version = versionOf(state, name, '/options/version');
  const line: Line = nodePath === undefined ? [version.root] : lineAt(version.root, nodePath, '/options/nodePath');
  return { treeId, version, line };
};
