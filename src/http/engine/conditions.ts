import type { Request } from '../../commands/engine/requests.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Call } from './route.ts';
import type { Service } from './service.ts';

/** The revision that a change requires, from `If-Match` and `If-None-Match: *`. Of a tag, only the revision counts. */
export const ifRevisionOf = ({ header }: Pick<Call, 'header'>): Request['ifRevision'] => {
  const match = header('if-match');
  if (match === '*') return 'some';
  if (match !== undefined) {
    const revisions = match
      .split(',')
      .map((tag) => /^(?:W\/)?"(\d+)(?:-[0-9a-f]{8})?(?:-(?:br|gzip))?"$/.exec(tag.trim())?.[1]);
    // -1 matches no resource, because revisions begin at 0. It stands for several tags, and for a tag that this service
    // did not make.
    return revisions.length === 1 && revisions[0] !== undefined ? Number(revisions[0]) : -1;
  }
  return header('if-none-match') === '*' ? 'none' : undefined;
};

/**
 * The `Idempotency-Key`, bound to caller, method and path, with a keyed digest of query and body. Throws `invalid`
 * unless the key has 1 to 200 visible ASCII characters.
 */
export const idempotencyOf = (
  { header, actor, method, path, bodyText, querystring }: Call,
  { digest }: Service,
): Request['idempotency'] => {
  const key = header('idempotency-key');
  if (key === undefined) return undefined;
  if (!/^[\x21-\x7e]{1,200}$/.test(key))
    throw new RequestError('invalid', 'Idempotency-Key must have 1 to 200 visible ASCII characters', {
      path: 'Idempotency-Key',
    });
  return { key: `${actor.id} ${method} ${path} ${key}`, request: digest(`${querystring}\n${bodyText}`) };
};

/** The position in `X-Min-Position`, which the answer must show at least; 0 without the header. Throws `invalid`. */
export const minPositionOf = (header: string | undefined): number => {
  if (header === undefined) return 0;
  if (!/^\d{1,15}$/.test(header))
    throw new RequestError('invalid', 'X-Min-Position must be a position', { path: 'X-Min-Position' });
  return Number(header);
};
