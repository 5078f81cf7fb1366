import type { Request } from '../../commands/engine/handle.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { encodedTag, encodings } from './compression.ts';
import type { Call } from './route.ts';
import type { Service } from './service.ts';

/** `If-Match` and `If-None-Match: *` of a change: the revision part of the tag counts, whatever its coding. */
export const ifRevisionOf = ({ header }: Pick<Call, 'header'>): Request['ifRevision'] => {
  const match = header('if-match');
  if (match === '*') return 'some';
  if (match !== '') {
    const revisions = match
      .split(',')
      .map((tag) => /^(?:W\/)?"(\d+)(?:-[0-9a-f]{8})?(?:-(?:br|gzip))?"$/.exec(tag.trim())?.[1]);
    // A tag that is not one of ours, or several of them, can only be met by the revision it names.
    return revisions.length === 1 && revisions[0] !== undefined ? Number(revisions[0]) : -1;
  }
  return header('if-none-match') === '*' ? 'none' : undefined;
};

/** Whether a GET's `If-None-Match` names the tag, in whatever coding the client has the answer. */
export const unchanged = (header: string, etag: string): boolean => {
  if (header === '') return false;
  if (header === '*' || header === etag) return true;
  const tags = new Set([etag, ...encodings.map((encoding) => encodedTag(etag, encoding))]);
  return header.split(',').some((tag) => tags.has(tag.trim().replace(/^W\//, '')));
};

/**
 * `Idempotency-Key`, scoped by principal, method and path, and the keyed digest of the body that came with it.
 * 1-200 visible ASCII characters, else `invalid`.
 */
export const idempotencyOf = (
  { header, actor, method, path, bodyText, querystring }: Call,
  { digest }: Service,
): Request['idempotency'] => {
  const key = header('idempotency-key');
  if (key === '') return undefined;
  if (!/^[\x21-\x7e]{1,200}$/.test(key))
    throw new RequestError('invalid', 'Idempotency-Key must have 1 to 200 visible ASCII characters', {
      path: 'Idempotency-Key',
    });
  return { key: `${actor.id} ${method} ${path} ${key}`, request: digest(`${querystring}\n${bodyText}`) };
};

/** `X-Min-Position`: the position that the answer must at least know of; 0 without it. */
export const minPositionOf = (header: string): number => {
  if (header === '') return 0;
  if (!/^\d{1,15}$/.test(header))
    throw new RequestError('invalid', 'X-Min-Position must be a position', { path: 'X-Min-Position' });
  return Number(header);
};
