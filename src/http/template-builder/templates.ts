import { Type } from 'typebox';
import { refuseRun, whyNotRun } from '../../commands/engine/access.ts';
import {
  createTemplate,
  deleteTemplate,
  importTemplate,
  templateMeant,
  updateTemplate,
} from '../../commands/template-builder/templates.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { cast, castSchema } from '../../domain/template-builder/casts.ts';
import { templateDocumentSchema, templateSchema } from '../../domain/template-builder/templateSchemas.ts';
import { maskTemplate, missingInTemplate, template } from '../../domain/template-builder/templates.ts';
import { type TemplateDoc, templates } from '../../projections/template-builder/templates.ts';
import { signed } from '../authorization/people.ts';
import { exportedText, importRoute } from '../engine/imports.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Call, Join, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { wordsSchema } from '../engine/schemas.ts';
import type { Service } from '../engine/service.ts';

const path = '/templates/:name';
const named = 'name';
const join: Join<TemplateDoc> = async (doc, service, call) =>
  maskTemplate((await signed(doc, service, call)) as TemplateDoc);
const variables = (description: string) =>
  Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}, { additionalProperties: true, description })),
  );

/** A template to render; `name` if it is a stored one. */
type Source = { readonly template: string; readonly name?: string };

/**
 * Renders a template when it is the caller's turn. Rendering ends when the caller no longer waits. The template may use
 * those that the caller may read.
 */
const rendered = (
  { template, ...source }: Source,
  variables: Readonly<Record<string, unknown>>,
  { actor, abandoned }: Call,
  service: Service,
): Promise<string> =>
  service.renderer.render(template, variables, {
    ...source,
    account: actor.id,
    signal: abandoned(),
    find: (name) => textOfAnother(name, actor, service),
  });

const textOfAnother = async (name: string, actor: Actor, { entry, tools }: Service): Promise<string | undefined> => {
  try {
    const { id, text } = await entry(templates, name, actor);
    if (await whyNotRun({ of: templates.of, id }, actor, tools)) return undefined;
    const { template, type }: TemplateDoc = JSON.parse(text);
    return type === 'jinja2' ? template : undefined;
  } catch (error) {
    if (error instanceof RequestError && error.code === 'not_found') return undefined;
    throw error;
  }
};

/** The stored template; throws `unprocessable` if its type cannot be rendered. */
const stored = async ({ params, actor }: Call, { entry, tools }: Service): Promise<Source> => {
  const { id, text } = await entry(templates, params[named] ?? '', actor);
  await refuseRun({ of: templates.of, id }, actor, tools);
  const { name, template, type }: TemplateDoc = JSON.parse(text);
  if (type !== 'jinja2') throw new RequestError('unprocessable', `A template of type ${type} cannot be rendered`);
  return { name, template };
};

const renderJinja = actionRoute({
  name: 'renderJinja',
  method: 'post',
  path: `${path}/renderJinja`,
  access: ['operators', 'readers'],
  summary: 'Render a template',
  description:
    'The stored template with the variables in context. The answer is the text, as a JSON string. The template may ' +
    'include, import and extend other stored templates by name.',
  body: Type.Object({ context: variables('Variables by name') }, { additionalProperties: false }),
  exact: 'context',
  answer: Type.String({ description: 'The rendered text' }),
  run: async (call, service) => {
    const source = await stored(call, service);
    return { body: await rendered(source, call.body.context ?? {}, call, service) };
  },
});

const renderWithCast = actionRoute({
  name: 'renderJinja2TemplateWithCast',
  method: 'post',
  path: `${path}/renderJinja2TemplateWithCast`,
  access: ['operators', 'readers'],
  summary: 'Render a template with cast',
  description:
    'Renders the template of the body if there is one, else the stored one. 422 where the rendered text is ' +
    'no value of the type, with its first 200 characters. The template may include, import and extend stored ' +
    'templates by name.',
  body: Type.Object(
    {
      template: Type.Optional(Type.String({ description: 'Text of a Jinja2 template, in place of the stored one' })),
      variables: variables('Variables by name'),
      castDataType: Type.Optional(castSchema),
    },
    { additionalProperties: false },
  ),
  exact: 'variables',
  answer: Type.Object({
    renderedTemplate: Type.Any({
      description: 'The rendered text, or the value of the type of castDataType that it stands for',
    }),
  }),
  run: async (call, service) => {
    const { variables = {}, castDataType = 'string', ...given } = call.body;
    const source = given.template === undefined ? await stored(call, service) : { template: given.template };
    return { text: `{"renderedTemplate":${cast(await rendered(source, variables, call, service), castDataType)}}` };
  },
});

const importTemplates = importRoute({
  name: 'importTemplates',
  method: 'post',
  path: '/import/templates',
  access: ['operators'],
  summary: 'Import templates',
  description:
    'Takes templates of any installation. Ids, times and authors are kept, and so is what the service does not know. ' +
    'The same document again is no change; other content under a used id or name is 409 unless overwrite is true.',
  member: 'templates',
  document: templateDocumentSchema,
  itemSchema: templateSchema,
  take: async ({ document, overwrite, fresh, about, path }, service, call) => {
    const id = await templateMeant(document, fresh, service.tools);
    const input = { template: document, overwrite };
    const { doc, position, replayed } = await service.handle(importTemplate, { ...about, id, input });
    const missingSecrets = missingInTemplate(await service.tools.state(template, id), path);
    return { data: await join(doc as TemplateDoc, service, call), position, replayed, missingSecrets };
  },
});

const exportTemplate = actionRoute({
  name: 'exportTemplate',
  method: 'get',
  reads: true,
  path: `${path}/export`,
  access: ['operators', 'readers'],
  summary: 'Export a template, by name or id',
  description:
    'The document that the import of templates takes back. The export also has what an import brought and the service does not ' +
    'know. Secrets are masked.',
  query: { as: wordsSchema },
  answer: templateDocumentSchema,
  run: async (call, service) => {
    const entry = await service.entry(templates, call.params[named], call.actor);
    const view = await join(JSON.parse(entry.text) as TemplateDoc, service, call);
    const { _id: id } = view as TemplateDoc;
    return {
      text: await exportedText({ aggregate: template, id, view: view as object, words: call.query.as }, service),
      exported: { kind: template.category, id },
    };
  },
});

const usual = resourceRoutes({
  noun: 'template',
  path: '/templates',
  one: path,
  documents: templates,
  schema: templateSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
  named,
  join,
});

/** Templates and their rendering (docs/templates.md). */
export const templateRoutes: readonly Route[] = [
  usual.list({ name: 'getTemplates', summary: 'List templates' }),
  usual.create({
    name: 'createTemplate',
    summary: 'Create a template',
    description: 'Its text is not parsed until it is rendered.',
    command: createTemplate,
    exact: 'data',
  }),
  importTemplates,
  exportTemplate,
  usual.get({ name: 'getTemplate', summary: 'Get a template, by name or id' }),
  usual.update({
    name: 'updateTemplate',
    method: 'put',
    summary: 'Update a template, by name or id',
    description: 'Members that the body leaves out stay.',
    command: updateTemplate,
    exact: 'data',
  }),
  usual.remove({
    name: 'deleteTemplate',
    summary: 'Delete a template, by name or id',
    description: '409 when an automation names it as its component.',
    command: deleteTemplate,
  }),
  renderJinja,
  renderWithCast,
];
