import { hash as digest, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { mutex } from '../../concurrency/mutex.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Recorded } from '../../store/event.ts';
import { type EventStore, WrongRevision } from '../../store/port.ts';
import type { About } from './appendOne.ts';
import { nameClaims } from './claims.ts';
import { type Attempt, decide, namesWanted } from './decide.ts';
import type { AnyCommand, Tools } from './define.ts';
import type { LoadedStream } from './loaded.ts';
import { locksOf } from './locks.ts';
import type { Request } from './requests.ts';
import { eventStorer } from './storeEvents.ts';
import type { Streams } from './streams.ts';

/** What became of it. `doc` is the document afterwards (undefined: none), `before` the one it was. */
export type CommandResult = {
  readonly id: string;
  readonly revision: number;
  /**
   * Of the last event that it stored, in this stream or in those that follow from it before the answer; else of the
   * stream's last event.
   */
  readonly position: number;
  readonly before: unknown;
  readonly doc: unknown;
  readonly created: boolean;
  readonly changed: boolean;
  readonly replayed: boolean;
};

type Needs = {
  readonly store: EventStore;
  readonly streams: Streams;
  readonly tools: Tools;
  /** UTC, ISO 8601 with milliseconds. */
  readonly now: () => string;
  /**
   * Carries out what follows from the events (commands/engine/reactions.ts); the position of the last event that this
   * stored, 0 if it goes on after the answer, which it may unless all is to be waited for (`waitForAll`).
   */
  readonly follow: (events: readonly Recorded[], waitForAll: boolean) => Promise<number>;
  /** Waits so many milliseconds. */
  readonly rest?: (ms: number) => Promise<unknown>;
};

type Outcome = { readonly done: CommandResult; readonly stored: readonly Recorded[] };

const attempts = 10;
// All who want the same stream wait meanwhile: eight rests take 4 s at most, 2 s on the average.
const longestRestMs = 500;

/** Carries out a command on its stream as it was read. `WrongRevision`: somebody else was faster. */
const attempter = ({ store, streams, tools }: Pick<Needs, 'store' | 'streams' | 'tools'>) => {
  const claims = nameClaims(store, streams);
  const underLock = locksOf(store, streams);
  const storeEvents = eventStorer({ store, streams, claims });

  const carryOut = async (attempt: Attempt): Promise<Outcome> => {
    const { command, request, stream, past } = attempt;
    const { events, replay } = await decide(attempt, tools);
    if (replay) {
      const before = await streams.asOf(stream, replay.first - 1);
      const after = await streams.asOf(stream, replay.last);
      return {
        done: handled(command, { id: request.id, before, after, replayed: true }),
        stored: await streams.events(stream, replay.first, replay.last),
      };
    }
    if (events.length === 0) return unchanged(attempt);
    const { kept, stored } = await storeEvents(attempt, events);
    return { done: handled(command, { id: request.id, before: past, after: kept, replayed: false }), stored };
  };

  return async (attempt: Attempt): Promise<Outcome> => {
    const locks = locksOfAttempt(attempt);
    if (locks.length > 0) {
      // Taking a lock appends an event. So decide once without: a refused or empty decision then stores nothing.
      const { events } = await decide(attempt, tools);
      if (events.length === 0) return unchanged(attempt);
      await claims.refuseTaken(namesWanted(attempt, events));
    }
    const work = () => carryOut(attempt);
    // One order everywhere, so that two decisions cannot wait for each other.
    return locks.sort().reduceRight((inner, name) => () => underLock(name, attempt, inner), work)();
  };
};

/** The only write path: read, fold, decide, project, append at the expected revision; on conflict all over again. */
export const handler = ({ store, streams, tools, now, follow, rest = pause }: Needs) => {
  const exclusively = mutex();
  const attempt = attempter({ store, streams, tools });

  /** Tries until the command is done or refused on a stream that is still as it was read. */
  const retryUntilDone = async (command: AnyCommand, request: Attempt['request'], stream: string): Promise<Outcome> => {
    const seed = `${stream} ${request.idempotency?.key ?? randomUUID()}`;
    const newId = (word: string) => digest('sha256', `${seed} ${word}`, 'hex').slice(0, 24);
    let past = await streams.load(stream);
    for (let tried = 1; ; tried++) {
      const began = performance.now();
      try {
        const at = now();
        const outcome = await attempt({ command, request, stream, past, at, about: aboutOf(request, at), newId });
        if (outcome.done.changed || outcome.done.replayed) return outcome;
        const seen = past.revision;
        past = await streams.refresh(stream);
        if (past.revision === seen) return outcome;
      } catch (error) {
        // A refusal may rest on what another node has changed since: look again before it stands.
        const seen = past.revision;
        if (error instanceof RequestError && error.code === 'unavailable') streams.forget(stream);
        else if (!(error instanceof RequestError || error instanceof WrongRevision)) throw error;
        else past = await streams.refresh(stream);
        if (error instanceof RequestError && past.revision === seen) throw error;
      }
      if (tried === attempts)
        throw new RequestError('unavailable', 'Too many writers at once; nothing was stored', { retryAfterSeconds: 1 });
      // Two nodes that start over at once get in each other's way again: the longer a try takes, the wider they
      // spread.
      const wide = 2 ** tried + tried * (performance.now() - began);
      if (tried > 1) await rest(Math.random() * Math.min(wide, longestRestMs));
    }
  };

  /** Carries out one command. Throws `RequestError` with nothing stored, or `unavailable` with an unknown outcome. */
  return async (command: AnyCommand, given: Request): Promise<CommandResult> => {
    const request = { ...given, precomputed: await command.precomputed?.(given.input, tools) };
    const stream = `${command.aggregate.category}-${request.id}`;
    const { done, stored } = await exclusively(stream, () => retryUntilDone(command, request, stream));
    // Outside the mutex: what follows may be about this very stream. Also of a replay: the first try may not be
    // through. What itself follows from an event is done once all is done that follows from it in turn.
    const position = await follow(stored, request.causation !== undefined);
    return { ...done, position: Math.max(done.position, position) };
  };
};

export type Handle = ReturnType<typeof handler>;

export { missing } from './decide.ts';
export type { Request } from './requests.ts';

/** The names of the locks that the attempt must take; none if it was carried out before. */
const locksOfAttempt = ({ command, request, past }: Attempt): string[] => {
  if (request.idempotency && past.keys.has(request.idempotency.key)) return [];
  return [command.locks?.(past.state, request.input, request.id) ?? []].flat();
};

type Outline = {
  readonly id: string;
  readonly before: LoadedStream;
  readonly after: LoadedStream;
  readonly replayed: boolean;
};

const handled = ({ aggregate }: AnyCommand, { id, before, after, replayed }: Outline): CommandResult => ({
  id,
  replayed,
  revision: after.revision,
  position: after.position,
  before: before.docs[0],
  doc: after.docs[0],
  created: !aggregate.exists(before.state) && aggregate.exists(after.state),
  changed: after.revision > before.revision,
});

const unchanged = ({ command, request: { id }, past }: Attempt): Outcome => ({
  done: handled(command, { id, before: past, after: past, replayed: false }),
  stored: [],
});

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

// Plain ifs: it is made for every command.
const aboutOf = (request: Request, at: string): About => {
  const { actor, operation, requestId, traceparent, idempotency } = request;
  const about: Writable<Omit<About, 'schemaVersion'>> = {
    $correlationId: request.correlation ?? requestId,
    $causationId: request.causation ?? requestId,
    at,
    actor: { id: actor.id, username: actor.username, provenance: actor.provenance },
    operation,
    requestId,
  };
  if (traceparent !== undefined) about.traceparent = traceparent;
  if (idempotency) about.idempotency = idempotency;
  return Object.assign(about, { schemaVersion: 1 });
};
