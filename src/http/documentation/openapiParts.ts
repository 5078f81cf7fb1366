import { Type } from 'typebox';
import type { Code } from '../../domain/engine/refusal.ts';
import type { AreaRows } from '../engine/route.ts';
import { faultSchema } from '../engine/schemas.ts';
import type { schemaWriter } from './openapiSchemas.ts';

/** What each area is about. */
export const tags: Readonly<Record<AreaRows['area'], string>> = {
  authorization: 'Accounts, groups and roles, and what they may call',
  'lifecycle-manager': 'Resource models, their instances, groups of instances and actions',
  'operations-manager': 'Automations, their triggers, jobs and events',
  mop: 'Command templates and analytic templates',
  prebuilts: 'Packages of automations and what they need',
  'group-mappings': 'Groups of authentication providers and the groups they stand for',
  'gateway-manager': 'Service groups and certificates of gateways',
  'configuration-manager': 'Golden configurations, compliance, devices and device groups',
  'agent-session-manager': 'Agents and their sessions',
  customization: 'The banner',
  profiles: 'Settings of the service',
  'template-builder': 'Jinja2 templates',
  'json-forms': 'Forms',
  'inventory-manager': 'Inventories and their nodes',
  'automation-catalog': 'Scheduled jobs of earlier versions',
  service: 'Login, health and descriptions of the service itself',
};

const failures: Readonly<Record<Code, string>> = {
  invalid: 'The request is malformed; `errors` names the fields',
  unauthenticated: 'No credentials, or wrong ones',
  forbidden: 'No role for this operation, or no write access to the resource',
  not_found: 'No such resource, or none that the body names',
  method_not_allowed: 'The path does not know this method',
  conflict: 'The name is taken, or the state does not allow it',
  stale: 'If-Match names an older revision',
  too_large: 'The body is too large',
  unsupported_media: 'The body is not JSON in UTF-8',
  unprocessable: 'Well-formed, but it cannot be done',
  limited: 'Too many failed logins',
  internal: 'A bug; the answer has the request id',
  adapter_failed: 'The southbound system refused, failed or timed out',
  unavailable: 'A store cannot be reached, the answer takes too long, or the service is shutting down',
};

const failureSchema = Type.Object(
  {
    message: Type.String({ description: 'What is wrong, in a sentence' }),
    data: Type.Null(),
    metadata: Type.Object({
      errors: Type.Array(faultSchema),
    }),
  },
  { title: 'Failure', description: 'Every failure, whatever the operation' },
);

/** Schema of any text. */
export const text = { type: 'string' };
const position = { type: 'integer', minimum: 0 };

const requestHeaders = {
  'X-Request-Id': [
    'Id of this request, else the service makes one; it is answered, logged and kept with what the request changes',
    text,
  ],
  'X-Min-Position': ['Answer only once reads show everything up to this X-Event-Position', position],
  'If-None-Match': ['An ETag: 304 if the answer would still be the same', text],
  'If-Match': ['An ETag of the resource: 412 unless it is still at that revision', text],
  'Idempotency-Key': [
    'A request with the same key, path and body is carried out once and answered alike',
    { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' },
  ],
} as const;
export type RequestHeader = keyof typeof requestHeaders;

const answerHeaders = {
  'X-Request-Id': { description: 'Id of this request', schema: text },
  'X-Event-Position': { description: 'Position of the last event that the request led to', schema: position },
  ETag: { description: 'Tag of this state of the resource', schema: text },
  'Retry-After': { description: 'Seconds after which to try again', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'How to log in', schema: text },
};
export type AnswerHeader = keyof typeof answerHeaders;

/** A reference to a component. */
export const refTo = (kind: 'parameters' | 'headers' | 'responses' | 'schemas', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

/** Headers of an answer, by reference. */
export const headers = (...names: readonly AnswerHeader[]): object =>
  Object.fromEntries(names.map((name) => [name, refTo('headers', name)]));

const headersOf = (code: string): object =>
  headers(
    'X-Request-Id',
    ...(code === 'unauthenticated'
      ? (['WWW-Authenticate'] as const)
      : code === 'limited' || code === 'unavailable'
        ? (['Retry-After'] as const)
        : []),
  );

/** What operations refer to. Failures are called by their codes; `schemas` are those that `write` has put there. */
export const components = (schemas: object, write: ReturnType<typeof schemaWriter>): object => {
  const content = { 'application/json': { schema: write(failureSchema) } };
  return {
    schemas,
    parameters: Object.fromEntries(
      Object.entries(requestHeaders).map(([name, [description, schema]]) => [
        name,
        { name, in: 'header', description, schema },
      ]),
    ),
    headers: answerHeaders,
    responses: Object.fromEntries(
      Object.entries(failures).map(([code, description]) => [code, { description, headers: headersOf(code), content }]),
    ),
    securitySchemes: {
      basic: { type: 'http', scheme: 'basic' },
      bearer: { type: 'http', scheme: 'bearer', description: 'The token that a login answers' },
      cookie: {
        type: 'apiKey',
        in: 'cookie',
        name: 'token',
        description: 'The same as a cookie; the active profile may name it otherwise',
      },
    },
  };
};
