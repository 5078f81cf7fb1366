import type { RequestError } from '../../domain/engine/requestError.ts';
import { failureBody, statusOf } from './errors.ts';
import type { Outgoing } from './outgoing.ts';
import type { Match } from './router.ts';

/**
 * Leads a browser that opens the root address to the documentation. It is no operation of the API. The location is
 * relative, so it also holds behind a proxy that serves this API below a path.
 */
export const toDocs: Outgoing = { status: 302, body: undefined, headers: { Location: 'docs' } };

/** The answer to OPTIONS for a path that exists. */
export const preflight = (match: NonNullable<Match>): Outgoing => {
  const allow = 'allow' in match ? match.allow.join(', ') : 'OPTIONS';
  return {
    status: 204,
    body: undefined,
    headers: {
      Allow: allow,
      'Access-Control-Allow-Methods': allow,
      'Access-Control-Allow-Headers':
        'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, X-Claim, X-Min-Position, ' +
        'X-Request-Id, traceparent',
      'Access-Control-Max-Age': '600',
    },
  };
};

/** The answer for an error. `more` are additional headers. */
export const refused = (error: RequestError, more: Readonly<Record<string, string>> = {}): Outgoing => {
  const { code, retryAfterSeconds = code === 'unavailable' ? 1 : undefined } = error;
  const headers: Record<string, string> = { ...more };
  if (code === 'unauthenticated') headers['WWW-Authenticate'] = 'Basic realm="automation-platform", charset="UTF-8"';
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(retryAfterSeconds);
  return { status: statusOf[code], body: failureBody(error), headers };
};
