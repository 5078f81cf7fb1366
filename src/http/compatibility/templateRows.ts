import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { newTemplateSchema, templateDocumentSchema } from '../../domain/template-builder/templateSchemas.ts';
import type { ActionRoute, Call } from '../engine/route.ts';
import { templateRoutes } from '../template-builder/templates.ts';
import { bodyOf, dataIn, leadingTo, listingBy, rowNamed, within } from './leading.ts';
import { document, importedAnswer, importedAs, items, itemsAnswer } from './studioAnswers.ts';

const templateAnswer = document('The template; secrets are masked');
const row = (name: string) => rowNamed(templateRoutes, name);
const [creation, change] = [row('createTemplate'), row('updateTemplate')];
const path = '/templates/:id';
const ofTemplate = ({ params }: Call): Partial<Call> => ({ params: { name: params.id ?? '' } });
const changed = within('update', bodyOf(change));

/** Their templates are made without a text, and get it by a change. Their `namespace` has no meaning here. */
const { template: text, ...rest } = newTemplateSchema.properties;
const namespace = Type.Null({ description: 'Taken, and not kept' });
const outline = Type.Object(
  { ...rest, template: Type.Optional(text), namespace: Type.Optional(namespace) },
  { additionalProperties: false },
);
const contentOf = ({ namespace: _, ...content }: Members): Members => ({ template: '', ...content });
const documents = Type.Array(templateDocumentSchema, {
  minItems: 1,
  maxItems: 1000,
  description: 'Templates to take in',
});

/** `/automation-studio/templates`. */
export const templateRows: readonly ActionRoute[] = [
  listingBy(row('getTemplates'), row('getTemplate'), {
    method: 'get',
    path: '/templates',
    tell: items,
    answer: itemsAnswer(templateAnswer),
  }),
  leadingTo(creation, {
    method: 'post',
    path: '/templates',
    body: Type.Object({ template: outline }, { additionalProperties: false }),
    ask: ({ body }) => ({ body: contentOf((body as Members).template as Members) }),
    tell: (ours) => {
      const created = dataIn(ours);
      return { created, edit: `/template_builder/templates/${String(created._id)}` };
    },
    answer: Type.Object({ created: templateAnswer, edit: Type.String({ description: 'Address of the template' }) }),
  }),
  leadingTo(row('importTemplates'), {
    method: 'post',
    path: '/templates/import',
    body: Type.Object({ templates: documents }, { additionalProperties: false }),
    tell: importedAs('template', 'templates'),
    answer: importedAnswer(templateAnswer),
  }),
  leadingTo(row('exportTemplate'), {
    method: 'get',
    path: `${path}/export`,
    ask: ofTemplate,
    tell: (ours) => ours,
    answer: templateAnswer,
  }),
  leadingTo(row('getTemplate'), { method: 'get', path, ask: ofTemplate, tell: (ours) => ours, answer: templateAnswer }),
  leadingTo(change, {
    method: 'put',
    path,
    body: changed.body,
    ask: (call) => ({ ...ofTemplate(call), ...changed.ask(call) }),
    tell: (ours) => ({ updated: dataIn(ours) }),
    answer: Type.Object({ updated: templateAnswer }),
  }),
  leadingTo(row('deleteTemplate'), { method: 'delete', path, ask: ofTemplate, tell: dataIn, answer: templateAnswer }),
];
