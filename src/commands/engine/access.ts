import type { Actor, Aggregate, Gbac } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { wordsOf } from '../../domain/engine/resource.ts';
import type { Tools } from './define.ts';

const isOpen = ({ read, write, accounts }: Gbac): boolean =>
  read.length + write.length === 0 && (accounts === undefined || isOpen(accounts));

const isIn = ({ groups, id }: Actor, { accounts, ...names }: Gbac, list: 'read' | 'write'): boolean =>
  names[list].some((name) => groups.includes(name)) || (accounts?.[list].includes(id) ?? false);

/** If the lists are empty, everybody may read. Otherwise one of them must name the actor (docs/behaviour/access.md). */
export const mayRead = (actor: Actor, gbac: Gbac): boolean =>
  actor.admin || isOpen(gbac) || isIn(actor, gbac, 'read') || isIn(actor, gbac, 'write');

export const mayWrite = (actor: Actor, gbac: Gbac): boolean =>
  actor.admin || isOpen(gbac) || isIn(actor, gbac, 'write');

/** A resource that is run. */
type Runnable = { readonly of: Aggregate; readonly id: string };

/** Why the actor may not run a resource, by the list of the one that it follows, as of now; undefined: it may. */
export const whyNotRun = async (
  { of, id }: Runnable,
  actor: Actor,
  { stateForRights, gbacAbove }: Pick<Tools, 'stateForRights' | 'gbacAbove'>,
): Promise<RequestError | undefined> => {
  if (actor.admin || !of.follows) return undefined;
  const list = await gbacAbove(of, await stateForRights(of, id), 'run');
  if (!list || mayWrite(actor, list)) return undefined;
  const what = wordsOf(of.category);
  return mayRead(actor, list)
    ? new RequestError('forbidden', `The account may see the ${what}, but not run it`)
    : new RequestError('not_found', `No such ${what}`);
};

export const refuseRun = async (...about: Parameters<typeof whyNotRun>): Promise<void> => {
  const refused = await whyNotRun(...about);
  if (refused) throw refused;
};
