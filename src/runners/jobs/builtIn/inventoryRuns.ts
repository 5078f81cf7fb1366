import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import type { Retries } from '../../../commands/engine/retries.ts';
import {
  addInventoryNodes,
  clearInventoryNodes,
  createInventory,
  deleteInventory,
} from '../../../commands/inventory-manager/inventories.ts';
import { openNamed } from '../../../domain/engine/secretFields.ts';
import { inventory } from '../../../domain/inventory-manager/inventories.ts';
import { type Inventory, inventories } from '../../../projections/inventory-manager/inventories.ts';
import { idBy, requestOnce } from './once.ts';
import type { ReadAs } from './readAs.ts';
import { type OperationFor, type Run, RunEnded } from './run.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'find' | 'unseal'>;
  readonly retries: Pick<Retries, 'find'>;
  readonly read: ReadAs;
};

const viewOf = ({ createdBy: _, lastUpdatedBy: __, ...doc }: Inventory) => doc;

/** Operations on inventories. Each change is made once, though its run may be begun again. */
export const inventoryRuns = ({ handle, tools, retries, read }: Needs) => {
  /** The id of the inventory that a run changes, or has changed before: it may be gone since. */
  const meant = async (idOrName: string, { key }: Pick<Run, 'key'>): Promise<string> => {
    const id =
      (await retries.find({ aggregate: inventory, idOrName }, key)) ?? (await tools.find(inventories, idOrName));
    if (id === undefined) throw new RunEnded(`There is no inventory ${JSON.stringify(idOrName)}`);
    return id;
  };

  const create: OperationFor<'InventoryManager.createInventory'> = async (run) => {
    const { name, description, groups } = run.inputs;
    const about = requestOnce(run, await run.step(), 'createInventory');
    const input = { name, description, groups };
    const { doc } = await handle(createInventory, { ...about, id: idBy('inventory', run.key), input });
    return { response: viewOf(doc as Inventory) };
  };

  const remove: OperationFor<'InventoryManager.deleteInventory'> = async (run) => {
    const about = requestOnce(run, await run.step(), 'deleteInventory');
    const id = await meant(run.inputs.identifier, run);
    const { before } = await handle(deleteInventory, { ...about, id, input: {} });
    return { response: viewOf(before as Inventory) };
  };

  const clear: OperationFor<'InventoryManager.clearInventory'> = async (run) => {
    const about = requestOnce(run, await run.step(), 'clearNodes');
    const id = await meant(run.inputs.identifier, run);
    const { before, doc } = await handle(clearInventoryNodes, { ...about, id, input: {} });
    const [{ nodeCount: was }, now] = [before as Inventory, doc as Inventory];
    return { response: { inventory: viewOf(now), nodesDeleted: was - now.nodeCount } };
  };

  const populate: OperationFor<'InventoryManager.populateInventory'> = async (run) => {
    const about = requestOnce(run, await run.step(), 'addNodes');
    const id = await meant(run.inputs.inventory_identifier, run);
    const nodes = openNamed(run.inputs.nodes, tools.unseal);
    const { before, doc } = await handle(addInventoryNodes, { ...about, id, input: { nodes } });
    const [{ nodeCount: had }, now] = [before as Inventory, doc as Inventory];
    return { response: { inventory: viewOf(now), nodesAdded: now.nodeCount - had } };
  };

  const get: OperationFor<'InventoryManager.getInventoryByIdentifier'> = async ({ inputs, step }) => ({
    response: viewOf(await read(inventories, inputs.identifier, await step())),
  });

  return { create, remove, clear, populate, get };
};
