import { Type } from 'typebox';
import { refuseRun } from '../../commands/engine/access.ts';
import {
  createAnalyticTemplate,
  deleteAnalyticTemplate,
  updateAnalyticTemplate,
} from '../../commands/mop/analyticTemplates.ts';
import { runAnalyticTemplate } from '../../commands/mop/runTemplates.ts';
import {
  analyticRuleSchema,
  analyticTemplate,
  analyticTemplateSchema,
  contentOf,
} from '../../domain/mop/analyticTemplates.ts';
import { analyticTemplates } from '../../projections/mop/analyticTemplates.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import {
  changesOfTemplates,
  creationAnswer,
  runSchema,
  templateNamed,
  templateRoute,
  templatesRoute,
  verdictMembers,
} from './mopTemplates.ts';

const texts = (description: string) => Type.Array(Type.String(), { maxItems: 100, description });

const described = (description: string) =>
  Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())], { description }));
const ruleResult = Type.Object(
  {
    ...analyticRuleSchema.properties,
    ...verdictMembers,
    pre: described('The values before; of a table its first 100 rows'),
    post: described('The same after'),
  },
  { title: 'AnalyticRuleResult', description: 'A rule and what it says of the answers' },
);
const pairResult = Type.Object(
  {
    preRawCommand: Type.String({ description: 'The command that was asked before' }),
    postRawCommand: Type.String({ description: 'The command that was asked after' }),
    result: Type.Boolean({ description: 'True if the pair passed' }),
    all_pass_flag: Type.Boolean({ description: 'passRule of the pair' }),
    rules: Type.Array(ruleResult),
    preCommandResHTML: Type.String({ description: 'The answer before as HTML that shows it as it is' }),
    postCommandResHTML: Type.String({ description: 'The same after' }),
  },
  { title: 'CommandPairResult', description: 'Answers before and after' },
);

const run = actionRoute({
  name: 'runAnalyticTemplate',
  method: 'post',
  path: '/RunAnalyticTemplate',
  access: ['operators', 'readers'],
  summary: 'Compare answers before and after by an analytic template',
  description: 'One text per pair of commands, in their order. Asks no device.',
  body: Type.Object(
    { template: templateNamed, pre: texts('Answers before'), post: texts('Answers after') },
    { additionalProperties: false },
  ),
  answer: runSchema('AnalyticTemplateRun', 'Results in the order of the pairs', pairResult),
  run: async ({ body: { template, pre, post }, actor }, service) => {
    const { id, text } = await service.entry(analyticTemplates, template, actor);
    await refuseRun({ of: analyticTemplate, id }, actor, service.tools);
    return { body: await runAnalyticTemplate(contentOf(JSON.parse(text)), pre, post) };
  },
});

const usual = changesOfTemplates('analytic template', analyticTemplates, analyticTemplateSchema);

/** Analytic templates (docs/command-templates.md). */
export const analyticTemplateRoutes: readonly Route[] = [
  templatesRoute('listAnalyticTemplates', 'analytic templates', analyticTemplates, analyticTemplateSchema),
  templateRoute('listAnAnalyticTemplate', 'an analytic template', analyticTemplates, analyticTemplateSchema),
  usual.create({
    name: 'createAnalyticTemplate',
    path: '/createAnalyticTemplate',
    summary: 'Create an analytic template',
    command: createAnalyticTemplate,
    ...creationAnswer('analytic template', analyticTemplateSchema),
  }),
  usual.update({
    name: 'updateAnalyticTemplate',
    method: 'post',
    path: '/updateAnalyticTemplate/:id',
    summary: 'Replace an analytic template',
    description:
      'Brings it to what the document says; what that leaves out gets its default. Id, times and authors of ' +
      'the document change nothing.',
    command: updateAnalyticTemplate,
  }),
  usual.remove({
    name: 'deleteAnalyticTemplate',
    method: 'post',
    path: '/deleteAnalyticTemplate/:id',
    summary: 'Delete an analytic template',
    command: deleteAnalyticTemplate,
  }),
  run,
];
