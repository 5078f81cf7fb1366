import { exactText, type Members, plainValue } from '@automation-platform/json';
import { Type } from 'typebox';
import {
  createWorkflow,
  deleteWorkflow,
  faultsOf,
  findingsIn,
  importedWorkflow,
  importWorkflow,
  replaceWorkflow,
} from '../../commands/operations-manager/workflows.ts';
import { authored, objectId } from '../../domain/engine/authors.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import {
  methodsNeeded,
  workflow,
  workflowDecisions,
  workflowDocumentSchema,
} from '../../domain/operations-manager/workflow.ts';
import { isInstant } from '../../domain/operations-manager/workflows/dataTasks.ts';
import { workflowGraph } from '../../domain/operations-manager/workflows/workflowGraph.ts';
import type { WorkflowDocument } from '../../domain/operations-manager/workflows/workflows.ts';
import { type WorkflowDoc, workflows } from '../../projections/operations-manager/workflows.ts';
import { signed } from '../authorization/people.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import { exportedText } from '../engine/importedDocuments.ts';
import { importRoute } from '../engine/imports.ts';
import { refuseNeeded } from '../engine/neededMethods.ts';
import type { AreaRoutes, Join, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { enveloped, orWrapped, wordsSchema } from '../engine/schemas.ts';

const findingSchema = Type.Object(
  {
    code: Type.String({ description: 'Kind of the fault (docs/workflows.md)' }),
    task: Type.Union([Type.String(), Type.Null()], {
      description: 'Task that it is about, or the source of an edge; null: the whole',
    }),
    path: Type.String({ description: 'JSON pointer into the document' }),
    message: Type.String(),
  },
  { title: 'Finding', description: 'Fault or warning of a document' },
);
const findingsMembers = {
  faults: Type.Array(findingSchema, { description: 'What must be mended before it can be started' }),
  warnings: Type.Array(findingSchema, { description: 'What may be meant otherwise; stops nothing' }),
};

const workflowSchema = Type.Object(
  { _id: objectId('Id'), name: Type.String(), ...findingsMembers, ...authored },
  { additionalProperties: true, title: 'Workflow', description: 'Workflow with all its members; secrets are masked' },
);
const summarySchema = Type.Object(
  {
    _id: objectId('Id'),
    name: Type.String(),
    description: Type.String(),
    tasks: Type.Integer({ description: 'How many tasks it has, without start and end' }),
    faults: Type.Integer({ description: 'How many faults it has' }),
    ...authored,
  },
  { title: 'WorkflowSummary', description: 'Workflow in a list' },
);

const maskWorkflow: Join<WorkflowDoc> = async (doc, service, call) => maskSecrets(await signed(doc, service, call));

/** A workflow with its faults and warnings. */
const showWorkflow: Join<WorkflowDoc> = async (doc, service, call) => ({
  ...((await maskWorkflow(doc, service, call)) as Members),
  ...(await findingsIn(doc, service.tools)),
});

const summaryOf: Join<WorkflowDoc> = async (doc, service, call) => {
  const { _id, name, description, created, createdBy, lastUpdated, lastUpdatedBy } = (await signed(
    doc,
    service,
    call,
  )) as WorkflowDoc;
  const graph = workflowGraph(plainValue(doc) as WorkflowDocument, isInstant);
  return {
    _id,
    name,
    description: typeof description === 'string' ? description : '',
    tasks: graph.tasks.filter(({ kind }) => kind !== 'start' && kind !== 'end').length,
    faults: faultsOf(graph).length,
    created,
    createdBy,
    lastUpdated,
    lastUpdatedBy,
  };
};

const oneDocument = orWrapped('document', workflowDocumentSchema);
const list = '/workflows';
const path = `${list}/:id`;

/** Workflows (docs/workflows.md). */
export const workflowRoutes = (areas: () => readonly AreaRoutes[]): readonly Route[] => [
  listRoute({
    name: 'getWorkflows',
    method: 'get',
    path: list,
    access: ['operators', 'readers'],
    summary: 'List workflows',
    list: workflows,
    join: summaryOf,
    envelope: resultsWithMessage('Successfully retrieved workflows'),
    answer: enveloped(Type.Array(summarySchema)),
  }),
  commandRoute({
    name: 'createWorkflow',
    method: 'post',
    path: list,
    access: ['operators'],
    summary: 'Create a workflow',
    description:
      'The body is the document. One with faults is kept, and cannot be started. The caller needs the methods of the ' +
      'operations that its tasks stand for, too.',
    large: true,
    command: createWorkflow,
    exact: '*',
    refuse: (call) => refuseNeeded(methodsNeeded(call.body), call, areas()),
    join: showWorkflow,
    envelope: withMessage('Successfully created workflow'),
    answer: enveloped(workflowSchema),
  }),
  importRoute({
    name: 'importWorkflows',
    method: 'put',
    path: list,
    access: ['operators'],
    summary: 'Import workflows',
    description:
      'Takes workflows of any installation. All members are kept in their order, with ids, times and authors. The same ' +
      'document again is no change; other content under a used id or name is 409 unless overwrite is true.',
    member: 'workflows',
    document: workflowDocumentSchema,
    itemSchema: workflowSchema,
    take: async ({ document, overwrite, fresh, about, path }, service, call) => {
      refuseNeeded(methodsNeeded(document), call, areas());
      const id = await importedWorkflow(document, fresh, service.tools);
      const input = { document, overwrite };
      const { doc, position, replayed } = await service.handle(importWorkflow, { ...about, id, input });
      const missingSecrets = workflowDecisions.missing(await service.tools.state(workflow, id), path);
      return { data: await showWorkflow(doc as WorkflowDoc, service, call), position, replayed, missingSecrets };
    },
  }),
  actionRoute({
    name: 'exportWorkflow',
    method: 'get',
    reads: true,
    path: `${path}/export`,
    access: ['operators', 'readers'],
    summary: 'Export a workflow',
    description:
      'The document as it came in, or as it was written here with its id, times and authors. Secrets are masked. The ' +
      'words are always those of the document.',
    query: { as: wordsSchema },
    answer: workflowDocumentSchema,
    run: async (call, service) => {
      const entry = await service.entry(workflows, call.params.id, call.actor);
      const view = (await maskWorkflow(JSON.parse(entry.text) as WorkflowDoc, service, call)) as WorkflowDoc;
      const of = { aggregate: workflow, id: view._id, view, words: 'imported' } as const;
      return { text: await exportedText(of, service), exported: { kind: workflow.category, id: view._id } };
    },
  }),
  actionRoute({
    name: 'validateWorkflow',
    method: 'post',
    path: `${list}/validate`,
    access: ['operators', 'readers'],
    summary: 'Find the faults of a document',
    description: 'The body is the document, or has it in document. Nothing is stored.',
    large: true,
    body: oneDocument.body,
    exact: '*',
    answer: enveloped(Type.Object(findingsMembers)),
    run: async ({ body }, { tools }) => ({
      text: exactText({
        message: 'Successfully validated workflow',
        data: await findingsIn(oneDocument.input({}, body), tools),
        metadata: {},
      }),
    }),
  }),
  getRoute({
    name: 'getWorkflow',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get a workflow',
    get: workflows,
    join: showWorkflow,
    envelope: withMessage('Successfully retrieved workflow'),
    answer: enveloped(workflowSchema),
  }),
  commandRoute({
    name: 'replaceWorkflow',
    method: 'put',
    path,
    access: ['operators'],
    summary: 'Replace a workflow',
    description:
      'The body is the whole document; id, times, authors and faults in it are ignored, and ******** keeps a secret. ' +
      'Jobs that run it go on with what they began. 409 if it is renamed while an automation names it.',
    large: true,
    command: replaceWorkflow,
    exact: '*',
    refuse: (call) => refuseNeeded(methodsNeeded(call.body), call, areas()),
    join: showWorkflow,
    envelope: withMessage('Successfully replaced workflow'),
    answer: enveloped(workflowSchema),
  }),
  commandRoute({
    name: 'deleteWorkflow',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete a workflow',
    description: 'Jobs that run it go on. 409 while an automation names it.',
    command: deleteWorkflow,
    join: showWorkflow,
    envelope: withMessage('Successfully deleted workflow'),
    answer: enveloped(workflowSchema),
  }),
];
