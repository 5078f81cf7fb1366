import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { withinTime } from '@automation-platform/client';
import { mutex, type Pace, paced } from '@automation-platform/concurrency';
import type { Event, Name } from '../../domain/engine/core.ts';
import { sameName } from '../../domain/engine/names.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { derivedId } from '../../store/derivedIds.ts';
import { encoder, type Metadata, type Recorded } from '../../store/event.ts';
import { goesInParts, slimmed } from '../../store/payloads.ts';
import { type EventStore, WrongRevision } from '../../store/port.ts';
import { isUnusable } from '../../store/tampered.ts';
import type { About } from './appendOne.ts';
import { NameTaken } from './claimChecks.ts';
import { type NameClaims, nameClaims } from './claims.ts';
import { type Attempt, decide, namesWanted } from './decide.ts';
import type { AnyCommand, Tools } from './define.ts';
import type { LoadedStream } from './loaded.ts';
import { importing, type LockTaker, lockTaker, Unfinished } from './locks.ts';
import type { Request } from './requests.ts';
import type { Streams } from './streams.ts';

/** The result of a command. `before` and `doc` are the document before and after it; undefined if there is none. */
export type CommandResult = {
  readonly id: string;
  readonly revision: number;
  /**
   * The position of the last event that the command or its awaited reactions stored. If they stored none: the position
   * of the stream's last event.
   */
  readonly position: number;
  /** The last event that the command itself stored, now or when it was first carried out; undefined if there is none. */
  readonly event: Pick<Recorded, 'id' | 'position'> | undefined;
  readonly before: unknown;
  readonly doc: unknown;
  /** The state after the command: its type is known to the aggregate only. */
  readonly state: unknown;
  readonly created: boolean;
  readonly changed: boolean;
  readonly replayed: boolean;
};

export type HandleNeeds = {
  readonly store: EventStore;
  readonly streams: Streams;
  readonly tools: Tools;
  /** The time: UTC, ISO 8601 with milliseconds. */
  readonly now: () => string;
  /**
   * Carries out the reactions to the events (commands/engine/reactions.ts). Returns the position of the last event that
   * they stored, or 0 if they go on after the answer. With `waitForAll` they never do.
   */
  readonly follow: (events: readonly Recorded[], waitForAll: boolean) => number | Promise<number>;
  /** Called with the position of each command that is about to be answered: from then on, reads show all up to there. */
  readonly acknowledge?: (position: number) => void;
  /** Waits for this time. */
  readonly rest?: (ms: number) => Promise<unknown>;
};

type Outcome = { readonly result: Omit<CommandResult, 'event'>; readonly stored: readonly Recorded[] };

/** The part of an attempt that all attempts of a command share. `tried` counts those in which another writer was faster. */
type Wanted = Pick<Attempt, 'command' | 'request' | 'precomputed' | 'stream' | 'newId'> & {
  readonly began: number;
  tried: number;
};

const attempts = 10;
// Other commands on the stream wait during these rests. The eight rests take 4 s at most, 2 s on average.
const longestRestMs = 500;
/** How long a command waits for what follows from the former one under a lock. */
const formerMs = 7000;

