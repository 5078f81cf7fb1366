import type { DeviceChanges } from '../../../commands/configuration-manager/deviceChanges.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import type { Retries } from '../../../commands/engine/retries.ts';
import type { OperationId } from '../../../domain/operations-manager/workflows/ownOperations.ts';
import type { Devices, Renderer } from '../../../southbound/port.ts';
import type { RestCaller } from '../../../southbound/restCall.ts';
import { agentRun } from './agentRun.ts';
import { analyticRun } from './analyticRun.ts';
import { commandRun } from './commandRun.ts';
import { deviceRuns } from './deviceRuns.ts';
import { eventRun } from './eventRun.ts';
import { inventoryRuns } from './inventoryRuns.ts';
import { lifecycleRuns } from './lifecycleRuns.ts';
import type { ReadAs } from './readAs.ts';
import { restRun } from './restRun.ts';
import type { OperationFor } from './run.ts';
import { templateRuns } from './templateRun.ts';
import { transformationRun } from './transformationRun.ts';
import { treeRuns } from './treeRuns.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly retries: Retries;
  readonly read: ReadAs;
  readonly renderer: Pick<Renderer, 'render'>;
  readonly devices: Pick<Devices, 'seenBy'>;
  readonly rest: RestCaller;
  readonly changes: DeviceChanges;
};

/** The operations of this service that nodes carry out for tasks, and the listeners to events that some of them need. */
export const operationsHere = (needs: Needs) => {
  const { render, renderStoredWithCast, renderTextWithCast } = templateRuns(needs);
  const { getDevice, isAlive, applyDeviceConfig } = deviceRuns(needs);
  const inventories = inventoryRuns(needs);
  const lifecycle = lifecycleRuns(needs);
  const trees = treeRuns(needs);
  const agents = agentRun(needs);
  const operations = {
    'AgentSessionManager.runAgent': agents.run,
    'ConfigurationManager.applyDeviceConfig': applyDeviceConfig,
    'ConfigurationManager.getDevice': getDevice,
    'ConfigurationManager.getGoldenConfigTree': trees.getTree,
    'ConfigurationManager.getGoldenConfigTrees': trees.getTrees,
    'ConfigurationManager.isAlive': isAlive,
    'InventoryManager.clearInventory': inventories.clear,
    'InventoryManager.createInventory': inventories.create,
    'InventoryManager.deleteInventory': inventories.remove,
    'InventoryManager.getInventoryByIdentifier': inventories.get,
    'InventoryManager.populateInventory': inventories.populate,
    'LifecycleManager.getResourceInstanceByName': lifecycle.getInstance,
    'LifecycleManager.runAction': lifecycle.runAction,
    'MOP.RunCommandTemplate': commandRun(needs),
    'MOP.runAnalyticsTemplate': analyticRun(needs),
    'OperationsManager.publishEvent': eventRun(needs),
    'TemplateBuilder.renderJinja2ContextWithCast': renderTextWithCast,
    'TemplateBuilder.renderJinja2TemplateWithCast': renderStoredWithCast,
    'TemplateBuilder.renderJinjaTemplate': render,
    'WorkFlowEngine.restCall': restRun(needs),
    'WorkFlowEngine.transformation': transformationRun(needs),
  } satisfies { readonly [O in OperationId]: OperationFor<O> };
  return { operations, listeners: [agents, lifecycle] };
};

export type OperationsHere = ReturnType<typeof operationsHere>['operations'];
