import { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { abortable } from '@automation-platform/concurrency';
import { exactText } from '@automation-platform/json';
import { TooMuch, Unexpected } from './failure.ts';
import { type Outbound, pinned } from './outbound.ts';
import { childOf } from './traceparent.ts';

export type HttpCall = {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The traceparent of the request that causes this call. */
  readonly traceparent?: string | undefined;
  /** Sent as JSON. It may have the marks of packages/json. */
  readonly body?: unknown;
  /** Sent as it is, in the place of a body. */
  readonly text?: string | undefined;
  readonly signal: AbortSignal;
  /** The most bytes that the body of an answer may have. A longer body throws `TooMuch`. */
  readonly maxBytes: number;
};

/** An answer of any status. `type` is its media type without parameters, `text` its body as UTF-8. */
export type HttpAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly type: string;
  readonly text: string;
};

/** The most interim answers (100, 102, 103) before the final one. */
const mostInterim = 16;

/**
 * Makes one HTTP call on a connection of its own, which ends with the call. Redirects are not followed but returned.
 * `guard` says which addresses are allowed. When the signal aborts, the call ends, whatever the other side does.
 */
export const httpCall = async (guard: Outbound, call: HttpCall): Promise<HttpAnswer> => {
  const { url, signal, maxBytes } = call;
  const { protocol, hostname } = new URL(url);
  const addresses = await abortable(guard.addresses(hostname.replace(/^\[|\]$/g, '')), signal);
  const send = protocol === 'https:' ? tlsRequest : plainRequest;
  const requestBody = call.body === undefined ? call.text : exactText(call.body);
  const request = send(url, {
    method: call.method,
    agent: false,
    lookup: pinned(addresses),
    headers: headersOf(call, requestBody),
  });
  try {
    const answered = answerTo(request).then((response) => bodyOf(response, maxBytes));
    request.end(requestBody);
    return await abortable(answered, signal);
  } finally {
    request.destroy();
  }
};

const headersOf = ({ headers, traceparent, text }: HttpCall, sent: string | undefined): Record<string, string> => {
  const newHeaders: Record<string, string> = { Accept: 'application/json' };
  if (sent !== undefined) {
    newHeaders['Content-Type'] = text === undefined ? 'application/json' : 'text/plain; charset=utf-8';
    newHeaders['Content-Length'] = String(Buffer.byteLength(sent));
  }
  if (traceparent !== undefined) newHeaders.traceparent = childOf(traceparent);
  return { ...newHeaders, ...headers };
};

/** Resolves with the answer when its headers have arrived. Rejects when the request ends in any other way. */
const answerTo = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    let interim = 0;
    request.on('response', resolve);
    // The listener is never removed: a destroyed request may still emit an error.
    request.on('error', reject);
    request.on('information', () => {
      interim++;
      if (interim <= mostInterim) return;
      reject(new Unexpected('there are interim answers without an end'));
      request.destroy();
    });
    // Without this listener, Node would close the connection without an event.
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      reject(new Unexpected(`the answer has status ${response.statusCode}, which was not asked for`));
    });
    request.on('close', () => reject(new Unexpected('the connection ended without an answer')));
  });

const bodyOf = async (response: IncomingMessage, maxBytes: number): Promise<HttpAnswer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) throw new TooMuch(`An answer may have ${maxBytes} bytes`);
  }
  const [type = ''] = (response.headers['content-type'] ?? '').split(';');
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    type: type.trim().toLowerCase(),
    text: Buffer.concat(chunks).toString('utf8'),
  };
};
