import { Type } from 'typebox';
import { importAutomation } from '../commands/automationImports.ts';
import { createAutomation, deleteAutomation, updateAutomation } from '../commands/automations.ts';
import { automationDocumentSchema, automationExportSchema } from '../domain/automationImports.ts';
import { automationMembers, automationPatchSchema, newAutomationSchema } from '../domain/automations.ts';
import { authored, objectId } from '../domain/authors.ts';
import { gbacSchema } from '../domain/gbac.ts';
import { automations } from '../projections/automations.ts';
import { exportOf } from './automationExport.ts';
import { resultsWithMessage, withMessage } from './envelopes.ts';
import { importAnswer, importBody, importEach } from './imports.ts';
import type { ActionRow, Row } from './route.ts';
import { enveloped } from './schemas.ts';
import { newId, requestOf } from './serve.ts';

const automationSchema = Type.Object({ _id: objectId('Id'), ...automationMembers, gbac: gbacSchema, ...authored }, { title: 'Automation', description: 'Automation; authors are ids of accounts' });
const path = '/automations/:id';

const importAutomations: ActionRow = {
  name: 'importAutomations', method: 'put', path: '/automations', large: true, summary: 'Import automations with their triggers',
  description: 'Takes what export gives. Ids, times and authors are kept. The same document again is no change; other content under a used id or name is 409 unless overwrite is true: then it is replaced, and triggers that the document does not have go.',
  body: importBody('automations', automationDocumentSchema), answer: importAnswer(Type.Union([automationSchema, Type.Null()], { description: 'The automation; null if it has been deleted since' })),
  run: async (call, service) => {
    const about = { ...requestOf('importAutomations', call, service), ifRevision: undefined };
    const key = about.idempotency?.key;
    return importEach(call.body, 'automations', async (automation, overwrite, index) => {
      const id = newId(key === undefined ? undefined : `${key} ${index}`);
      const { position, replayed } = await service.handle(importAutomation, { ...about, id, input: { automation, overwrite } });
      const imported = await service.tools.find('automations', automation._id) ?? await service.tools.find('automations', automation.name);
      const entry = imported === undefined ? undefined : await service.model.get('automations', imported);
      return { data: entry ? JSON.parse(entry.text) : null, position, replayed };
    });
  },
};

/** Automations: api.md, operation 3, and its neighbours. */
export const automationRows: readonly Row[] = [
  {
    name: 'getAutomations', method: 'get', path: '/automations', reading: true, summary: 'List automations',
    list: automations, envelope: resultsWithMessage('Successfully retrieved automations'), answer: enveloped(Type.Array(automationSchema)),
  },
  {
    name: 'createAutomation', method: 'post', path: '/automations', summary: 'Create an automation',
    command: createAutomation, body: newAutomationSchema,
    envelope: withMessage('Successfully created automation'), answer: enveloped(automationSchema),
  },
  importAutomations,
  {
    name: 'exportAutomation', method: 'get', path: `${path}/export`, reading: true, summary: 'Export an automation with its triggers',
    get: automations, join: exportOf,
    envelope: withMessage('Successfully exported automation'), answer: enveloped(automationExportSchema),
  },
  {
    name: 'getAutomation', method: 'get', path, reading: true, summary: 'Get an automation',
    get: automations, envelope: withMessage('Successfully retrieved automation'), answer: enveloped(automationSchema),
  },
  {
    name: 'updateAutomation', method: 'patch', path, summary: 'Change an automation',
    command: updateAutomation, body: automationPatchSchema,
    envelope: withMessage('Successfully updated automation'), answer: enveloped(automationSchema),
  },
  {
    name: 'deleteAutomation', method: 'delete', path, summary: 'Delete an automation and its triggers',
    command: deleteAutomation,
    envelope: withMessage('Successfully deleted automation'), answer: enveloped(automationSchema),
  },
];
