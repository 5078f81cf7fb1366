import type { Members } from '@automation-platform/json';
import { type Static, type TObject, Type } from 'typebox';
import { runAgentSchema } from '../../agent-session-manager/agentSessionSchemas.ts';
import type { Area } from '../../engine/core.ts';
import { name } from '../../engine/schemas.ts';
import { newInventorySchema, newNodesSchema } from '../../inventory-manager/inventories.ts';
import { runActionSchema } from '../../lifecycle-manager/actionExecutions.ts';

/** How an operation of this service acts: `acts` changes the world, and is never done a second time by itself. */
export type OperationKind = 'reads' | 'writes' | 'acts';

/** An operation of this service that tasks stand for. */
type OwnOperation = {
  readonly kind: OperationKind;
  /** The method, of an area, without which nobody may save such a task; absent if there is none. */
  readonly method?: readonly [area: Area, name: string];
  /** Inputs of other names are ignored: published tasks have some. */
  readonly inputs: TObject;
  readonly outputs: readonly string[];
};

const members = (description: string) =>
  Type.Unsafe<Members>(Type.Object({}, { additionalProperties: true, description }));
const textOf = (description: string) => Type.String({ description });
/** A text that may be a secret: then it is sealed, and so an object. */
const secretText = (description: string) =>
  Type.Unsafe<unknown>({
    type: ['string', 'object'],
    minLength: 1,
    properties: { $sealed: { type: 'string' }, tag: { type: 'string' } },
    required: ['$sealed', 'tag'],
    description,
  });
const variables = Type.Optional(members('Variables of the template'));
const castDataType = Type.Optional(
  Type.Enum(['boolean', 'object', 'number', 'string'], { description: 'The type of the result' }),
);
const identifier = name('Id or name of the inventory');
const answers = (description: string) =>
  Type.Unsafe<readonly string[] | Members>({
    type: ['array', 'object'],
    items: { type: 'string' },
    maxItems: 100,
    description,
  });
const { instance, group, instanceName, instanceDescription, actionId, inputs } = runActionSchema.properties;

