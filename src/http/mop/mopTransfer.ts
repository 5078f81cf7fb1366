import { type Static, Type } from 'typebox';
import { importedId } from '../../commands/engine/imports.ts';
import { importAnalyticTemplate } from '../../commands/mop/analyticTemplates.ts';
import { importCommandTemplate } from '../../commands/mop/commandTemplates.ts';
import type { Words } from '../../domain/engine/importedDocuments.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { analyticTemplateSchema, importedAnalyticTemplateSchema } from '../../domain/mop/analyticTemplates.ts';
import { commandTemplateSchema, importedCommandTemplateSchema } from '../../domain/mop/commandTemplates.ts';
import type { Header } from '../../domain/mop/mopTemplates.ts';
import type { Projection } from '../../projections/engine/define.ts';
import { readableDocuments } from '../../projections/engine/documents.ts';
import { analyticTemplates } from '../../projections/mop/analyticTemplates.ts';
import { commandTemplates } from '../../projections/mop/commandTemplates.ts';
import type { TemplateDoc } from '../../projections/mop/mopTemplates.ts';
import { withMissing, withStatus } from '../engine/envelopes.ts';
import { exportedText, missingIn } from '../engine/imports.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { importedOne, overwriteSchema, wordsSchema } from '../engine/schemas.ts';
import { newId, requestOf } from '../engine/serve.ts';
import type { Service } from '../engine/service.ts';
import { showTemplate } from './mopTemplates.ts';

/** The kinds of templates by `type` of a request; `analytic` is another word for `analytics`. */
const kinds = {
  templates: { collection: commandTemplates, command: importCommandTemplate },
  analytics: { collection: analyticTemplates, command: importAnalyticTemplate },
  analytic: { collection: analyticTemplates, command: importAnalyticTemplate },
} as const;
const type = Type.Optional(
  Type.Enum(Object.keys(kinds) as (keyof typeof kinds)[], {
    default: 'templates',
    description: 'Command templates, or analytic templates',
  }),
);
const importedTemplate = Type.Union([importedCommandTemplateSchema, importedAnalyticTemplateSchema]);

const exportTemplate = actionRoute({
  name: 'exportTemplate',
  method: 'post',
  reads: true,
  path: '/export',
  access: ['operators', 'readers'],
  summary: 'Export a command template or an analytic template',
  description:
    'Selected by name or id; where both are given, both must be those of the template. The export also has what an ' +
    'import brought and the service does not know.',
  body: Type.Object(
    {
      options: Type.Optional(
        Type.Object(
          {
            name: Type.Optional(Type.String({ description: 'Its name' })),
            _id: Type.Optional(Type.String({ description: 'Its id' })),
            as: wordsSchema,
          },
          { additionalProperties: false, description: 'Which template' },
        ),
      ),
      type,
    },
    { additionalProperties: false },
  ),
  answer: importedTemplate,
  run: async (call, service) => {
    const { options: { name, _id, as } = {}, type = 'templates' } = call.body as {
      readonly options?: { readonly name?: string; readonly _id?: string; readonly as?: Words };
      readonly type?: keyof typeof kinds;
    };
    const { aggregate } = kinds[type].command;
    const collection: Projection = kinds[type].collection;
    const id = _id ?? (await idNamed(collection.collection, name, service));
    const [found]: readonly TemplateDoc<Header>[] =
      id === undefined ? [] : await readableDocuments(service.model, collection, [id], call.actor);
    if (!found || (name !== undefined && found.name !== name))
      throw new RequestError('not_found', 'Could not find matching template', { path: '/options' });
    const document = (await showTemplate(found, service, call)) as object;
    return {
      text: await exportedText({ aggregate, id: found._id, view: document, words: as }, service),
      exported: { kind: aggregate.category, id: found._id },
    };
  },
});

const idNamed = async (
  collection: string,
  name: string | undefined,
  { model }: Service,
): Promise<string | undefined> => {
  if (name === undefined)
    throw new RequestError('invalid', 'options must say which template: name or _id', { path: '/options' });
  const [id] = await model.idsNamed(collection, name);
  return id;
};

const envelope = withStatus(() => 'Successfully imported template');
type ImportedTemplate = typeof importedCommandTemplateSchema | typeof importedAnalyticTemplateSchema;

/** The body with a template of one kind. The list that only the other kind has tells that `type` is wrong. */
const importBody = ({ title: _, ...template }: ImportedTemplate & { readonly title?: string }, ofOtherKind: string) =>
  Type.Object(
    {
      type,
      template: { ...template, properties: { ...template.properties, [ofOtherKind]: false } } as ImportedTemplate,
      overwrite: overwriteSchema,
      options: Type.Optional(Type.Object({ overwrite: overwriteSchema }, { additionalProperties: false })),
    },
    { additionalProperties: false },
  );

type ImportBody = Static<ReturnType<typeof importBody>>;

/** The body, or the one around a template that is sent as exports give it. */
const unwrapped = (body: ImportBody | ImportBody['template']): ImportBody => {
  if ('template' in body) return body;
  return { type: 'prepostCommands' in body ? 'analytics' : 'templates', template: body };
};

const importTemplate = actionRoute({
  name: 'importTemplate',
  method: 'post',
  path: '/import',
  access: ['operators'],
  large: true,
  exact: '*',
  summary: 'Import a command template or an analytic template',
  description:
    'Takes what export gives. Id, times and authors are kept. The same document again is no change; other ' +
    'content under a used id or name is 409 unless overwrite is true.',
  body: {
    if: { type: 'object', required: ['template'], properties: { template: {} } },
    then: {
      if: { type: 'object', required: ['type'], properties: { type: { enum: ['analytics', 'analytic'] } } },
      then: importBody(importedAnalyticTemplateSchema, 'commands'),
      else: importBody(importedCommandTemplateSchema, 'prepostCommands'),
    },
    else: {
      if: { type: 'object', required: ['prepostCommands'], properties: { prepostCommands: {} } },
      then: importedAnalyticTemplateSchema,
      else: importedCommandTemplateSchema,
    },
  },
  answer: importedOne(Type.Union([commandTemplateSchema, analyticTemplateSchema])),
  run: async (call, service) => {
    const { type = 'templates', template, options, overwrite = options?.overwrite ?? false } = unwrapped(call.body);
    const { collection, command } = kinds[type as keyof typeof kinds];
    const about = requestOf('importTemplate', call, service);
    // Without `overwrite`, a document with an id concerns that id only. If another template has its name, the command
    // refuses the name as taken.
    const id =
      template._id !== undefined && !overwrite
        ? template._id
        : await importedId(
            { aggregate: command.aggregate, collection },
            template,
            newId(about.idempotency?.key),
            service.tools,
          );
    const result = await service.handle(command, { ...about, id, input: { template, overwrite } });
    const text = envelope(JSON.stringify(await showTemplate(result.doc as TemplateDoc<Header>, service, call)), result);
    return {
      text: withMissing(text, await missingIn(command.aggregate, id, '/template', service)),
      position: result.position,
      replayed: result.replayed,
    };
  },
});

/** Export and import of command templates and analytic templates. */
export const transferRoutes: readonly Route[] = [exportTemplate, importTemplate];
