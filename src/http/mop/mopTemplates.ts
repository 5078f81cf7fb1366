import { type TSchema, Type } from 'typebox';
import { name } from '../../domain/engine/schemas.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import type { Header } from '../../domain/mop/mopTemplates.ts';
import type { Projection } from '../../projections/engine/define.ts';
import { readableDocuments } from '../../projections/engine/documents.ts';
import type { TemplateDoc } from '../../projections/mop/mopTemplates.ts';
import { signed } from '../authorization/people.ts';
import { withStatus } from '../engine/envelopes.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { ActionRoute, ChangeEnvelope, Join, ListEnvelope, ListRoute } from '../engine/route.ts';
import { actionRoute, listRoute } from '../engine/routes.ts';
import { changed } from '../engine/schemas.ts';

/** A template in answers. The secrets that an import has brought, in `namespace`, are masked. */
export const showTemplate: Join<TemplateDoc<Header>> = async (doc, service, call) =>
  maskSecrets(await signed(doc, service, call));

/** A JSON array without an envelope. */
const bare: ListEnvelope = (texts) => `[${texts.join(',')}]`;

/** The routes that change one kind of template. */
export const changesOfTemplates = <Doc extends TemplateDoc<Header>>(
  noun: string,
  documents: Projection<Doc>,
  schema: TSchema,
) =>
  resourceRoutes<Doc>({
    noun,
    path: '/',
    one: '/',
    documents,
    schema,
    read: ['operators', 'readers'],
    change: ['operators'],
    join: showTemplate,
  });

/** The answer of a creation. Programs for other platforms read the members behind `data`. */
export const creationAnswer = (
  noun: string,
  schema: TSchema,
): { readonly envelope: ChangeEnvelope; readonly answer: TSchema } => {
  const created = withStatus(() => `Successfully created ${noun}`);
  return {
    envelope: (text, result) =>
      `${created(text, result).slice(0, -1)},"result":{"ok":1},"ops":[${text}],"insertedCount":1,` +
      `"insertedIds":{"0":${JSON.stringify(result.id)}}}`,
    answer: Type.Object({
      ...changed(schema).properties,
      result: Type.Object({ ok: Type.Literal(1) }),
      ops: Type.Array(schema, { description: 'The same as data, in a list' }),
      insertedCount: Type.Literal(1),
      insertedIds: Type.Object({ 0: Type.String({ description: 'Its id' }) }),
    }),
  };
};

/** The route that lists one kind of template. */
export const templatesRoute = (operation: string, what: string, list: Projection, document: TSchema): ListRoute =>
  listRoute({
    name: operation,
    path: `/${operation}`,
    access: ['operators', 'readers'],
    summary: `List ${what}`,
    description: 'An array without a total: limit is 1000 unless given.',
    list,
    limit: 1000,
    join: showTemplate,
    envelope: bare,
    answer: Type.Array(document),
  });

/** The route that gives one template of one kind, by name or id, in an array. */
export const templateRoute = (
  operation: string,
  what: string,
  projection: Projection,
  document: TSchema,
): ActionRoute =>
  actionRoute({
    name: operation,
    method: 'get',
    path: `/${operation}/:name`,
    reads: true,
    access: ['operators', 'readers'],
    summary: `Get ${what} in an array`,
    description: 'By name or id; an empty array when there is none.',
    answer: Type.Array(document),
    shows: projection,
    run: async (call, service) => {
      const id = await service.tools.find(projection, call.params.name);
      const found = id === undefined ? [] : await readableDocuments(service.model, projection, [id], call.actor);
      return { body: await Promise.all(found.map((doc) => showTemplate(doc, service, call))) };
    },
  });

/** The template that a run names. */
export const templateNamed = name('Name or id of the template');

/** The members of a rule's result: whether the rule holds, or why that could not be determined. */
export const verdictMembers = {
  result: Type.Boolean({ description: 'True if it holds' }),
  error: Type.Optional(Type.String({ description: 'Why that could not be found out' })),
};

/** The schema of a run's answer. */
export const runSchema = (title: string, description: string, result: TSchema) =>
  Type.Object(
    {
      name: Type.String({ description: 'Name of the template' }),
      result: Type.Boolean({ description: 'True if it passed' }),
      all_pass_flag: Type.Boolean({ description: 'passRule of the template' }),
      commands_results: Type.Array(result),
    },
    { title, description },
  );
