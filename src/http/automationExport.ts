import type { AutomationDoc } from '../projections/automations.ts';
import type { ReadStore } from '../projections/port.ts';
import type { TriggerDoc } from '../projections/triggers.ts';
import { signing, withGroups } from './people.ts';
import type { Join } from './route.ts';

const pageSize = 1000;

const triggersOf = async (model: ReadStore, actionId: string): Promise<readonly TriggerDoc[]> => {
  const found: TriggerDoc[] = [];
  for (;;) {
    const { entries, total } = await model.list('triggers', { where: { field: 'actionId', op: 'equals', value: actionId }, sort: 'name', order: 1, skip: found.length, limit: pageSize });
    found.push(...entries.map(({ text }) => JSON.parse(text) as TriggerDoc));
    if (entries.length === 0 || found.length >= total) return found;
  }
};

/** Operation 3: the automation with its triggers, usernames and group objects. */
export const exportOf: Join<AutomationDoc> = async (doc, { model }) => {
  const triggers = await triggersOf(model, doc._id);
  const sign = await signing(model, [doc, ...triggers]);
  return { ...sign(doc), gbac: await withGroups(model, doc.gbac), triggers: triggers.map(sign) };
};
