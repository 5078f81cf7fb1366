import type { Area } from '../../engine/core.ts';

/** How an operation of this service acts: `acts` changes the world, and is never done a second time by itself. */
export type OperationKind = 'reads' | 'writes' | 'acts';

/** An operation of this service that tasks stand for. */
type OwnOperation = {
  readonly kind: OperationKind;
  /** The method, of an area, without which nobody may save such a task; absent if there is none. */
  readonly method?: readonly [area: Area, name: string];
};

/** The operations of this service that tasks stand for, by application and name. A node carries them out. */
const ownOperations: Readonly<Record<string, Readonly<Record<string, OwnOperation>>>> = {
  TemplateBuilder: {
    renderJinjaTemplate: { kind: 'reads', method: ['template-builder', 'renderJinja'] },
    renderJinja2ContextWithCast: { kind: 'reads', method: ['template-builder', 'renderJinja2TemplateWithCast'] },
    renderJinja2TemplateWithCast: { kind: 'reads', method: ['template-builder', 'renderJinja2TemplateWithCast'] },
  },
  WorkFlowEngine: { transformation: { kind: 'reads' }, restCall: { kind: 'acts' } },
  MOP: {
    RunCommandTemplate: { kind: 'acts', method: ['mop', 'runCommandTemplate'] },
    runAnalyticsTemplate: { kind: 'reads', method: ['mop', 'runAnalyticTemplate'] },
  },
  InventoryManager: {
    createInventory: { kind: 'writes', method: ['inventory-manager', 'createInventory'] },
    deleteInventory: { kind: 'writes', method: ['inventory-manager', 'deleteInventory'] },
    clearInventory: { kind: 'writes', method: ['inventory-manager', 'clearNodes'] },
    populateInventory: { kind: 'writes', method: ['inventory-manager', 'addNodes'] },
    getInventoryByIdentifier: { kind: 'reads', method: ['inventory-manager', 'getInventory'] },
  },
  LifecycleManager: {
    runAction: { kind: 'writes', method: ['lifecycle-manager', 'runAction'] },
    getResourceInstanceByName: { kind: 'reads', method: ['lifecycle-manager', 'getResourceInstance'] },
  },
  ConfigurationManager: {
    getDevice: { kind: 'reads', method: ['configuration-manager', 'getDevices'] },
    isAlive: { kind: 'reads', method: ['configuration-manager', 'getDevices'] },
    getGoldenConfigTrees: { kind: 'reads', method: ['configuration-manager', 'getTrees'] },
    getGoldenConfigTree: { kind: 'reads', method: ['configuration-manager', 'getTree'] },
    applyDeviceConfig: { kind: 'acts', method: ['configuration-manager', 'applyDeviceConfig'] },
  },
  AgentSessionManager: { runAgent: { kind: 'writes', method: ['agent-session-manager', 'runAgent'] } },
  OperationsManager: { publishEvent: { kind: 'writes', method: ['operations-manager', 'publishEvent'] } },
};

const ownOperation = (app: string, name: string): OwnOperation | undefined => {
  const operations = Object.hasOwn(ownOperations, app) ? ownOperations[app] : undefined;
  return operations && Object.hasOwn(operations, name) ? operations[name] : undefined;
};

/** How the operation acts that a task stands for; undefined if it stands for none. */
export const operationKind = (app: string, name: string): OperationKind | undefined => ownOperation(app, name)?.kind;

/** The method of the operation that a task stands for, if it has one. */
export const operationMethod = (app: string, name: string): OwnOperation['method'] => ownOperation(app, name)?.method;

/** The operations that nodes carry out. Workers carry out the others as any task. */
export const nodeOperations = [
  'ConfigurationManager.applyDeviceConfig',
  'ConfigurationManager.getDevice',
  'MOP.RunCommandTemplate',
  'OperationsManager.publishEvent',
  'TemplateBuilder.renderJinja2ContextWithCast',
  'TemplateBuilder.renderJinja2TemplateWithCast',
  'TemplateBuilder.renderJinjaTemplate',
] as const;
export type NodeOperation = (typeof nodeOperations)[number];

/** The operation that a task stands for, if nodes carry it out. */
export const nodeOperationOf = ({
  app,
  name,
}: {
  readonly app: string;
  readonly name: string;
}): NodeOperation | undefined => nodeOperations.find((one) => one === `${app}.${name}`);
