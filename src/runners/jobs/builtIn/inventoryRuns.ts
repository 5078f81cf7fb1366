import { mayRead } from '../../../commands/engine/access.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import type { Retries } from '../../../commands/engine/retries.ts';
import {
  addInventoryNodes,
  clearInventoryNodes,
  createInventory,
  deleteInventory,
} from '../../../commands/inventory-manager/inventories.ts';
import { type Actor, mayName } from '../../../domain/engine/core.ts';
import { defined } from '../../../domain/engine/defined.ts';
import { openNamed } from '../../../domain/engine/secretFields.ts';
import { inventory } from '../../../domain/inventory-manager/inventories.ts';
import { type Inventory, inventories } from '../../../projections/inventory-manager/inventories.ts';
import { idBy, requestOnce } from './once.ts';
import type { ReadAs } from './readAs.ts';
import { type OperationFor, type Run, RunEnded } from './run.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'find' | 'stateForRights' | 'unseal'>;
  readonly retries: Pick<Retries, 'find'>;
  readonly read: ReadAs;
};

const viewOf = ({ createdBy: _, lastUpdatedBy: __, ...doc }: Inventory) => doc;

/** Operations on inventories. Each change is made once, though its run may be begun again. */
export const inventoryRuns = ({ handle, tools, retries, read }: Needs) => {
  /** The id of the inventory that a run changes, or has changed before: it may be gone since. */
  const meant = async (idOrName: string, { key, names }: Pick<Run, 'key' | 'names'>, actor: Actor): Promise<string> => {
    const id =
      (await retries.find({ aggregate: inventory, idOrName }, key)) ?? (await tools.find(inventories, idOrName));
    const lists = id === undefined ? undefined : inventory.gbac?.(await tools.stateForRights(inventory, id));
    if (id === undefined || !mayName(actor, inventory.category, id) || (lists && !mayRead(actor, lists)))
      throw new RunEnded(`There is no inventory ${JSON.stringify(idOrName)}`);
    names(id);
    return id;
  };

  const create: OperationFor<'InventoryManager.createInventory'> = async (run) => {
    const { devices, ...inputs } = run.inputs;
    const about = requestOnce(run, await run.step(), 'createInventory');
    const input = defined({ ...inputs, devices: devices && openNamed(devices, tools.unseal) });
    const { doc } = await handle(createInventory, { ...about, id: idBy('inventory', run.key), input });
    run.names(idBy('inventory', run.key));
    return { response: viewOf(doc as Inventory) };
  };

  const remove: OperationFor<'InventoryManager.deleteInventory'> = async (run) => {
    const actor = await run.step();
    const about = requestOnce(run, actor, 'deleteInventory');
    const id = await meant(run.inputs.identifier, run, actor);
    const { before } = await handle(deleteInventory, { ...about, id, input: {} });
    return { response: viewOf(before as Inventory) };
  };

  const clear: OperationFor<'InventoryManager.clearInventory'> = async (run) => {
    const actor = await run.step();
    const about = requestOnce(run, actor, 'clearNodes');
    const id = await meant(run.inputs.identifier, run, actor);
    const { before, doc } = await handle(clearInventoryNodes, { ...about, id, input: {} });
    const [{ nodeCount: was }, now] = [before as Inventory, doc as Inventory];
    return { response: { inventory: viewOf(now), nodesDeleted: was - now.nodeCount } };
  };

  const populate: OperationFor<'InventoryManager.populateInventory'> = async (run) => {
    const actor = await run.step();
    const about = requestOnce(run, actor, 'addNodes');
    const { inventory_identifier, ...inputs } = run.inputs;
    const id = await meant(inventory_identifier, run, actor);
    const input = defined({ ...inputs, nodes: openNamed(inputs.nodes, tools.unseal) });
    const { before, doc } = await handle(addInventoryNodes, { ...about, id, input });
    const [{ nodeCount: had }, now] = [before as Inventory, doc as Inventory];
    return { response: { inventory: viewOf(now), nodesAdded: now.nodeCount - had } };
  };

  const get: OperationFor<'InventoryManager.getInventoryByIdentifier'> = async ({ inputs, step, names }) => {
    const found = await read(inventories, inputs.identifier, await step());
    names(found._id);
    return { response: viewOf(found) };
  };

  return { create, remove, clear, populate, get };
};