/** Carries out a command on its stream as it was read. Throws `WrongRevision` if another writer was faster. */
const attempter = ({
  store,
  streams,
  tools,
  withLock,
  pace,
}: Pick<HandleNeeds, 'store' | 'streams' | 'tools'> & Pick<LockTaker, 'withLock'> & { readonly pace: Pace }) => {
  const claims = nameClaims(store, streams);
  const storeEvents = eventStorer({ store, streams, claims, pace });

  const carryOut = async (attempt: Attempt): Promise<Outcome> => {
    const { command, request, stream, past } = attempt;
    const decided = decide(attempt, tools, pace);
    const { events, replay } = decided instanceof Promise ? await decided : decided;
    if (replay) {
      const before = await streams.asOf(stream, replay.first - 1);
      const after = await streams.asOf(stream, replay.last);
      return {
        result: handled(command, { id: request.id, before, after, replayed: true }),
        stored: await streams.events(stream, replay.first, replay.last),
      };
    }
    if (events.length === 0) return unchanged(attempt);
    const { kept, stored } = await storeEvents(attempt, events);
    return { result: handled(command, { id: request.id, before: past, after: kept, replayed: false }), stored };
  };

  return async (attempt: Attempt): Promise<Outcome> => {
    const locks = attempt.command.locks ? locksOfAttempt(attempt) : [];
    if (locks.length === 0) return carryOut(attempt);
    // A lock costs an event. So decide once without the lock: a rejected command, or one that changes nothing, then
    // stores nothing.
    const { events } = await decide(attempt, tools, pace);
    if (events.length === 0) return unchanged(attempt);
    await claims.refuseTaken(namesWanted(attempt, events));
    const work = () => carryOut(attempt);
    // Always the same order, so that two commands cannot wait for each other.
    return locks.sort().reduceRight((inner, name) => () => withLock(name, attempt, inner), work)();
  };
};

/**
 * The only write path: read, fold, decide, project, append at the expected revision. If another writer was faster, it
 * starts over.
 */
export const handler = ({ store, streams, tools, now, follow, acknowledge, rest = pause }: HandleNeeds) => {
  const exclusively = mutex();
  const { withLock, finish, finishOwn } = lockTaker(store, streams);
  const inTurn = mutex();
  const attempt = attempter({ store, streams, tools, withLock, pace: paced() });

  /** Repeats the command until the result rests on the newest state of its stream. */
  const retryUntilDone = async (toDecide: Wanted): Promise<Outcome> => {
    const { command, request, precomputed, stream, newId } = toDecide;
    const loaded = request.fresh ? streams.nothing(stream) : streams.load(stream);
    let past = loaded instanceof Promise ? await loaded : loaded;
    for (;;) {
      const attemptNumber = toDecide.tried + 1;
      const began = performance.now();
      try {
        const at = now();
        const about = aboutOf(request, at, past);
        const outcome = await attempt({ command, request, precomputed, stream, past, at, about, newId });
        if (outcome.result.changed || outcome.result.replayed) return outcome;
        const revisionBefore = past.revision;
        past = await streams.refresh(stream);
        if (past.revision === revisionBefore) return outcome;
      } catch (error) {
        // The error may rest on a state that another node has changed since. Look again before you throw it.
        const revisionBefore = past.revision;
        if (error instanceof RequestError && error.code === 'unavailable') streams.forget(stream);
        else if (!(error instanceof RequestError || error instanceof WrongRevision)) throw error;
        else past = await streams.refresh(stream);
        const triesNames = command.choosesNames && error instanceof NameTaken && attemptNumber < attempts;
        if (error instanceof RequestError && past.revision === revisionBefore && !triesNames) throw error;
      }
      toDecide.tried = attemptNumber;
      if (attemptNumber === attempts)
        throw new RequestError('unavailable', 'Too many writers at once; nothing was stored', { retryAfterSeconds: 1 });
      // Two nodes that start over at the same moment would collide again. So each waits a random time, longer after
      // long attempts.
      const wide = 2 ** attemptNumber + attemptNumber * (performance.now() - began);
      if (attemptNumber > 1) await rest(Math.random() * Math.min(wide, longestRestMs));
    }
  };

  /** Carries out a command and the reactions to its events. */
  const carryOut = async (toDecide: Wanted) => {
    const { stream, request } = toDecide;
    const { result, stored } = await exclusively(stream, () => retryUntilDone(toDecide));
    if (!request.background) acknowledge?.(result.position);
    // Reactions run outside the mutex, because they may change this stream too. They also run for a replay, because the
    // first try may not have finished them.
    // A reaction's own command (it has a `causation`) waits for all further reactions. So an event counts as done only
    // when everything that follows from it is done.
    const following = follow(stored, request.causation !== undefined);
    const position = typeof following === 'number' ? following : await following;
    const [first] = stored;
    if (first && position > 0) finishOwn(first);
    return { done: result, stored, position };
  };

  /** The event of a turn. Nothing follows from one that cannot be read. */
  const eventOf = ({ stream, revision }: Unfinished) =>
    streams.events(stream, revision, revision).catch((error: unknown) => {
      if (isUnusable(error)) return [];
      throw error;
    });

  /** Carries out what follows from the former command under a lock. Throws `unavailable` when that takes too long. */
  const finishFormer = async (former: Unfinished, { began }: Wanted): Promise<void> => {
    const events = await eventOf(former);
    const isDone = await withinTime(Math.max(0, began + formerMs - performance.now()), [], (late) =>
      Promise.race([Promise.resolve(follow(events, true)).then(() => true), once(late, 'abort').then(() => false)]),
    );
    if (!isDone)
      throw new RequestError('unavailable', 'An earlier import is still being carried out; nothing was stored', {
        retryAfterSeconds: 1,
      });
    finish(former);
  };

  /** Carries out a command once all that follows from the former one under a lock is carried out. */
  const afterFormer = async (toDecide: Wanted): ReturnType<typeof carryOut> => {
    for (;;) {
      try {
        return await carryOut(toDecide);
      } catch (error) {
        if (!(error instanceof Unfinished)) throw error;
        await finishFormer(error, toDecide);
      }
    }
  };

  /**
   * Carries out one command. Throws `RequestError`: nothing was stored, or the outcome is unknown (only with
   * `unavailable`).
   */
  return async (command: AnyCommand, request: Request): Promise<CommandResult> => {
    const precomputed = command.precompute ? await command.precompute(request.input, tools) : undefined;
    const stream = `${command.aggregate.category}-${request.id}`;
    let seed: string | undefined;
    const newId = (word: string) => {
      seed ??= `${stream} ${request.idempotency?.key ?? randomUUID()}`;
      return derivedId(`${seed} ${word}`);
    };
    const toDecide = { command, request, precomputed, stream, newId, began: performance.now(), tried: 0 };
    const { done, stored, position } = await carryOut(toDecide).catch((error: unknown) => {
      if (!(error instanceof Unfinished)) throw error;
      // One after the other: else all that wait would decide again each time.
      return inTurn(importing, () => afterFormer(toDecide));
    });
    // Nobody else has it yet, and to change it costs less than to copy it.
    const result: Writable<CommandResult> = done as CommandResult;
    result.event = lastOf(stored);
    result.position = Math.max(done.position, position);
    return result;
  };
};

