import type { Members } from '@automation-platform/json';
import { mayRead } from '../../../commands/engine/access.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import { checkSync, syncInventoryNodes } from '../../../commands/inventory-manager/inventories.ts';
import { type Actor, mayName } from '../../../domain/engine/core.ts';
import { openSecrets } from '../../../domain/engine/secretFields.ts';
import { inventory, isNewNode } from '../../../domain/inventory-manager/inventories.ts';
import { inventorySync, type NewSource, usualMostRemoved } from '../../../domain/inventory-manager/inventorySources.ts';
import { inventories } from '../../../projections/inventory-manager/inventories.ts';
import type { SourceReader } from '../../../southbound/inventorySources/sources.ts';
import { requestOnce } from './once.ts';
import { type Operation, type Run, RunEnded } from './run.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'events' | 'find' | 'state' | 'stateForRights' | 'seal' | 'unseal'>;
  readonly read: SourceReader;
};

/** How many names of each kind the variables of the job have. */
const mostNames = 1000;
/** The events of one sync are among the last ones of its inventory. */
const mostEvents = 1000;

type Differences = { readonly added: string[]; readonly changed: string[]; readonly removed: string[] };

const resultOf = (differences: Differences, leftOut: readonly string[], dryRun: boolean): Members => {
  const { added, changed, removed } = differences;
  return {
    dryRun,
    added: added.slice(0, mostNames),
    changed: changed.slice(0, mostNames),
    removed: removed.slice(0, mostNames),
    leftOut: leftOut.slice(0, mostNames),
    counts: {
      added: added.length,
      changed: changed.length,
      removed: removed.length,
      leftOut: leftOut.length,
    },
  };
};

/**
 * Gives an inventory the nodes of a source: its own, or the one that came with the job. All is read before anything changes, and
 * the differences are one append, so a run that was broken off begins again.
 */
export const syncRun = ({ handle, tools, read }: Needs): Operation => {
  /** The inventory that the actor sees by its id or name. */
  const idOf = async (idOrName: unknown, actor: Actor): Promise<string> => {
    const id = typeof idOrName === 'string' ? await tools.find(inventories, idOrName) : undefined;
    const lists = id === undefined ? undefined : inventory.gbac?.(await tools.stateForRights(inventory, id));
    if (id === undefined || !lists || !mayName(actor, inventory.category, id) || !mayRead(actor, lists))
      throw new RunEnded(`There is no inventory ${JSON.stringify(idOrName)}`);
    return id;
  };

  const sourceOf = async (job: string, id: string): Promise<NewSource> => {
    const { requested } = await tools.state(inventorySync, job);
    const source = requested?.source ?? (await tools.state(inventory, id)).source;
    if (!source) throw new RunEnded('The inventory has no source');
    return openSecrets(source, tools.unseal) as NewSource;
  };

  /** The differences that the run has stored, by its events: also when this was before it was broken off. */
  const doneBy = async ({ started }: Run, id: string, last: number): Promise<Differences> => {
    const differences: Differences = { added: [], changed: [], removed: [] };
    for (const { topic, data, metadata } of await tools.events(inventory, id, last, Math.max(0, last - mostEvents))) {
      if (metadata.$causationId !== started.id) continue;
      const { nodes = [], names = [] } = data as { nodes?: { name: string }[]; names?: string[] };
      if (topic === 'nodesRemoved') differences.removed.push(...names);
      if (topic === 'nodesAdded') differences.added.push(...nodes.map(({ name }) => name));
      if (topic === 'nodesChanged') differences.changed.push(...nodes.map(({ name }) => name));
    }
    return differences;
  };

  return async (run) => {
    const { job, inputs, signal, step } = run;
    const id = await idOf(inputs.inventory, await step());
    run.names(id);
    const dryRun = inputs.dryRun === true;
    const source = await sourceOf(job, id);
    const { nodes, leftOut } = await read(source, { signal, step });
    const wrong = nodes.find((one) => !isNewNode(one));
    if (wrong)
      throw new RunEnded(
        `The node ${JSON.stringify(wrong.name.slice(0, 256))} of the source has a name or tags that no node can have, so nothing changes`,
      );
    const input = { nodes, mostRemoved: source.mostRemoved ?? usualMostRemoved };
    const actor = await step();
    if (dryRun) {
      const { added, changed, removed } = checkSync(await tools.state(inventory, id), input, tools);
      const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name);
      return resultOf({ added: names(added), changed: names(changed), removed }, leftOut, dryRun);
    }
    const { revision } = await handle(syncInventoryNodes, { ...requestOnce(run, actor, 'syncInventory'), id, input });
    return resultOf(await doneBy(run, id, revision), leftOut, dryRun);
  };
};
