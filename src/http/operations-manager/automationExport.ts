import { componentCollections } from '../../commands/operations-manager/components.ts';
import { documentIn, pagesOf } from '../../projections/engine/documents.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import type { AutomationDoc } from '../../projections/operations-manager/automations.ts';
import { type TriggerDoc, triggers } from '../../projections/operations-manager/triggers.ts';
import { signing, withGroups } from '../authorization/people.ts';
import type { Join } from '../engine/route.ts';

const triggersOf = async (model: ReadStore, actionId: string): Promise<readonly TriggerDoc[]> => {
  const found: TriggerDoc[] = [];
  const ofAction = { field: 'actionId', op: 'equals', value: actionId } as const;
  for await (const entries of pagesOf(model, triggers, { where: ofAction, sort: 'name', order: 1 }))
    found.push(...entries.map((entry) => documentIn(triggers, entry)));
  return found;
};

/**
 * The name of an automation's component, even if the automation stores its id. If the platform does not hold this kind
 * of component, the stored text is kept.
 */
const componentNameOf = async (
  model: ReadStore,
  { componentType, componentName }: AutomationDoc,
): Promise<string | null> => {
  const collection = componentType === null ? undefined : componentCollections.get(componentType);
  const entry =
    collection === undefined || componentName === null
      ? undefined
      : await model.get(collection.collection, componentName);
  return entry ? (JSON.parse(entry.text) as { readonly name: string }).name : componentName;
};

// Members of a trigger that the service itself maintains. They are null until they have a value.
const kept = new Set(['lastExecuted', 'nextRunAt', 'lastIntervalStart', 'formSchemaHash']);

/** A trigger without those members that have no value yet. */
const withoutUnset = <T extends object>(trigger: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(trigger).filter(([name, value]) => value !== null || !kept.has(name)),
  ) as Partial<T>;

/** Operation 3: the automation with its triggers, with usernames, group objects and the component's name. */
export const exportOf: Join<AutomationDoc> = async (doc, { model }) => {
  const own = await triggersOf(model, doc._id);
  const sign = await signing(model, [doc, ...own]);
  return {
    ...sign(doc),
    componentName: await componentNameOf(model, doc),
    gbac: await withGroups(model, doc.gbac),
    triggers: own.map((trigger) => withoutUnset(sign(trigger))),
  };
};