export type Handle = ReturnType<typeof handler>;

const lastOf = (stored: readonly Recorded[]): CommandResult['event'] => {
  const last = stored.at(-1);
  return last && { id: last.id, position: last.position };
};

/** The names of the locks that the attempt needs; none if the request was carried out before. */
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

const handled = ({ aggregate }: AnyCommand, { id, before, after, replayed }: Outline): Outcome['result'] => ({
  id,
  replayed,
  revision: after.revision,
  position: after.position,
  before: before.docs[0],
  doc: after.docs[0],
  state: after.state,
  created: !aggregate.exists(before.state) && aggregate.exists(after.state),
  changed: after.revision > before.revision,
});

const unchanged = ({ command, request: { id }, past }: Attempt): Outcome => ({
  result: handled(command, { id, before: past, after: past, replayed: false }),
  stored: [],
});

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

const authorOf = ({ id, username, provenance, via, token }: Request['actor']): About['actor'] => {
  if (via === undefined) return { id, username, provenance };
  return token === undefined ? { id, username, provenance, via } : { id, username, provenance, via, token };
};

// Plain `if`s instead of spreads: this runs for every command, so it must be fast.
const aboutOf = (request: Request, at: string, past: LoadedStream): About => {
  const { actor, operation, requestId, traceparent, idempotency, depth = past.depth } = request;
  const about: Writable<Omit<About, 'schemaVersion'>> = {
    $correlationId: request.correlation ?? requestId,
    $causationId: request.causation ?? requestId,
    at,
    actor: authorOf(actor),
    operation,
    requestId,
  };
  if (traceparent !== undefined) about.traceparent = traceparent;
  if (idempotency) about.idempotency = idempotency;
  if (depth > 0) about.depth = depth;
  return Object.assign(about, { schemaVersion: 1 });
};

