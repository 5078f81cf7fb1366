import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
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
  if (own)
    for (const [name, values] of Object.entries(own)) for (const value of [values].flat()) headers.push(name, value);
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

/** True if a GET's `If-None-Match` names the tag, with or without the suffix of a content coding. */
const unchanged = (header: string, etag: string): boolean => {
  if (header === '') return false;
  if (header === '*' || header === etag) return true;
  const tags = new Set([etag, ...encodings.map((encoding) => encodedTag(etag, encoding))]);
  return header.split(',').some((tag) => tags.has(tag.trim().replace(/^W\//, '')));
};

/** Content codings of answers. If a client likes two equally, the first one is used. */
const encodings = ['br', 'gzip'] as const;
export type Encoding = (typeof encodings)[number];

const leastBytes = 1024;
// Images are compressed already. Events of a stream must be sent at once, and compression would hold them back.
const compressible = /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?json)/;

// Compression runs in Node's thread pool. A higher quality of brotli costs much time and saves few bytes.
const compressors: { readonly [E in Encoding]: (body: Buffer) => Promise<Buffer> } = {
  br: (body) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: promisify<Buffer, Buffer>(gzip),
};

/** The weight of a coding in `Accept-Encoding`, 0 to 1. A coding that is not named has the weight of `*`. */
const weight = (header: string, encoding: string): number => {
  const weights = new Map<string, number>();
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name, q === undefined ? 1 : Number(q) || 0);
  }
  return weights.get(encoding) ?? weights.get('*') ?? 0;
};

/**
 * The coding of an answer; undefined: the answer is sent uncompressed. HEAD has the same headers as GET, so the method
 * does not matter. Answers with a token are too short to be compressed, so a compressed length cannot reveal a token.
 */
export const encodingFor = (
  { status = 200, body, type = 'application/json' }: Outgoing,
  accepted: string | undefined,
): Encoding | undefined => {
  if (accepted === undefined || body === undefined || status === 204) return undefined;
  if (body.length <= leastBytes && Buffer.byteLength(body) <= leastBytes) return undefined;
  if (!compressible.test(type)) return undefined;
  let best: Encoding | undefined;
  for (const encoding of encodings) {
    const preference = weight(accepted, encoding);
    if (preference > 0 && (best === undefined || preference > weight(accepted, best))) best = encoding;
  }
  return best;
};

// Buffers that are sent again, such as kept pages and files, are compressed once.
const cache = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>();

/** Compresses the body without blocking the event loop. */
export const compressed = (body: string | Buffer, encoding: Encoding): Promise<Buffer> => {
  if (typeof body === 'string') return compressors[encoding](Buffer.from(body));
  const byEncoding = cache.get(body) ?? new Map<Encoding, Promise<Buffer>>();
  cache.set(body, byEncoding);
  const result = byEncoding.get(encoding) ?? compressors[encoding](body);
  byEncoding.set(encoding, result);
  return result;
};

/** The strong tag of a compressed answer. Its bytes differ, so its tag must differ. */
const encodedTag = (etag: string, encoding: Encoding): string => `${etag.slice(0, -1)}-${encoding}"`;

/** The pages of other origins whose scripts may read answers. */
export type Cors = {
  /** `*` is any. */
  readonly origins: readonly string[];
  /** True if they may send a cookie or a login along. It does not hold for any origin. */
  readonly credentials: boolean;
};

/** Reads a list of origins with commas between them. Browsers send an origin in lower case and without a path. */
export const corsOf = (list: string | undefined, credentials: boolean): Cors => {
  const origins = (list ?? '').split(',').map((origin) => origin.trim().toLowerCase().replace(/\/$/, ''));
  return { origins: origins.filter((origin) => origin !== ''), credentials };
};

const exposed = 'ETag, X-Event-Position, X-As-Of-Position, X-Request-Id, Idempotency-Replayed, Retry-After';

/** The header Vary of every answer, and those that let a page of the origin read it, in Node's flat form. */
export const corsHeaders = ({ origins, credentials }: Cors, origin: string | undefined): readonly string[] => {
  const [first, ...others] = origins;
  const isAny = origins.includes('*');
  const varies = others.length > 0 && !isAny;
  const vary = ['Vary', `Authorization, Cookie, Accept-Encoding${varies ? ', Origin' : ''}`];
  const named = varies ? origins.find((one) => one === origin) : first;
  const allowed = isAny ? '*' : named;
  if (allowed === undefined) return vary;
  const headers = [...vary, 'Access-Control-Allow-Origin', allowed, 'Access-Control-Expose-Headers', exposed];
  return credentials && !isAny ? [...headers, 'Access-Control-Allow-Credentials', 'true'] : headers;
};
