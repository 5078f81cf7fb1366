import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Outgoing } from './outgoing.ts';

/** Content codings of answers; of two that a client likes as much, the first. */
export const encodings = ['br', 'gzip'] as const;
export type Encoding = (typeof encodings)[number];

const leastBytes = 1024;
// Images are compressed already, and events of a stream must not wait for more of it.
const compressible = /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?json)/;

// These run in Node's thread pool. More of brotli's quality costs much time for few bytes.
const compressors: { readonly [E in Encoding]: (body: Buffer) => Promise<Buffer> } = {
  br: (body) =>
    promisify(brotliCompress)(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: promisify<Buffer, Buffer>(gzip),
};

/** How much `Accept-Encoding` wants a coding, 0 to 1; what it does not name counts as `*`. */
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
 * The coding that an answer is sent in; undefined: as it is. HEAD has the headers of GET, so it does not matter here.
 * Answers that hold a token are too short for it, so their length tells nothing of the token.
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
    const wanted = weight(accepted, encoding);
    if (wanted > 0 && (best === undefined || wanted > weight(accepted, best))) best = encoding;
  }
  return best;
};

// Pages that are kept for the next who asks, and files, are compressed once.
const kept = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>();

/** The body in a coding, made off the event loop. */
export const compressed = (body: string | Buffer, encoding: Encoding): Promise<Buffer> => {
  if (typeof body === 'string') return compressors[encoding](Buffer.from(body));
  const known = kept.get(body) ?? new Map<Encoding, Promise<Buffer>>();
  kept.set(body, known);
  const made = known.get(encoding) ?? compressors[encoding](body);
  known.set(encoding, made);
  return made;
};

/** The strong tag of an answer in a coding: other bytes need another tag. */
export const encodedTag = (etag: string, encoding: Encoding): string => `${etag.slice(0, -1)}-${encoding}"`;
