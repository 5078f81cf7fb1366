import { type Code, RequestError } from '../../domain/engine/requestError.ts';
import { failureBody, internal, statusOf, unmetExpectation } from '../engine/errors.ts';
import type { Route } from '../engine/route.ts';
import type { Failure, Failures } from './examples.ts';
import { type AnswerHeader, headers, refTo } from './openapiParts.ts';

const words: Readonly<Record<Code, string>> = {
  invalid: 'The request is malformed; `errors` names the fields',
  unauthenticated: 'No credentials, or wrong ones',
  forbidden: 'No role for this operation, or no write access to the resource',
  not_found: 'No such resource, or none that the body names',
  method_not_allowed: 'The path does not know this method; `Allow` names those that it knows',
  conflict: 'The name is taken, or the state does not allow it',
  stale: 'If-Match names an older revision',
  too_large: 'The body is too large',
  unsupported_media: 'The body is not JSON in UTF-8',
  expectation_failed: 'The request expects something else than 100-continue',
  unprocessable: 'Well-formed, but it cannot be done; or the Idempotency-Key was used with another request',
  limited: 'Too many failed logins, or too much waits already',
  internal: 'A bug; the answer has the request id',
  adapter_failed: 'The southbound system refused, failed or timed out',
  unavailable: 'A store cannot be reached, the answer takes too long, or the service is shutting down',
};

const bodyOf = (error: RequestError): Failure => JSON.parse(failureBody(error)) as Failure;

/** Example bodies of errors that tests do not provoke for each operation, made like the real ones. */
const rare: Failures = {
  expectation_failed: bodyOf(unmetExpectation()),
  limited: bodyOf(new RequestError('limited', 'Too many failed logins; try again later')),
  internal: bodyOf(internal('3f2b8a04-6f0e-4c1d-9a7b-2d4e6f8a0c11')),
  adapter_failed: bodyOf(
    new RequestError('adapter_failed', 'Adapter "core": there was no answer in time', {
      metadata: { adapter: { name: 'core', status: null, body: null } },
    }),
  ),
  unavailable: bodyOf(new RequestError('unavailable', 'This node cannot reach the event log')),
};

const ofCode: Readonly<Partial<Record<Code, readonly AnswerHeader[]>>> = {
  unauthenticated: ['WWW-Authenticate'],
  method_not_allowed: ['Allow'],
  limited: ['Retry-After'],
  unavailable: ['Retry-After'],
};

/** Error codes that only these operations have. */
const also: Readonly<Record<string, readonly Code[]>> = {
  changePassword: ['forbidden'],
  applyDeviceConfig: ['adapter_failed'],
  getDeviceConfiguration: ['adapter_failed'],
};

/** True if the operation stores something. Operations for readers store nothing. */
export const changes = ({ method, access }: Route): boolean =>
  method !== 'get' && access !== 'open' && !access.includes('readers');

/** The error codes of an operation. */
export const codesOf = (route: Route, path: string): readonly Code[] => {
  const codes: Code[] = ['invalid', 'method_not_allowed', 'internal', 'unavailable', ...(also[route.name] ?? [])];
  // Login is open, but can fail with these codes as well.
  if (route.access !== 'open' || route.method !== 'get') codes.push('unauthenticated', 'limited');
  if (typeof route.access !== 'string') codes.push('forbidden');
  if (route.method !== 'get') codes.push('too_large', 'unsupported_media');
  if (path.includes(':') || (route.method !== 'get' && route.access !== 'open')) codes.push('not_found');
  if (route.method !== 'get' && route.access !== 'open') codes.push('unprocessable');
  if (changes(route)) codes.push('conflict');
  if ('command' in route && route.command.on !== 'new') codes.push('stale');
  return codes;
};

const response = (code: Code, schema: object, example: Failure | undefined): object => ({
  description: `\`${code}\`: ${words[code]}`,
  headers: headers('X-Request-Id', ...(ofCode[code] ?? [])),
  content: { 'application/json': example ? { schema, example } : { schema } },
});

/** The error answers of an operation by status. Answers without an example of their own are references. */
export const failureResponses = (
  codes: readonly Code[],
  schema: object,
  examples: Failures,
): Readonly<Record<number, object>> =>
  Object.fromEntries(
    codes.map((code) => {
      const example = examples[code];
      return [statusOf[code], example ? response(code, schema, example) : refTo('responses', code)];
    }),
  );

/** The error answers to which operations refer, by code. */
export const commonFailures = (schema: object, examples: Failures): Readonly<Record<string, object>> => {
  const shown = { ...rare, ...examples };
  const codes = Object.keys(words) as Code[];
  return Object.fromEntries(codes.map((code) => [code, response(code, schema, shown[code])]));
};
