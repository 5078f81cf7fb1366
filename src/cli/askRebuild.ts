import { isObject } from '../domain/engine/members.ts';
import type { Compared } from '../projections/compareFolds.ts';
import { type Access, messageOf, noAnswer, platformAt } from './askService.ts';

/** Asks the running service to make its read models anew. Gives what it found. */
export const askRebuild = async (access: Access, signal: AbortSignal): Promise<readonly Compared[]> => {
  const { status, body } = await platformAt(access, signal).ask({ method: 'POST', path: '/health/rebuild' });
  if (status !== 200) throw new Error(messageOf(body, status));
  if (!isObject(body) || !Array.isArray(body.collections)) throw noAnswer(access);
  return body.collections as readonly Compared[];
};
