import type { Tools } from '../../commands/engine/define.ts';
import { complianceBatch } from '../../domain/configuration-manager/complianceBatches.ts';
import { complianceReport } from '../../domain/configuration-manager/complianceReports.ts';
import { configurationChange } from '../../domain/configuration-manager/configurationChanges.ts';
import { deviceBackup, inventoriesOfSources } from '../../domain/configuration-manager/deviceBackups.ts';
import { deviceConfiguration } from '../../domain/configuration-manager/deviceConfigurations.ts';
import { inventory } from '../../domain/inventory-manager/inventories.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import { inventories } from '../../projections/inventory-manager/inventories.ts';
import { splitStream } from '../../store/event.ts';

type Find = (id: string, tools: Pick<Tools, 'state' | 'find'>) => Promise<readonly string[]>;

/** The inventories whose devices an event of these streams names, by the category and the id of the stream. */
const finders: Readonly<Record<string, Find>> = {
  [complianceBatch.category]: async (id, { state }) => (await state(complianceBatch, id)).started?.inventories ?? [],
  [complianceReport.category]: async (id, { state }) => {
    const { inventory = null } = (await state(complianceReport, id)).report ?? {};
    return inventory === null ? [] : [inventory];
  },
  [deviceBackup.category]: async (id, { state }) => {
    const { copy } = await state(deviceBackup, id);
    return copy ? inventoriesOfSources([copy.source]) : [];
  },
  [deviceConfiguration.category]: async (id, { state, find }) => {
    const { about } = await state(deviceConfiguration, id);
    if (!about) return [];
    const { inventory = (await find(inventories, about.adapter)) ?? null } = about;
    return inventory === null ? [] : [inventory];
  },
  [configurationChange.category]: async (id, { state }) => (await state(job, id)).inventories ?? [],
  [inventory.category]: async (id) => [id],
  [job.category]: async (id, { state }) => (await state(job, id)).inventories ?? [],
};

/** The inventories whose devices an event names: who reads the job that it starts must see them. */
export const inventoriesNamedIn = async (stream: string, tools: Parameters<Find>[1]): Promise<readonly string[]> => {
  const { category, id } = splitStream(stream);
  return (Object.hasOwn(finders, category) ? await finders[category]?.(id, tools) : undefined) ?? [];
};
