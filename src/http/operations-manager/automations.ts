import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { importAutomation } from '../../commands/operations-manager/automationImports.ts';
import { createAutomation, deleteAutomation, updateAutomation } from '../../commands/operations-manager/automations.ts';
import { componentCollections } from '../../commands/operations-manager/components.ts';
import { neverRunning } from '../../commands/operations-manager/neverRunning.ts';
import { gbacSchema } from '../../domain/authorization/gbac.ts';
import { authored, objectId } from '../../domain/engine/authors.ts';
import { type Actor, platform } from '../../domain/engine/core.ts';
import type { Words } from '../../domain/engine/importedDocuments.ts';
import { missingSecrets } from '../../domain/engine/importedSecrets.ts';
import { automationExportSchema } from '../../domain/operations-manager/automationImports.ts';
import { automation, automationMembers } from '../../domain/operations-manager/automations.ts';
import {
  type AutomationDocument,
  automationDocumentSchema,
  exportedAutomation,
} from '../../domain/operations-manager/importedAutomations.ts';
import { exportedTrigger, missingInTrigger } from '../../domain/operations-manager/importedTriggers.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import { documentIn, nameOf, pagesOf, readableDocuments } from '../../projections/engine/documents.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import { forms } from '../../projections/json-forms/forms.ts';
import { type AutomationDoc, automations } from '../../projections/operations-manager/automations.ts';
import { type TriggerDoc, triggers } from '../../projections/operations-manager/triggers.ts';
import { signing, withGroups } from '../authorization/people.ts';
import { withMessage } from '../engine/envelopes.ts';
import { importRoute } from '../engine/imports.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Call, Join, Route } from '../engine/route.ts';
import { getRoute } from '../engine/routes.ts';
import { enveloped, wordsSchema } from '../engine/schemas.ts';
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
  actor: Actor,
  { tools, model }: Service,
): Promise<readonly Members[]> =>
  Promise.all(
    triggers.map(async (doc) => {
      const view = 'formId' in doc ? { ...doc, formId: await nameOf(model, forms, doc.formId, actor) } : doc;
      return exportedTrigger(await tools.state(trigger, doc._id), view as never, words);
    }),
  );

type Exporting = Call<'id', unknown, { readonly as?: Words }>;

/** Operation 3: the automation with its triggers, with usernames, group objects and the component's name. */
const exportOf: Join<AutomationDoc, Exporting> = async (doc, service, { actor, query: { as: words } }) => {
  const { model, tools } = service;
  const own = await triggersOf(model, doc._id);
  const sign = await signing(model, [doc, ...own]);
  const view = {
    ...sign(doc),
    componentName: await nameOf(model, componentCollections.get(doc.componentType ?? ''), doc.componentName, actor),
    gbac: await withGroups(model, doc.gbac),
  };
  const triggers = await exportsOf(own.map(sign), words, actor, service);
  return exportedAutomation(await tools.state(automation, doc._id), { shown: view, triggers }, words);
};

/** The places of the masked secrets of an import for which nothing is stored. `path` points to the document. */
const missingInAutomation = async (
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

const automationSchema = Type.Object(
  { _id: objectId('Id'), ...automationMembers, gbac: gbacSchema, ...authored },
  { title: 'Automation', description: 'Automation; authors are ids of accounts' },
);
const path = '/automations/:id';

const importAutomations = importRoute({
  name: 'importAutomations',
  method: 'put',
  path: '/automations',
  access: ['operators'],
  summary: 'Import automations with their triggers',
  description:
    'Takes what export gives, and automations of other installations: members that the service does not know are ' +
    'kept. Ids, times and authors are kept. The same document again is no change; other ' +
    'content under a used id or name is 409 unless overwrite is true: then it is replaced, and triggers that ' +
    'the document does not have go. A secret in clear is other content, be it right or wrong; ******** keeps ' +
    'the one that is stored.',
  member: 'automations',
  document: automationDocumentSchema,
  itemSchema: Type.Union([automationSchema, Type.Null()], {
    description:
      'The automation; null if it is still being made, or cannot be read any more when the request is repeated',
  }),
  take: async ({ document: automation, path, overwrite, fresh: id, about }, service, { actor }) => {
    const { handle, tools, model } = service;
    const { position, replayed } = await handle(importAutomation, { ...about, id, input: { automation, overwrite } });
    const imported =
      (automation._id && (await tools.find(automations, automation._id))) ??
      (await tools.find(automations, automation.name));
    // A repeated request may find what the caller may not read any more, or a resource that another caller has made since.
    const who = replayed ? actor : platform;
    const [data = null] = imported === undefined ? [] : await readableDocuments(model, automations, [imported], who);
    if (imported === undefined || (replayed && data === null)) return { data: null, position, replayed };
    const missingSecrets = await missingInAutomation(automation, imported, path, service);
    return { data, position, replayed, missingSecrets, warnings: await neverRunning([imported], actor, tools) };
  },
});

const usual = resourceRoutes({
  noun: 'automation',
  inMessages: 'automations',
  path: '/automations',
  one: path,
  documents: automations,
  schema: automationSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
});

/** Automations, with their export and import (docs/behaviour/imports-and-exports.md). */
export const automationRoutes: readonly Route[] = [
  usual.list({ name: 'getAutomations', summary: 'List automations' }),
  usual.create({
    name: 'createAutomation',
    summary: 'Create an automation',
    description:
      'gbac names the groups that may read it and those that may change it. Groups that are not there are 404.',
    command: createAutomation,
  }),
  importAutomations,
  getRoute({
    name: 'exportAutomation',
    path: `${path}/export`,
    access: ['operators', 'readers'],
    summary: 'Export an automation with its triggers',
    description:
      'The document that the import of automations takes back, also what an import brought and the service does not know. ' +
      'Secrets are masked.',
    query: { as: wordsSchema },
    get: automations,
    exports: true,
    join: exportOf,
    envelope: withMessage('Successfully exported automation'),
    answer: enveloped(automationExportSchema),
  }),
  usual.get({ name: 'getAutomation', summary: 'Get an automation' }),
  usual.update({
    name: 'updateAutomation',
    summary: 'Change an automation',
    description: 'Members that the body leaves out stay.',
    command: updateAutomation,
  }),
  usual.remove({
    name: 'deleteAutomation',
    summary: 'Delete an automation and its triggers',
    command: deleteAutomation,
  }),
];
