import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import type { ActionRoute, AreaRoutes, Route } from '../engine/route.ts';
import { workflowRoutes } from '../operations-manager/workflows.ts';
import { transformationRoutes } from '../template-builder/transformations.ts';
import { bodyOf, dataIn, flag, leadingTo, listingBy, rowNamed, within } from './leading.ts';
import { document, importedAnswer, importedAs, items, itemsAnswer } from './studioAnswers.ts';

const workflowAnswer = document('The workflow with all its members; secrets are masked');
const transformationAnswer = document('The transformation with all its members; secrets are masked');

const studioRows = (rows: readonly Route[]): readonly ActionRoute[] => {
  const row = (name: string): Route => rowNamed(rows, name);
  const [creation, replacement] = [row('createWorkflow'), row('replaceWorkflow')];
  return [
    listingBy(row('getWorkflows'), row('getWorkflow'), {
      method: 'get',
      path: '/workflows',
      query: { 'exclude-project-members': Type.Boolean({ description: 'True leaves out those of projects' }) },
      more: {
        'exclude-project-members': (value) =>
          flag('exclude-project-members', value) ? 'multiEquals[inProject]=false' : '',
      },
      tell: items,
      answer: itemsAnswer(workflowAnswer),
    }),
    leadingTo(row('getWorkflow'), {
      method: 'get',
      path: '/workflows/detailed/:namePath',
      ask: ({ params }) => ({ params: { id: params.namePath ?? '' } }),
      tell: dataIn,
      answer: workflowAnswer,
    }),
    leadingTo(row('validateWorkflow'), {
      method: 'post',
      path: '/workflows/validate',
      body: bodyOf(row('validateWorkflow')),
      tell: (ours) => {
        const { faults, warnings } = dataIn(ours);
        return { errors: faults, warnings };
      },
      answer: Type.Object({
        errors: Type.Array(document('Fault'), { description: 'Faults to mend before it can run' }),
        warnings: Type.Array(document('Warning'), { description: 'Places that may be meant otherwise' }),
      }),
    }),
    leadingTo(creation, {
      method: 'post',
      path: '/automations',
      ...within('automation', bodyOf(creation)),
      tell: (ours) => {
        const created = dataIn(ours);
        return { created, edit: `/operations-manager/workflows/${String(created._id)}` };
      },
      answer: Type.Object({ created: workflowAnswer, edit: Type.String({ description: 'Address of the document' }) }),
    }),
    leadingTo(row('importWorkflows'), {
      method: 'post',
      path: '/automations/import',
      body: Type.Object(
        {
          automations: Type.Array(bodyOf(creation), {
            minItems: 1,
            maxItems: 1000,
            description: 'Documents to take in',
          }),
        },
        { additionalProperties: false },
      ),
      ask: ({ body }) => ({ body: { workflows: (body as Members).automations } }),
      tell: importedAs('workflow', 'automations'),
      answer: importedAnswer(workflowAnswer),
    }),
    leadingTo(replacement, {
      method: 'put',
      path: '/automations/:id',
      ...within('update', bodyOf(replacement)),
      tell: (ours) => ({ updated: dataIn(ours) }),
      answer: Type.Object({ updated: workflowAnswer }),
    }),
  ];
};

const builderRows = (rows: readonly Route[]): readonly ActionRoute[] => [
  leadingTo(rowNamed(rows, 'exportWorkflow'), {
    method: 'post',
    path: '/export',
    body: Type.Object(
      {
        options: Type.Object(
          {
            _id: Type.Optional(Type.String({ description: 'Id', minLength: 1, maxLength: 256 })),
            name: Type.Optional(Type.String({ description: 'Name', minLength: 1, maxLength: 256 })),
          },
          {
            additionalProperties: false,
            minProperties: 1,
            maxProperties: 1,
            description: 'The workflow to export',
            examples: [{ name: 'Change a port' }],
          },
        ),
      },
      { additionalProperties: false },
    ),
    ask: ({ body }) => {
      const { _id, name } = (body as { readonly options: { readonly _id?: string; readonly name?: string } }).options;
      return { params: { id: _id ?? name ?? '' }, query: {} };
    },
    tell: (ours) => ours,
    answer: workflowAnswer,
  }),
  leadingTo(rowNamed(rows, 'deleteWorkflow'), {
    method: 'delete',
    path: '/workflows/delete/:namePath',
    ask: ({ params }) => ({ params: { id: params.namePath ?? '' } }),
    tell: dataIn,
    answer: workflowAnswer,
  }),
];

const transformationRows = (rows: readonly Route[]): readonly ActionRoute[] => {
  const row = (name: string): Route => rowNamed(rows, name);
  const creation = row('createTransformation');
  return [
    listingBy(row('getTransformations'), row('getTransformation'), {
      method: 'get',
      path: '/',
      tell: ({ documents, total }) => ({ results: documents, total }),
      answer: Type.Object({
        results: Type.Array(transformationAnswer),
        total: Type.Integer({ description: 'How many documents fit the filters' }),
      }),
    }),
    leadingTo(creation, {
      method: 'post',
      path: '/',
      body: bodyOf(creation),
      tell: dataIn,
      answer: transformationAnswer,
    }),
    leadingTo(row('importTransformations'), {
      method: 'post',
      path: '/import',
      body: bodyOf(creation),
      ask: ({ body }) => ({ body: { transformations: [body] } }),
      tell: ({ data }) => (data as readonly Members[])[0]?.data,
      answer: transformationAnswer,
    }),
    leadingTo(row('getTransformation'), {
      method: 'get',
      path: '/:id',
      tell: dataIn,
      answer: transformationAnswer,
    }),
    leadingTo(row('deleteTransformation'), {
      method: 'delete',
      path: '/:id',
      empty: true,
      tell: () => undefined,
      answer: Type.Null(),
    }),
  ];
};

/** Rows of workflows and transformations. */
export const documentRows = (areas: () => readonly AreaRoutes[]) => {
  const workflows = workflowRoutes(areas);
  return {
    studio: studioRows(workflows),
    builder: builderRows(workflows),
    transformations: transformationRows(transformationRoutes(areas)),
  };
};
