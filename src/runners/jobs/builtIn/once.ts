import { hash } from 'node:crypto';
import { requestFor } from '../../../commands/engine/reactions.ts';
import type { Request } from '../../../commands/engine/requests.ts';
import type { Actor } from '../../../domain/engine/core.ts';
import { derivedId } from '../../../store/derivedIds.ts';
import type { Run } from './run.ts';

/** The id of what a run makes: 24 hex digits. It follows from the run, so that nothing is made twice. */
export const idBy = (word: string, key: string): string => derivedId(`${word} ${key}`);

/** The request by which a run changes something, once, whatever stops in between. */
export const requestOnce = (
  { key, started }: Pick<Run, 'key' | 'started'>,
  actor: Actor,
  operation: string,
): Omit<Request, 'id' | 'input'> => ({
  ...requestFor(started),
  actor,
  operation,
  depth: started.data.depth,
  idempotency: { key, request: hash('sha256', `${operation} ${key}`, 'base64url') },
});
