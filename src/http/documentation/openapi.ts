import type { TSchema } from 'typebox';
import type { Code } from '../../domain/engine/refusal.ts';
import { statusOf } from '../engine/errors.ts';
import { filterOps } from '../engine/filters.ts';
import { type ListFields, pageParameters } from '../engine/query.ts';
import type { AreaRows, Row } from '../engine/route.ts';
import { fullPathOf } from '../engine/router.ts';
import { type AnswerHeader, components, headers, type RequestHeader, refTo, tags, text } from './openapiParts.ts';
import { schemaWriter } from './openapiSchemas.ts';

/** The description of the whole API, OpenAPI 3.1, from its rows. JSON. */
export const openapi = (areas: readonly AreaRows[], { version }: { readonly version: string }): object => {
  const schemas = {};
  const write = schemaWriter(schemas);
  const paths: Record<string, Record<string, object>> = {};
  for (const area of areas) {
    for (const row of area.rows)
      (paths[fullPathOf(area, row).replace(/:(\w+)/g, '{$1}')] ??= {})[row.method] = operation(area, row, write);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Automation Platform',
      version,
      description: 'Network automation and orchestration: every change is an event, every read a view of them.',
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags)
      .filter(([name]) => areas.some(({ area }) => area === name))
      .map(([name, description]) => ({ name, description })),
    security: [{ basic: [] }, { bearer: [] }, { cookie: [] }],
    paths,
    components: components(schemas, write),
  };
};

type Write = ReturnType<typeof schemaWriter>;

const operation = (area: AreaRows, row: Row, write: Write): object => ({
  operationId: `${area.area}.${row.name}`,
  'x-operation': row.name,
  tags: [area.area],
  summary: row.summary,
  ...(row.description && { description: row.description }),
  ...(row.deprecated && { deprecated: true }),
  ...(row.access === 'open' && { security: [] }),
  parameters: [
    ...pathParameters(fullPathOf(area, row), row),
    ...queryParameters(row, write),
    ...requestHeaders(row).map((name) => refTo('parameters', name)),
  ],
  ...(row.body && {
    requestBody: { required: needed(row.body), content: { 'application/json': { schema: write(row.body) } } },
  }),
  responses: {
    200: {
      description: 'Success',
      headers: headers(...answerHeaders(row)),
      content: contentOf(row.answer, write),
    },
    ...(row.method === 'get' && { 304: { description: 'Still the same', headers: headers('ETag') } }),
    ...Object.fromEntries(
      codesOf(row, fullPathOf(area, row)).map((code) => [statusOf[code], refTo('responses', code)]),
    ),
  },
});

const pathParameters = (path: string, { parent }: Row): object[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    ...((name === 'id' || name === parent?.param) && { description: 'Id or name' }),
    schema: { type: 'string', minLength: 1, maxLength: 256 },
  }));

const queryParameters = (row: Row, write: Write): object[] => {
  const list = listFields(row);
  const parameters = { ...row.query, ...(list && pageParameters(list)) };
  const declared = Object.entries(parameters).map(([name, schema]) => {
    const { description, ...written } = write(schema);
    return { name, in: 'query', ...(description && { description }), schema: written };
  });
  return list ? [...filterParameters(list.filters), ...declared] : declared;
};

const listFields = (row: Row): ListFields | undefined =>
  'list' in row && row.list
    ? {
        sorts: Object.keys(row.list.sorts),
        filters: Object.keys(row.list.filters),
        ...('order' in row && row.order && { order: row.order }),
        ...('limit' in row && row.limit && { limit: row.limit }),
      }
    : undefined;

const filterParameters = (filters: readonly string[]): object[] =>
  Object.entries(filterOps).map(([name, op]) => ({
    name,
    in: 'query',
    style: 'deepObject',
    explode: true,
    description:
      `Documents in which a field ${{ equals: 'is exactly', startsWith: 'begins, in any case, with', contains: 'contains, in any case,' }[op]} the text. ` +
      'Different fields: all must; a field again: one must. Or as JSON: objects (repeated or in an array) of which one must fit with all its fields.',
    schema: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(
        filters
          .filter((field) => field !== 'deprecated' || op === 'equals')
          .map((field) => [field, field === 'deprecated' ? { enum: ['true', 'false'] } : text]),
      ),
    },
    example: {},
  }));

/** Whether it stores something: what readers may call does not. */
const changes = ({ method, access }: Row): boolean =>
  method !== 'get' && access !== 'open' && !access.includes('readers');

const requestHeaders = (row: Row): readonly RequestHeader[] => [
  'X-Request-Id',
  ...(row.method === 'get' ? (['If-None-Match'] as const) : []),
  ...(row.method === 'get' && row.access !== 'open' ? (['X-Min-Position'] as const) : []),
  ...('command' in row && row.command.on !== 'new' ? (['If-Match'] as const) : []),
  ...(changes(row) ? (['Idempotency-Key'] as const) : []),
];

const answerHeaders = (row: Row): readonly AnswerHeader[] => [
  'X-Request-Id',
  ...(row.method === 'get' || 'command' in row ? (['ETag'] as const) : []),
  ...(changes(row) ? (['X-Event-Position'] as const) : []),
];

const codesOf = (row: Row, path: string): readonly Code[] => {
  const codes: Code[] = ['invalid', 'internal', 'unavailable'];
  const command = 'command' in row;
  const action = 'run' in row && row.method !== 'get';
  // Logging in is open and guarded all the same.
  if (row.access !== 'open' || row.method !== 'get') codes.push('unauthenticated', 'limited');
  if (typeof row.access !== 'string') codes.push('forbidden');
  if (path.includes(':') || command || action) codes.push('not_found');
  if (row.method !== 'get') codes.push('too_large', 'unsupported_media');
  if (command || action) codes.push('conflict', 'unprocessable');
  if (command && row.command.on !== 'new') codes.push('stale');
  if (action) codes.push('adapter_failed');
  return codes;
};

/** Whether the empty object, which stands for no body, does not fit. */
const needed = (
  body: TSchema & { readonly required?: readonly string[]; readonly anyOf?: unknown; readonly if?: unknown },
): boolean => (body.required?.length ?? 0) > 0 || body.anyOf !== undefined || body.if !== undefined;

const contentOf = (answer: TSchema & { readonly contentMediaType?: string }, write: Write): object => {
  const { contentMediaType = 'application/json', ...schema } = answer;
  return { [contentMediaType]: { schema: write(schema) } };
};
