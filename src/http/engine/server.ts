import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestError } from '../../domain/engine/requestError.ts';
import { failureBody, statusOf, unmetExpectation } from './errors.ts';

type Where = {
  readonly host: string;
  readonly port: number;
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
};

/** The number of connections that may wait to be accepted. In a burst, a connection beyond it is delayed by seconds. */
const backlog = 4096;

/**
 * Starts a server. `stop` accepts no new connections, waits for answers in progress, and closes what is left after `ms`
 * milliseconds.
 */
export const listen = async (
  { host, port, tls }: Where,
  listener: RequestListener,
): Promise<{ url: string; stop: (ms: number) => Promise<void> }> => {
  // Node would answer a request without Host without a body.
  const options = { requireHostHeader: false };
  const named: RequestListener = (request, response) => {
    const { headers, httpVersionMajor, httpVersionMinor } = request;
    if (headers.host === undefined && httpVersionMajor === 1 && httpVersionMinor > 0) refuse(response, withoutHost());
    else listener(request, response);
  };
  const server: Server = tls
    ? createTlsServer({ ...options, cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }, named)
    : createServer(options, named);
  server.on('clientError', (_, socket) =>
    refuseOn(socket, new RequestError('invalid', 'The request cannot be read as HTTP')),
  );
  server.on('connect', (_, socket) => refuseOn(socket, new RequestError('method_not_allowed', 'This is no proxy')));
  server.on('checkExpectation', (_, response) => refuse(response, unmetExpectation()));
  server.listen({ port, host, backlog });
  await once(server, 'listening');
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    stop: async (ms) => {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), ms);
      await closed;
      clearTimeout(cut);
    },
  };
};

const withoutHost = (): RequestError => new RequestError('invalid', 'The request names no Host', { path: 'Host' });

/** The headers of the answer to a request that no route sees. The connection ends with it. */
const headersOf = (error: RequestError, body: string): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': randomUUID(),
    Vary: 'Authorization, Cookie, Accept-Encoding',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  };
  if (error.code === 'method_not_allowed') headers.Allow = '';
  return headers;
};

/** Answers a request before it is handed to the listener. The answer has the form of every error. */
const refuse = (response: ServerResponse, error: RequestError): void => {
  const body = failureBody(error);
  response.writeHead(statusOf[error.code], headersOf(error, body)).end(body);
};

/**
 * The same for a request of which Node has the connection only: it cannot parse it, times it out, finds too many headers
 * in it, or would make it a tunnel.
 */
const refuseOn = (socket: Duplex & { readonly _httpMessage?: ServerResponse | null }, error: RequestError): void => {
  // While an earlier answer is being sent, no other can be. Only Node's private `_httpMessage` tells that.
  if (!socket.writable || socket._httpMessage?.headersSent) return void socket.destroy();
  const body = failureBody(error);
  const status = statusOf[error.code];
  const head = Object.entries(headersOf(error, body)).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...head, '', body].join('\r\n'), () => socket.destroy());
};
