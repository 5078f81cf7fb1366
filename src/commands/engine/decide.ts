import type { Pace } from '@automation-platform/concurrency';
import { type Actor, type Aggregate, type Event, fold, mayName } from '../../domain/engine/core.ts';
import { sameName } from '../../domain/engine/names.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { wordsOf } from '../../domain/engine/resource.ts';
import { mayRead, mayWrite } from './access.ts';
import type { About } from './appendOne.ts';
import type { Wanted } from './claims.ts';
import type { AnyCommand, Tools } from './define.ts';
import type { KeyUse } from './keyUses.ts';
import type { LoadedStream } from './loaded.ts';
import type { Request } from './requests.ts';
import { isRetired } from './retirement.ts';

/** One attempt to carry out a command, on its stream as it was read. */
export type Attempt = {
  readonly command: AnyCommand;
  readonly request: Request;
  /** The result of the command's `precompute`. */
  readonly precomputed: unknown;
  readonly stream: string;
  readonly past: LoadedStream;
  /** The time of the attempt: UTC, ISO 8601 with milliseconds. */
  readonly at: string;
  readonly about: About;
  readonly newId: (word: string) => string;
};

/** `replay`: the events by which this request was carried out before. */
type Decision = { readonly events: readonly Event[]; readonly replay?: KeyUse };

const atOnce: Pick<Pace, 'inTurn'> = { inTurn: (work) => work() };

/** Makes all checks in the order of docs/status-codes.md, then decides. Not a promise when nothing has to be waited for. */
export const decide = (
  attempt: Attempt,
  tools: Tools,
  pace: Pick<Pace, 'inTurn'> = atOnce,
): Decision | Promise<Decision> => {
  const { command, request, precomputed, past, at, newId } = attempt;
  const { id, input, actor } = request;
  const { state } = past;
  const preparing = command.prepare?.({ id, input, state, actor, precomputed, now: at, newId }, tools);
  if (command.aggregate.follows && !actor.admin) return decideFollowing(attempt, preparing, { tools, pace });
  if (!preparing) return decideWith(attempt, { refs: undefined, tools, pace });
  return preparing.then((refs) => decideWith(attempt, { refs, tools, pace }));
};

type Prepared = { readonly refs: unknown; readonly tools: Tools; readonly pace: Pick<Pace, 'inTurn'> };

/** Decides about a resource that may follow another one, before or afterwards. */
const decideFollowing = async (
  attempt: Attempt,
  preparing: Promise<unknown> | undefined,
  { tools, pace }: Omit<Prepared, 'refs'>,
): Promise<Decision> => {
  const {
    command,
    request: { actor },
    past: { state },
  } = attempt;
  const refs = await preparing;
  await refuseAbove(command, { state, actor }, tools);
  const decision = await decideWith(attempt, { refs, tools, pace });
  const after = { before: state, state: fold(command.aggregate, decision.events, state), actor };
  await refuseEntry(command.aggregate, after, tools);
  return decision;
};

const decideWith = (attempt: Attempt, prepared: Prepared): Decision | Promise<Decision> => {
  const { command, request, past } = attempt;
  const { refs, tools, pace } = prepared;
  refuseBeyondToken(command, request);
  refuseAccess(command, { state: past.state, refs, actor: request.actor });
  const replay = usedBefore(attempt);
  if (replay) return { events: [], replay };
  if (command.on === 'new' || past.endedAt === undefined) return pace.inTurn(() => decidePresent(attempt, prepared));
  return isRetired(past.endedAt, command.aggregate.category, tools.state).then((retired) => {
    if (!retired) return pace.inTurn(() => decidePresent(attempt, prepared));
    if (command.on === 'existing') throw missing(command.aggregate.category);
    return { events: [] };
  });
};

/** Decides about a resource that is not retired. */
const decidePresent = (attempt: Attempt, { refs, tools }: Prepared): Decision => {
  const { command, request, past, at, newId } = attempt;
  const { id, input, actor } = request;
  refuseByState(attempt);
  const sealed = command.seal ? command.seal(input, past.state, tools.seal, []) : input;
  return { events: command.decide(past.state, sealed, { id, now: at, actor, newId, refs }) };
};

/** A token of some inventories names only these, and makes nothing that acts later, when the token does not count. */
const refuseBeyondToken = ({ aggregate, on }: AnyCommand, { id, actor }: Pick<Request, 'id' | 'actor'>): void => {
  if (!actor.only) return;
  const { category, actsLater } = aggregate;
  if (actsLater)
    throw new RequestError(
      'forbidden',
      `A token of some inventories changes no ${wordsOf(category)}: it acts later, without it`,
    );
  if (mayName(actor, category, id)) return;
  if (on === 'existing') throw missing(category);
  throw new RequestError('forbidden', `The token is for other resources of this kind: ${wordsOf(category)}`);
};

