import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Outgoing } from './outgoing.ts';

/** Content codings of answers. If a client likes two equally, the first one is used. */
export const encodings = ['br', 'gzip'] as const;
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
export const encodedTag = (etag: string, encoding: Encoding): string => `${etag.slice(0, -1)}-${encoding}"`;