type StorerNeeds = {
  readonly store: EventStore;
  readonly streams: Streams;
  readonly claims: NameClaims;
  readonly pace: Pick<Pace, 'timed'>;
};

/** `kept`: the stream with the new events. */
type Stored = { readonly kept: LoadedStream; readonly stored: readonly Recorded[] };

const homeOf = ({ command }: Attempt): string => `@platform/${command.aggregate.area}`;

/** Encodes the events with these data. Each event is linked to the one before by its hash. */
const encoded = (attempt: Attempt, events: readonly Event[], data: readonly unknown[]) => {
  const { stream, past, about, request } = attempt;
  const home = homeOf(attempt);
  const encode = encoder(about);
  let { hash, revision } = past;
  return events.map(({ topic, source = home }, i) => {
    const eventId = i === events.length - 1 ? request.eventId : undefined;
    const newEvent = encode(
      { stream, revision: ++revision, id: eventId ?? randomUUID(), source },
      { topic, data: data[i] },
      hash,
    );
    hash = newEvent.hash;
    return newEvent;
  });
};

/** Member by member: V8 copies objects slowly that get another member then. */
const metadataOf = (about: About, hash: string): Metadata => {
  const { $correlationId, $causationId, at, actor, operation, requestId, schemaVersion } = about;
  const metadata: Writable<Metadata> = {
    $correlationId,
    $causationId,
    at,
    actor,
    operation,
    requestId,
    schemaVersion,
    hash,
  };
  const { traceparent, idempotency, depth } = about;
  if (traceparent !== undefined) metadata.traceparent = traceparent;
  if (idempotency) metadata.idempotency = idempotency;
  if (depth !== undefined) metadata.depth = depth;
  return metadata;
};

/** The name by which the request called the resource, if a retry needs it and no claim records it. */
const nameToNote = ({ command: { aggregate }, request, past }: Attempt): Name | undefined => {
  if (!request.idempotency || !request.calledBy) return undefined;
  const name = { kind: aggregate.category, ...request.calledBy };
  const ownNames = aggregate.names?.(past.state) ?? [];
  return ownNames.some((one) => sameName(one, name)) ? undefined : name;
};

/** Stores all events of an attempt in one append, at the revision that the attempt has read. */
const eventStorer =
  ({ store, streams, claims, pace }: StorerNeeds) =>
  async (attempt: Attempt, events: readonly Event[]): Promise<Stored> => {
    const { stream, past, about } = attempt;
    const nameClaims = namesWanted(attempt, events);
    const home = homeOf(attempt);
    const facts = events.map(({ data }) => data);
    const whole = pace.timed(() => encoded(attempt, events, facts));
    const chunked = goesInParts(whole);
    const noteName = nameToNote(attempt);
    // Chunks, notes and claims are events too. So check all names before the first of them is stored.
    if (chunked || noteName || nameClaims.length > 1) await claims.refuseTaken(nameClaims);
    const texts = chunked ? encoded(attempt, events, await slimmed(store, home, facts)) : whole;
    // As everybody will read them once they are stored. Nobody has them yet, so their position is set then.
    const recorded = texts.map(({ id, hash }, i): Writable<Recorded> => {
      const { topic, source = home } = events[i]!; // one text for each event
      const metadata = metadataOf(about, hash);
      const data: unknown = JSON.parse(whole[i]!.data);
      return { id, stream, revision: past.revision + 1 + i, position: 0, source, topic, data, metadata };
    });
    const grown = pace.timed(() => streams.extend(stream, past, recorded));

    if (noteName) await claims.note(noteName, attempt);
    const append = () => store.append(stream, past.revision, texts);
    const { position } = await (nameClaims.length > 0 ? claims.claiming(nameClaims, attempt, append) : append());
    for (const event of recorded) event.position = position;
    grown.position = position;
    const bytes = whole.reduce((sum, { data }) => sum + data.length, 0);
    return { kept: streams.keep(stream, grown, recorded, bytes), stored: recorded };
  };