/**
 * Judges by the lists that the resource has, or had when it was deleted: whoever makes it anew gets its past. So an id
 * that the actor may not know of counts as taken, deleted or not.
 */
export const refuseAccess = (
  { aggregate, on, gbac }: AnyCommand,
  { state, refs, actor }: { readonly state: unknown; readonly refs: unknown; readonly actor: Actor },
): void => {
  const lists = (gbac ?? aggregate.gbac)?.(state, refs);
  if (lists && !mayRead(actor, lists)) throw (on === 'existing' ? missing : conflictOf)(aggregate.category);
  if (lists && !mayWrite(actor, lists))
    throw new RequestError('forbidden', 'Only members of its write groups may change it');
};

type Judged = { readonly state: unknown; readonly actor: Actor };

/** Judges by the list of the resource that this one follows, or followed when it was deleted. */
export const refuseAbove = async (
  { aggregate, on }: Pick<AnyCommand, 'aggregate' | 'on'>,
  { state, actor }: Judged,
  { gbacAbove }: Pick<Tools, 'gbacAbove'>,
): Promise<void> => {
  const list = await gbacAbove(aggregate, state, 'change');
  if (!list) return;
  if (!mayRead(actor, list)) throw (on === 'existing' ? missing : conflictOf)(aggregate.category);
  if (!mayWrite(actor, list)) throw new RequestError('forbidden', 'You may see it, but not change it');
};

/** Throws `forbidden` if the resource comes to follow another one whose list does not let the actor change what follows it. */
export const refuseEntry = async (
  aggregate: Aggregate,
  { before, state, actor }: Judged & { readonly before: unknown },
  { gbacAbove }: Pick<Tools, 'gbacAbove'>,
): Promise<void> => {
  const above = aggregate.follows?.(state);
  if (!above || above.id === aggregate.follows?.(before)?.id) return;
  const list = await gbacAbove(aggregate, state, 'change');
  if (list && !mayWrite(actor, list))
    throw new RequestError('forbidden', `The name is that of a component of ${above.category} ${above.id}`);
};

/** The former use of the request's Idempotency-Key. Throws `unprocessable` if the former request was another one. */
const usedBefore = ({ request: { idempotency }, past }: Attempt): KeyUse | undefined => {
  const used = idempotency && past.keys.get(idempotency.key);
  if (used && used.request !== idempotency.request)
    throw new RequestError('unprocessable', 'This Idempotency-Key was used with another request', {
      path: 'Idempotency-Key',
    });
  return used;
};

const refuseByState = ({ command, request: { ifRevision }, past }: Attempt): void => {
  const { category, exists } = command.aggregate;
  const there = exists(past.state);
  if (command.on === 'existing' && !there) throw missing(category);
  if (!isAsSeen(ifRevision, there, past.revision))
    throw new RequestError('stale', 'It has changed since you looked', { path: 'If-Match' });
  if (command.on === 'new' && there) throw conflictOf(category);
};

const isAsSeen = (ifRevision: Request['ifRevision'], there: boolean, revision: number): boolean => {
  if (ifRevision === undefined) return true;
  if (ifRevision === 'some') return there;
  if (ifRevision === 'none') return !there;
  return there && ifRevision === revision;
};

/**
 * The same error for a missing resource and for one that the caller may not see. So nobody can tell which of the two it
 * is.
 */
export const missing = (category: string): RequestError =>
  new RequestError('not_found', `No such ${wordsOf(category)}`);

const conflictOf = (category: string): RequestError =>
  new RequestError('conflict', `This ${wordsOf(category)} exists already`);

/** The names that the events give, to this stream and to the streams that get a part of its intent. */
export const namesWanted = ({ command, stream, past }: Attempt, events: readonly Event[]): readonly Wanted[] => {
  const { aggregate } = command;
  if (!aggregate.names && !aggregate.reservations) return [];
  const next = fold(aggregate, events, past.state);
  const ownNames = aggregate.names?.(past.state) ?? [];
  const own = (aggregate.names?.(next) ?? []).filter((name) => !ownNames.some((old) => sameName(old, name)));
  return [...own.map((name) => ({ owner: stream, name })), ...(aggregate.reservations?.(next) ?? [])];
};
