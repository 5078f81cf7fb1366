import { type Event, fold } from '../../domain/engine/core.ts';
import { sameName } from '../../domain/engine/names.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { mayRead, mayWrite } from './access.ts';
import type { About } from './appendOne.ts';
import type { Wanted } from './claims.ts';
import type { AnyCommand, Tools } from './define.ts';
import type { KeyUse, LoadedStream } from './loaded.ts';
import type { Request } from './requests.ts';

/** One attempt of a command on its stream as it was read. */
export type Attempt = {
  readonly command: AnyCommand;
  /** With what the command has precomputed. */
  readonly request: Request & { readonly precomputed: unknown };
  readonly stream: string;
  readonly past: LoadedStream;
  /** UTC, ISO 8601 with milliseconds. */
  readonly at: string;
  readonly about: About;
  readonly newId: (word: string) => string;
};

/** `replay`: the request has been carried out before, by those events. */
type Decision = { readonly events: readonly Event[]; readonly replay?: KeyUse };

/** The whole way from state to decision, in the order of checks that docs/status-codes.md gives. */
export const decide = async (attempt: Attempt, tools: Tools): Promise<Decision> => {
  const { command, request, past, at, newId } = attempt;
  const { id, input, actor, precomputed } = request;
  const { state } = past;
  const refs = await command.prepare?.({ id, input, state, actor, precomputed, now: at, newId }, tools);
  refuseAccess(attempt, refs);
  const replay = usedBefore(attempt);
  if (replay) return { events: [], replay };
  refuseByState(attempt);
  const sealed = command.seal ? command.seal(input, state, tools.seal, []) : input;
  return { events: command.decide(state, sealed, { id, now: at, actor, newId, refs }) };
};

const refuseAccess = ({ command, request: { actor }, past }: Attempt, refs: unknown): void => {
  const { aggregate } = command;
  const lists = (command.gbac ?? aggregate.gbac)?.(past.state, refs);
  if (lists && !mayRead(actor, lists)) throw missing(aggregate.category);
  if (lists && !mayWrite(actor, lists))
    throw new RequestError('forbidden', 'Only members of its write groups may change it');
};

/** The former use of the request's Idempotency-Key. */
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
  if (command.on === 'new' && there) throw new RequestError('conflict', `This ${words(category)} exists already`);
};

const isAsSeen = (ifRevision: Request['ifRevision'], there: boolean, revision: number): boolean => {
  if (ifRevision === undefined) return true;
  if (ifRevision === 'some') return there;
  if (ifRevision === 'none') return !there;
  return there && ifRevision === revision;
};

/** `groupMapping` in words: group mapping. */
const words = (category: string): string => category.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The same words for what is not there and for what the caller may not see. */
export const missing = (category: string): RequestError => new RequestError('not_found', `No such ${words(category)}`);

/** The names that the events give, to this stream and to those of what follows from them. */
export const namesWanted = ({ command, stream, past }: Attempt, events: readonly Event[]): readonly Wanted[] => {
  const { aggregate } = command;
  const next = fold(aggregate, events, past.state);
  const held = aggregate.names?.(past.state) ?? [];
  const own = (aggregate.names?.(next) ?? []).filter((name) => !held.some((old) => sameName(old, name)));
  return [...own.map((name) => ({ owner: stream, name })), ...(aggregate.reservations?.(next) ?? [])];
};
