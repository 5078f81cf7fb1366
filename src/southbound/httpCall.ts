import { request as plainRequest, type IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { abortable } from './failure.ts';
import { type Outbound, pinned } from './outbound.ts';

/** More bytes than were allowed. */
export class TooMuch extends Error {}

export type HttpCall = {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
  /** Most bytes of an answer's body; beyond it `TooMuch` is thrown. */
  readonly maxBytes: number;
};

/** An answer of whatever status; `type` is its media type without parameters, `text` its body as UTF-8. */
export type HttpAnswer = { readonly status: number; readonly type: string; readonly text: string };

/** One HTTP call on a connection of its own, which ends with it. Redirects are answers. `guard` says where it may lead. */
export const httpCall = async (guard: Outbound, { method, url, headers, body, signal, maxBytes }: HttpCall): Promise<HttpAnswer> => {
  const { protocol, hostname } = new URL(url);
  const addresses = await abortable(guard.addresses(hostname.replace(/^\[|\]$/g, '')), signal);
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = (protocol === 'https:' ? tlsRequest : plainRequest)(url, {
      method, signal, agent: false, lookup: pinned(addresses),
      headers: { Accept: 'application/json', ...(sent !== undefined && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(sent)) }), ...headers },
    }, resolve);
    request.on('error', reject).end(sent);
  });
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      if ((size += chunk.length) > maxBytes) throw new TooMuch(`An answer may have ${maxBytes} bytes`);
    }
    const [type = ''] = (response.headers['content-type'] ?? '').split(';');
    return { status: response.statusCode ?? 0, type: type.trim().toLowerCase(), text: Buffer.concat(chunks).toString('utf8') };
  } finally {
    response.destroy();
  }
};
