import type { IncomingMessage, ServerResponse } from 'node:http';
import { compressed, encodedTag, encodingFor } from './compression.ts';
import { unchanged } from './conditions.ts';
import type { Outgoing } from './outgoing.ts';

const json = 'application/json; charset=utf-8';

/**
 * Writes status, headers and body straight to Node and returns the status. It bypasses Koa's response, whose setters
 * cost time.
 */
export const send = (
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  outgoing: Outgoing,
  headers: string[],
): number | Promise<number> => {
  const { status = 200, body, type, etag, headers: own, position, replayed, stream } = outgoing;
  // The connection is closed, or an answer was sent already.
  if (res.headersSent || res.destroyed) return status;
  if (own) for (const [name, value] of Object.entries(own)) headers.push(name, value);
  const encoding = encodingFor(outgoing, req.headers['accept-encoding']);
  if (etag !== undefined) {
    headers.push('ETag', encoding ? encodedTag(etag, encoding) : etag);
    if (isRead(req) && unchanged(req.headers['if-none-match'] ?? '', etag)) {
      res.writeHead(304, headers).end();
      return 304;
    }
  }
  if (position) headers.push('X-Event-Position', String(position));
  if (replayed) headers.push('Idempotency-Replayed', 'true');
  if (status === 204) {
    res.writeHead(status, headers).end();
    return status;
  }
  headers.push('Content-Type', type ?? json);
  if (stream) {
    res.writeHead(status, headers);
    if (req.method === 'HEAD') res.end();
    else stream(res);
    return status;
  }
  if (encoding === undefined || body === undefined) return finish(res, status, body, headers);
  headers.push('Content-Encoding', encoding);
  return compressed(body, encoding).then((bytes) => finish(res, status, bytes, headers));
};

const isRead = ({ method }: IncomingMessage): boolean => method === 'GET' || method === 'HEAD';

const finish = (res: ServerResponse, status: number, body: string | Buffer | undefined, headers: string[]): number => {
  headers.push('Content-Length', String(body === undefined ? 0 : Buffer.byteLength(body)));
  if (!res.destroyed) res.writeHead(status, headers).end(body);
  return status;
};