/** The operations of this service that tasks stand for, by application and name. A node carries them out. */
export const ownOperations = {
  'AgentSessionManager.runAgent': {
    kind: 'writes',
    method: ['agent-session-manager', 'runAgent'],
    inputs: Type.Pick(runAgentSchema, ['agent', 'inputs']),
    outputs: ['sessionId', 'status', 'lastMessage'],
  },
  'ConfigurationManager.applyDeviceConfig': {
    kind: 'acts',
    method: ['configuration-manager', 'applyDeviceConfig'],
    inputs: Type.Object({ device: name('Name of the device'), config: secretText('Configuration text') }),
    outputs: ['result'],
  },
  'ConfigurationManager.getDevice': {
    kind: 'reads',
    method: ['configuration-manager', 'getDevices'],
    inputs: Type.Object({ name: name('Name of the device') }),
    outputs: ['device'],
  },
  'ConfigurationManager.getGoldenConfigTree': {
    kind: 'reads',
    method: ['configuration-manager', 'getTree'],
    inputs: Type.Object({ treeId: name('Id or name of the tree') }),
    outputs: ['tree'],
  },
  'ConfigurationManager.getGoldenConfigTrees': {
    kind: 'reads',
    method: ['configuration-manager', 'getTrees'],
    inputs: Type.Object({}),
    outputs: ['goldenConfigTrees'],
  },
  'ConfigurationManager.isAlive': {
    kind: 'reads',
    method: ['configuration-manager', 'getDevices'],
    inputs: Type.Object({ name: name('Name of the device') }),
    outputs: ['status'],
  },
  'InventoryManager.clearInventory': {
    kind: 'writes',
    method: ['inventory-manager', 'clearNodes'],
    inputs: Type.Object({ identifier }),
    outputs: ['response'],
  },
  'InventoryManager.createInventory': {
    kind: 'writes',
    method: ['inventory-manager', 'createInventory'],
    inputs: Type.Object(newInventorySchema.properties),
    outputs: ['response'],
  },
  'InventoryManager.deleteInventory': {
    kind: 'writes',
    method: ['inventory-manager', 'deleteInventory'],
    inputs: Type.Object({ identifier }),
    outputs: ['response'],
  },
  'InventoryManager.getInventoryByIdentifier': {
    kind: 'reads',
    method: ['inventory-manager', 'getInventory'],
    inputs: Type.Object({ identifier }),
    outputs: ['response'],
  },
  'InventoryManager.populateInventory': {
    kind: 'writes',
    method: ['inventory-manager', 'addNodes'],
    inputs: Type.Object({ inventory_identifier: identifier, ...newNodesSchema.properties }),
    outputs: ['response'],
  },
  'LifecycleManager.getResourceInstanceByName': {
    kind: 'reads',
    method: ['lifecycle-manager', 'getResourceInstance'],
    inputs: Type.Object({
      modelName: name('Id or name of the model'),
      instanceName: name('Id or name of the instance'),
    }),
    outputs: ['instance'],
  },
  'LifecycleManager.runAction': {
    kind: 'writes',
    method: ['lifecycle-manager', 'runAction'],
    inputs: Type.Object({
      modelId: name('Id or name of the model'),
      actionId,
      instance,
      group,
      instanceName,
      instanceDescription,
      variables: inputs,
    }),
    outputs: ['result'],
  },
  'MOP.RunCommandTemplate': {
    kind: 'acts',
    method: ['mop', 'runCommandTemplate'],
    inputs: Type.Object({
      template: name('Id or name of the command template'),
      devices: Type.Array(name('Name of a device'), { minItems: 1, maxItems: 1000 }),
      variables,
    }),
    outputs: ['mop_template_results'],
  },
  'MOP.runAnalyticsTemplate': {
    kind: 'reads',
    method: ['mop', 'runAnalyticTemplate'],
    inputs: Type.Object({
      template: name('Id or name of the analytic template'),
      pre: answers('Answers before, or the results of a command template'),
      post: answers('The same after'),
    }),
    outputs: ['analytic_result'],
  },
  'OperationsManager.publishEvent': {
    kind: 'writes',
    method: ['operations-manager', 'publishEvent'],
    inputs: Type.Object({
      source: Type.String({ minLength: 1, maxLength: 1024 }),
      topic: Type.String({ minLength: 1, maxLength: 1024 }),
      payload: Type.Optional(Type.Unknown()),
    }),
    outputs: ['id', 'position'],
  },
  'TemplateBuilder.renderJinja2ContextWithCast': {
    kind: 'reads',
    method: ['template-builder', 'renderJinja2TemplateWithCast'],
    inputs: Type.Object({ template: textOf('Text of the template'), variables, castDataType }),
    outputs: ['renderedTemplate'],
  },
  'TemplateBuilder.renderJinja2TemplateWithCast': {
    kind: 'reads',
    method: ['template-builder', 'renderJinja2TemplateWithCast'],
    inputs: Type.Object({ name: name('Name of the template'), variables, castDataType }),
    outputs: ['renderedTemplate'],
  },
  'TemplateBuilder.renderJinjaTemplate': {
    kind: 'reads',
    method: ['template-builder', 'renderJinja'],
    inputs: Type.Object({ name: name('Name of the template'), context: variables }),
    outputs: ['renderedTemplate'],
  },
  'WorkFlowEngine.restCall': {
    kind: 'acts',
    inputs: Type.Object({
      uri: Type.String({ pattern: '^https?://', maxLength: 8192 }),
      verb: Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']),
      headers: Type.Optional(members('Headers by name')),
      body: Type.Optional(Type.Unknown({ description: 'Sent as JSON; a text is sent as it is' })),
      user: Type.Optional(secretText('For basic authentication')),
      password: Type.Optional(secretText('For basic authentication')),
    }),
    outputs: ['response'],
  },
  'WorkFlowEngine.transformation': {
    kind: 'reads',
    method: ['template-builder', 'runTransformation'],
    inputs: Type.Object({
      tr_id: name('Id or name of the transformation'),
      variableMap: Type.Optional(members('Inputs of the transformation by name')),
      options: Type.Optional(members('validateIncoming, revertToDefaultValue')),
    }),
    // Those of the document.
    outputs: [],
  },
} as const satisfies Readonly<Record<string, OwnOperation>>;

export type OperationId = keyof typeof ownOperations;

const isOperation = (id: string): id is OperationId => Object.hasOwn(ownOperations, id);

type Named = { readonly app: string; readonly name: string };

/** The operation that a task stands for; undefined if it stands for none. */
export const operationOf = ({ app, name }: Named): OperationId | undefined => {
  const id = `${app}.${name}`;
  return isOperation(id) ? id : undefined;
};

const ownOperation = (task: Named): OwnOperation | undefined => {
  const id = operationOf(task);
  return id && ownOperations[id];
};

/** How the operation acts that a task stands for; undefined if it stands for none. */
export const operationKind = (task: Named): OperationKind | undefined => ownOperation(task)?.kind;

/** The method of the operation that a task stands for, if it has one. */
export const operationMethod = (task: Named): OwnOperation['method'] => ownOperation(task)?.method;

/** The inputs of an operation that fit its schema. */
export type InputsOf<O extends OperationId> = Static<(typeof ownOperations)[O]['inputs']>;

/** The inputs that are there: published documents write empty texts where nothing is filled in. */
export const filledIn = (inputs: Members): Members =>
  Object.fromEntries(Object.entries(inputs).filter(([, value]) => value !== null && value !== ''));

/** The words for an input that does not fit its schema. */
export const inputFaultText = ({ path, message }: { readonly path: string; readonly message: string }): string =>
  `The input ${path.slice(1).replaceAll('/', '.')} ${message}`;
