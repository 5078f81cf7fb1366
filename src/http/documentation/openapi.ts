import type { TSchema } from 'typebox';
import { defined } from '../../domain/engine/defined.ts';
import { asOfHeader, asOfParameter, takesAsOf } from '../engine/asOf.ts';
import { filterOps, isListing, listFieldsOf, pageParameters } from '../engine/query.ts';
import type { AreaRoutes, Route } from '../engine/route.ts';
import { fullPathOf, longestParam } from '../engine/router.ts';
import {
  type AnswerHeader,
  changes,
  codesOf,
  commonFailures,
  components,
  descriptionOf,
  type Example,
  type Failures,
  failureResponses,
  failureSchema,
  headers,
  type Recorded,
  type RequestHeader,
  refTo,
  schemaWriter,
  tagOf,
  tagsOf,
  takesIfMatch,
  text,
} from './openapiParts.ts';

type About = {
  readonly version: string;
  /** Recorded examples; without them the document shows none. */
  readonly recorded?: Recorded;
};
type Operation = {
  readonly area: AreaRoutes;
  readonly route: Route;
  readonly example: Example;
  readonly failures: Failures;
};
type Write = ReturnType<typeof schemaWriter>;

const nothing: Recorded = { examples: {}, failures: {} };

/** The OpenAPI 3.1 document of the whole API, made from its routes. */
export const openapi = (areas: readonly AreaRoutes[], { version, recorded = nothing }: About): object => {
  const schemas = {};
  const write = schemaWriter(schemas);
  const failure = write(failureSchema);
  const paths: Record<string, Record<string, object>> = {};
  for (const area of areas) {
    for (const route of area.routes) {
      const path = fullPathOf(area, route);
      const name = `${route.method.toUpperCase()} ${path}`;
      const example = recorded.examples[name] ?? {};
      const failures = recorded.failures[name] ?? {};
      const methods = paths[path.replace(/:(\w+)/g, '{$1}')] ?? {};
      methods[route.method] = operation({ area, route, example, failures }, write, failure);
      paths[path.replace(/:(\w+)/g, '{$1}')] = methods;
    }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Automation Platform', version, description },
    servers: [{ url: '/' }],
    tags: tagsOf(areas),
    security: [{ basic: [] }, { bearer: [] }, { cookie: [] }],
    paths,
    components: components(schemas, commonFailures(failure, recorded.failures['*'] ?? {})),
  };
};

const description =
  'Network automation and orchestration: every change is an event, every read a view of them. The examples were ' +
  'recorded from a running service: ids, times and secrets in them are made up, lists are cut to two members.';

const idOf = ({ area }: AreaRoutes, { name, alias }: Route): string => `${area}.${name}${alias ? 'Compatible' : ''}`;

const operation = ({ area, route, example, failures }: Operation, write: Write, failure: object): object => {
  const path = fullPathOf(area, route);
  const described: Record<string, unknown> = {
    operationId: idOf(area, route),
    'x-operation': route.name,
    ...(area.compatible && { 'x-compatibility': true }),
    tags: [tagOf(area)],
    summary: route.summary,
    description: descriptionOf(area.area, route),
  };
  if (route.deprecated) described.deprecated = true;
  if (route.access === 'open') described.security = [];
  described.parameters = [
    ...pathParameters(path, route, example),
    ...queryParameters(route, write),
    ...(takesAsOf(route) ? [refTo('parameters', asOfParameter)] : []),
    ...requestHeaders(route).map((name) => refTo('parameters', name)),
  ];
  // A body of a GET has no meaning in OpenAPI: its query says the same.
  if (route.body && route.method !== 'get') {
    const type = route.form ? 'application/x-www-form-urlencoded' : 'application/json';
    const content = { [type]: withExample({ schema: write(route.body) }, example.body) };
    described.requestBody = { required: needed(route.body), content };
  }
  const responses: Record<number, object> = { [route.empty ? 204 : 200]: success(route, example, write) };
  if (route.method === 'get') responses[304] = { description: 'Still the same', headers: headers('ETag') };
  Object.assign(responses, failureResponses(codesOf(route, path), failure, failures));
  if (route.name === 'ready') responses[503] = notReady(route, write, failure);
  described.responses = responses;
  return described;
};

/** The answer 503 of /health/ready. It has no error body, except while the service shuts down. */
const notReady = (route: Route, write: Write, failure: object): object => ({
  description: 'Requests cannot be answered now',
  headers: headers('X-Request-Id'),
  content: { 'application/json': { schema: { anyOf: [write(route.answer), failure] }, example: { status: 'down' } } },
});

const success = (route: Route, { answer }: Example, write: Write): object => {
  const { contentMediaType = 'application/json', ...schema } = route.answer as TSchema & { contentMediaType?: string };
  return {
    description: 'Success',
    headers: headers(...answerHeaders(route)),
    ...(!route.empty && { content: { [contentMediaType]: withExample({ schema: write(schema) }, answer) } }),
  };
};

const withExample = (content: object, example: unknown): object =>
  example === undefined ? content : { ...content, example };

const pathParameters = (path: string, { parent }: Route, { params }: Example): object[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) =>
    defined({
      name,
      in: 'path',
      required: true,
      description: name === 'id' || name === parent?.param ? 'Id or name' : undefined,
      schema: { type: 'string', minLength: 1, maxLength: longestParam(name) },
      example: params?.[name],
    }),
  );

const queryParameters = (route: Route, write: Write): object[] => {
  const list = isListing(route) ? listFieldsOf(route) : undefined;
  const parameters = list ? { ...route.query, ...pageParameters(list) } : (route.query ?? {});
  const declared = Object.entries(parameters).map(([name, schema]) => {
    const { description, ...written } = write(schema);
    return defined({ name, in: 'query', description, schema: written });
  });
  return list ? [...filterParameters(list.filters), ...declared] : declared;
};

const comparisons = {
  equals: 'is exactly',
  startsWith: 'begins, in any case, with',
  contains: 'contains, in any case,',
};

const filterParameters = (filters: readonly string[]): object[] =>
  Object.entries(filterOps).map(([name, op]) => ({
    name,
    in: 'query',
    style: 'deepObject',
    explode: true,
    description:
      `Documents in which a field ${comparisons[op]} the text. ` +
      'Different fields: all must; a field again: one must. ' +
      'Or as JSON: objects (repeated or in an array) of which one must fit with all its fields.',
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

const requestHeaders = (route: Route): readonly RequestHeader[] => {
  const names: RequestHeader[] = ['X-Request-Id'];
  if (route.method === 'get') names.push('If-None-Match');
  if (route.method === 'get' && route.access !== 'open') names.push('X-Min-Position');
  if (takesIfMatch(route)) names.push('If-Match');
  if (changes(route)) names.push('Idempotency-Key');
  if (route.byClaim) names.push('X-Claim');
  return names;
};

const answerHeaders = (route: Route): readonly AnswerHeader[] => {
  const names: AnswerHeader[] = ['X-Request-Id'];
  if (route.method === 'get' || 'command' in route) names.push('ETag');
  if (changes(route)) names.push('X-Event-Position');
  if (takesAsOf(route)) names.push(asOfHeader);
  return names;
};

/** True if the body is required: the empty object, which stands for no body, is not valid. */
const needed = (
  body: TSchema & { readonly required?: readonly string[]; readonly anyOf?: unknown; readonly if?: unknown },
): boolean => (body.required?.length ?? 0) > 0 || body.anyOf !== undefined || body.if !== undefined;
