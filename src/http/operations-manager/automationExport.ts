import type { Members } from '@automation-platform/json';
import { componentCollections } from '../../commands/operations-manager/components.ts';
import type { Words } from '../../domain/engine/importedDocuments.ts';
import { missingSecrets } from '../../domain/engine/importedSecrets.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { type AutomationDocument, exportedAutomation } from '../../domain/operations-manager/importedAutomations.ts';
import { exportedTrigger, missingInTrigger } from '../../domain/operations-manager/importedTriggers.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import { documentIn, nameOf, pagesOf } from '../../projections/engine/documents.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import { forms } from '../../projections/json-forms/forms.ts';
import type { AutomationDoc } from '../../projections/operations-manager/automations.ts';
import { type TriggerDoc, triggers } from '../../projections/operations-manager/triggers.ts';
import { signing, withGroups } from '../authorization/people.ts';
import type { Call, Join } from '../engine/route.ts';
import type { Service } from '../engine/service.ts';

const triggersOf = async (model: ReadModel, actionId: string): Promise<readonly TriggerDoc[]> => {
  const found: TriggerDoc[] = [];
  const ofAction = { field: 'actionId', op: 'equals', value: actionId } as const;
  for await (const entries of pagesOf(model, triggers, { where: ofAction, sort: 'name', order: 1 }))
    found.push(...entries.map((entry) => documentIn(triggers, entry)));
  return found;
};

/** The export of each trigger, with its imported part and the name of its form. */
const exportsOf = (
  triggers: readonly TriggerDoc[],
  words: Words,
  { tools, model }: Service,
): Promise<readonly Members[]> =>
  Promise.all(
    triggers.map(async (doc) => {
      const shown = 'formId' in doc ? { ...doc, formId: await nameOf(model, forms, doc.formId) } : doc;
      return exportedTrigger(await tools.state(trigger, doc._id), shown as never, words);
    }),
  );

type Exporting = Call<'id', unknown, { readonly as?: Words }>;

/** Operation 3: the automation with its triggers, with usernames, group objects and the component's name. */
export const exportOf: Join<AutomationDoc, Exporting> = async (doc, service, { query: { as: words } }) => {
  const { model, tools } = service;
  const own = await triggersOf(model, doc._id);
  const sign = await signing(model, [doc, ...own]);
  const shown = {
    ...sign(doc),
    componentName: await nameOf(model, componentCollections.get(doc.componentType ?? ''), doc.componentName),
    gbac: await withGroups(model, doc.gbac),
  };
  const triggers = await exportsOf(own.map(sign), words, service);
  return exportedAutomation(await tools.state(automation, doc._id), { shown, triggers }, words);
};

/** The places of the masked secrets of an import for which nothing is stored. `path` points to the document. */
export const missingInAutomation = async (
  { triggers = [] }: AutomationDocument,
  id: string,
  path: string,
  { tools, model }: Service,
): Promise<readonly string[]> => {
  const { imported } = await tools.state(automation, id);
  const own = await triggersOf(model, id);
  const inTriggers = await Promise.all(
    triggers.map(async ({ _id, name }, i) => {
      const there = own.find((one) => one._id === _id) ?? own.find((one) => one.name === name);
      return there ? missingInTrigger(await tools.state(trigger, there._id), `${path}/triggers/${i}`) : [];
    }),
  );
  return [...missingSecrets(imported?.document, path), ...inTriggers.flat()];
};
