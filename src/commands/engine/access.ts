import type { Actor, Aggregate, Gbac } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { wordsOf } from '../../domain/engine/resource.ts';
import type { Tools } from './define.ts';

const isOpen = ({ read, write, accounts, closed }: Gbac): boolean =>
  !closed && read.length + write.length === 0 && (accounts === undefined || isOpen(accounts));

const isIn = ({ groups, id }: Actor, { accounts, ...names }: Gbac, list: 'read' | 'write'): boolean =>
  names[list].some((name) => groups.includes(name)) || (accounts?.[list].includes(id) ?? false);

/** If the lists are empty, everybody may read. Otherwise one of them must name the actor (docs/behaviour/access.md). */
export const mayRead = (actor: Actor, gbac: Gbac): boolean => mayWrite(actor, gbac) || isIn(actor, gbac, 'read');

export const mayWrite = (actor: Actor, gbac: Gbac): boolean =>
  (actor.admin && !gbac.closed) || isOpen(gbac) || isIn(actor, gbac, 'write');

type Resource = { readonly of: Aggregate; readonly id: string };

type RightsTools = Pick<Tools, 'stateForRights' | 'gbacAbove'>;

/** The list that says who may run a resource; undefined: it follows none, or the actor passes all lists. */
const listAbove = async (
  { of, id }: Resource,
  actor: Actor,
  { stateForRights, gbacAbove }: RightsTools,
): Promise<Gbac | undefined> =>
  actor.admin || !of.follows ? undefined : gbacAbove(of, await stateForRights(of, id), 'run');

/** True if the list that a resource follows, or followed when it was deleted, hides it from the actor as of now. */
export const isHidden = async (...about: Parameters<typeof listAbove>): Promise<boolean> => {
  const list = await listAbove(...about);
  return list !== undefined && !mayRead(about[1], list);
};

/** Why the actor may not run a resource, by the list of the one that it follows, as of now; undefined: it may. */
export const whyNotRun = async (
  { of, id }: Resource,
  actor: Actor,
  tools: RightsTools,
): Promise<RequestError | undefined> => {
  const list = await listAbove({ of, id }, actor, tools);
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
