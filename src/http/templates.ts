import { Type } from 'typebox';
import { createTemplate, deleteTemplate, updateTemplate } from '../commands/templates.ts';
import { type Cast, cast, castSchema } from '../domain/casts.ts';
import { Refusal } from '../domain/refusal.ts';
import { newTemplateSchema, templatePatchSchema, templateSchema } from '../domain/templateSchemas.ts';
import { type TemplateDoc, templates } from '../projections/templates.ts';
import { plain, results, withStatus } from './envelopes.ts';
import { signed } from './people.ts';
import type { ActionRow, AreaRows, Call } from './route.ts';
import { changed, listed } from './schemas.ts';
import type { Service } from './service.ts';

const path = '/templates/:name';
const named = 'name';
const variables = (description: string) => Type.Optional(Type.Object({}, { additionalProperties: true, description }));

/** The text of the stored template; `unprocessable` if it is of a type that cannot be rendered. */
const stored = async ({ params, actor }: Call, { entry }: Service): Promise<string> => {
  const { template, type }: TemplateDoc = JSON.parse((await entry(templates, params[named] ?? '', actor)).text);
  if (type !== 'jinja2') throw new Refusal('unprocessable', `A template of type ${type} cannot be rendered`);
  return template;
};

const renderJinja: ActionRow = {
  name: 'renderJinja', method: 'post', path: `${path}/renderJinja`, reading: true, summary: 'Render a template',
  body: Type.Object({ context: variables('Variables by name') }, { additionalProperties: false }),
  answer: Type.String({ description: 'The rendered text' }),
  run: async (call, service) => {
    const template = await stored(call, service);
    return { body: await service.renderer.render(template, call.body.context ?? {}) };
  },
};

const renderWithCast: ActionRow = {
  name: 'renderJinja2TemplateWithCast', method: 'post', path: `${path}/renderJinja2TemplateWithCast`, reading: true, summary: 'Render a template with cast',
  description: 'Renders the template of the body if there is one, else the stored one. 422 where the rendered text is no value of the type, with its first 200 characters.',
  body: Type.Object({
    template: Type.Optional(Type.String({ description: 'Text of a Jinja2 template, in place of the stored one' })),
    variables: variables('Variables by name'),
    castDataType: Type.Optional(castSchema),
  }, { additionalProperties: false }),
  answer: Type.Object({ renderedTemplate: Type.Any({ description: 'The rendered text, or the value of the type of castDataType that it stands for' }) }),
  run: async (call, service) => {
    const { variables = {}, castDataType = 'string', ...given }: { template?: string; variables?: Record<string, unknown>; castDataType?: Cast } = call.body;
    const template = given.template ?? await stored(call, service);
    return { text: `{"renderedTemplate":${cast(await service.renderer.render(template, variables), castDataType)}}` };
  },
};

/** Templates: api.md, operation 18, and its neighbours. */
export const templateRows: AreaRows = {
  area: 'template-builder', prefix: '/template_builder', rows: [
    {
      name: 'getTemplates', method: 'get', path: '/templates', reading: true, summary: 'List templates',
      list: templates, join: signed, envelope: results, answer: listed(templateSchema),
    },
    {
      name: 'createTemplate', method: 'post', path: '/templates', summary: 'Create a template', description: 'Its text is not parsed until it is rendered.',
      command: createTemplate, body: newTemplateSchema, join: signed,
      envelope: withStatus(() => 'Successfully created template'), answer: changed(templateSchema),
    },
    {
      name: 'getTemplate', method: 'get', path, reading: true, summary: 'Get a template, by name or id',
      get: templates, named, join: signed, envelope: plain, answer: templateSchema,
    },
    {
      name: 'updateTemplate', method: 'put', path, summary: 'Update a template, by name or id', description: 'What the body leaves out stays.',
      command: updateTemplate, named, body: templatePatchSchema, join: signed,
      envelope: withStatus(() => 'Successfully updated template'), answer: changed(templateSchema),
    },
    {
      name: 'deleteTemplate', method: 'delete', path, summary: 'Delete a template, by name or id', description: '409 when an automation names it as its component.',
      command: deleteTemplate, named, join: signed,
      envelope: withStatus(() => 'Successfully deleted template'), answer: changed(templateSchema),
    },
    renderJinja,
    renderWithCast,
  ],
};
