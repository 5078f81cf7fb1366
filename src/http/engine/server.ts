import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestError } from '../../domain/engine/requestError.ts';
import { failureBody } from './errors.ts';

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
  const server: Server = tls
    ? createTlsServer({ cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }, listener)
    : createServer(listener);
  server.on('clientError', refuseUnread);
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

/**
 * Answers requests that Node cannot parse, times out, or finds too many headers in. The answer has the form of every
 * error. No listener sees such a request.
 */
const refuseUnread = (_: Error, socket: Duplex & { readonly _httpMessage?: ServerResponse | null }): void => {
  // While an earlier answer is being sent, no other can be. Only Node's private `_httpMessage` tells that.
  if (!socket.writable || socket._httpMessage?.headersSent) return void socket.destroy();
  const body = failureBody(new RequestError('invalid', 'The request cannot be read as HTTP'));
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${randomUUID()}`,
      'Vary: Authorization, Cookie, Accept-Encoding',
      'X-Content-Type-Options: nosniff',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
    () => socket.destroy(),
  );
};
