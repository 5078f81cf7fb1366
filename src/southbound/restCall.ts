import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http';
import { withinTime } from '@automation-platform/client';
import { step } from '@automation-platform/json';
import { isSetByCall } from '../domain/engine/callHeaders.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { unsoundIn } from '../domain/engine/strictJson.ts';
import { reasonOf } from './failure.ts';
import { type HttpAnswer, httpCall } from './httpCall.ts';
import type { Outbound } from './outbound.ts';

const maxBytes = 256 * 1024;
const mostMs = 60_000;

/** A call of a REST service. Secrets are in clear. */
export type RestCall = {
  readonly uri: string;
  readonly verb: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** A text is sent as it is, anything else as JSON; undefined: nothing. */
  readonly body?: unknown;
  readonly traceparent?: string | undefined;
};

/** An answer of any status. A body of JSON is its value, any other a text. */
export type RestAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: unknown };

const refuse = (message: string, path: string): never => {
  throw new RequestError('unprocessable', message, { path });
};

const headersIn = (headers: RestCall['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
      const path = `/headers${step(name)}`;
      if (typeof text !== 'string') return refuse(`The header ${name} must be a text`, path);
      if (isSetByCall(name)) return refuse(`The header ${name} is set by the call itself`, path);
      try {
        validateHeaderName(name);
        validateHeaderValue(name, text);
      } catch {
        return refuse(`The header ${name} has characters that HTTP does not allow`, path);
      }
      return [name, text];
    }),
  );

const isJson = (type: string): boolean => type === 'application/json' || type.endsWith('+json');

const bodyIn = ({ type, text }: HttpAnswer): unknown => {
  if (!isJson(type)) return text;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  const fault = unsoundIn(text);
  return fault === undefined ? body : refuse(`The answer cannot be stored: ${fault}`, '');
};

const failed = (error: unknown, signal: AbortSignal): never => {
  signal.throwIfAborted();
  throw error instanceof RequestError
    ? error
    : new RequestError('unprocessable', `The call failed: ${reasonOf(error)}`);
};

/** Checks a call before it is made. Throws `unprocessable` for one that cannot be made, and for one that fails. */
export const restCaller =
  (guard: Outbound) =>
  ({ uri, verb, headers, body, traceparent }: RestCall) => {
    if (!URL.canParse(uri)) return refuse('The input uri is no URL', '/uri');
    const content = typeof body === 'string' ? { text: body } : { body };
    const call = { method: verb, url: uri, headers: headersIn(headers), ...content, traceparent, maxBytes };
    /** Makes the call. Redirects are not followed but returned. The signal ends it. */
    return async (signal: AbortSignal): Promise<RestAnswer> => {
      const answer = await withinTime(mostMs, [signal], (ending) => httpCall(guard, { ...call, signal: ending })).catch(
        (error: unknown) => failed(error, signal),
      );
      return { status: answer.status, headers: answer.headers, body: bodyIn(answer) };
    };
  };

export type RestCaller = ReturnType<typeof restCaller>;
