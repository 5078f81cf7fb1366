import { hash as digest, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Actor, type Event, fold, type Name } from '../../domain/engine/core.ts';
import { sameName } from '../../domain/engine/names.ts';
import { Refusal } from '../../domain/engine/refusal.ts';
import { encode, type Metadata, type Recorded } from '../../store/event.ts';
import { goesInParts, slimmed } from '../../store/payloads.ts';
import { type EventStore, WrongRevision } from '../../store/port.ts';
import { mayRead, mayWrite } from './access.ts';
import { nameClaims } from './claims.ts';
import type { AnyCommand, Tools } from './define.ts';
import { seriesOf } from './series.ts';
import type { Loaded, Streams } from './streams.ts';
import { mutex } from '../../concurrency/mutex.ts';

/** Who asks for a command on which resource, and how. */
export type Request = {
  readonly id: string;
  readonly input: unknown;
  readonly actor: Actor;
  /** Name of the row or reaction, kept in the events. */
  readonly operation: string;
  readonly requestId: string;
  /** Id of the event that this follows from; the request's id where it comes from outside. */
  readonly causation?: string | undefined;
  /** Correlation of that event; the request's id where it comes from outside. */
  readonly correlation?: string | undefined;
  readonly traceparent?: string | undefined;
  /** The revision the caller saw; `some`: any, `none`: it must not be there. Else `stale`. */
  readonly ifRevision?: number | 'some' | 'none' | undefined;
  /** Same key and digest again: the first answer. Same key, other digest: `unprocessable`. */
  readonly idempotency?: { readonly key: string; readonly request: string } | undefined;
  /** The name that the caller has called the resource by, if it was not its id. */
  readonly calledBy?: Pick<Name, 'name' | 'parent'> | undefined;
};

/** What became of it. `doc` is the document afterwards (undefined: none), `before` the one it was. */
export type Handled = {
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
   * stored, 0 if it goes on after the answer, which it may unless all is to be waited for (`wholly`).
   */
  readonly follow: (events: readonly Recorded[], wholly: boolean) => Promise<number>;
  /** Waits so many milliseconds. */
  readonly rest?: (ms: number) => Promise<unknown>;
};

/** A request with what the command has done early. */
type Begun = Request & { readonly early: unknown };

type Outcome = { readonly done: Handled; readonly stored: readonly Recorded[] };

const attempts = 10;
// All who want the same stream wait meanwhile: eight rests take 4 s at most, 2 s on the average.
const longestRestMs = 500;

/** The only write path: read, fold, decide, project, append at the expected revision; on conflict all over again. */
export const handler = ({ store, streams, tools, now, follow, rest = pause }: Needs) => {
  const inTurn = mutex();
  const claims = nameClaims(store, streams);
  const inSeries = seriesOf(store, streams);

  /** The whole way from state to decision, in the order of checks that docs/status-codes.md gives. */
  const decide = async (
    command: AnyCommand,
    request: Begun,
    past: Loaded,
    at: string,
    newId: (word: string) => string,
  ) => {
    const { id, input, actor, early, idempotency, ifRevision } = request;
    const { aggregate } = command;
    const { state, revision } = past;
    const refs = await command.prepare?.({ id, input, state, actor, early, now: at, newId }, tools);
    const lists = (command.gbac ?? aggregate.gbac)?.(state, refs);
    if (lists && !mayRead(actor, lists)) throw missing(aggregate.category);
    if (lists && !mayWrite(actor, lists))
      throw new Refusal('forbidden', 'Only members of its write groups may change it');

    const used = idempotency && past.keys.get(idempotency.key);
    if (used) {
      if (used.request !== idempotency.request)
        throw new Refusal('unprocessable', 'This Idempotency-Key was used with another request', {
          path: 'Idempotency-Key',
        });
      return { replay: used };
    }
    const there = aggregate.exists(state);
    if (command.on === 'existing' && !there) throw missing(aggregate.category);
    if (
      typeof ifRevision === 'number'
        ? ifRevision !== revision || !there
        : ifRevision && (ifRevision === 'some') !== there
    )
      throw new Refusal('stale', 'It has changed since you looked', { path: 'If-Match' });
    if (command.on === 'new' && there)
      throw new Refusal('conflict', `This ${words(aggregate.category)} exists already`);
    const sealed = command.seal ? command.seal(input, state, tools.seal, []) : input;
    return { events: command.decide(state, sealed, { id, now: at, actor, newId, refs }) };
  };

  const attempt = async (
    command: AnyCommand,
    request: Begun,
    past: Loaded,
    newId: (word: string) => string,
  ): Promise<Outcome> => {
    const stream = `${command.aggregate.category}-${request.id}`;
    const at = now();
    const about = aboutOf(request, at);
    const replay = request.idempotency && past.keys.has(request.idempotency.key);
    const series = [replay ? [] : (command.series?.(past.state, request.input, request.id) ?? [])].flat();
    if (series.length > 0) {
      // Taking a turn appends an event. So decide once without a turn: a refused or empty decision then stores nothing.
      const { events = [] } = await decide(command, request, past, at, newId);
      if (events.length === 0) return unchanged(command, request.id, past);
      await claims.refuseTaken(namesWanted(command, stream, past, events));
    }
    const work = () => carryOut(command, request, stream, past, at, about, newId);
    // One order everywhere, so that two decisions cannot wait for each other.
    return series.sort().reduceRight((inner, name) => () => inSeries(name, stream, past, about, inner), work)();
  };

  const carryOut = async (
    command: AnyCommand,
    request: Begun,
    stream: string,
    past: Loaded,
    at: string,
    about: Omit<Metadata, 'hash'>,
    newId: (word: string) => string,
  ): Promise<Outcome> => {
    const { aggregate } = command;
    const { events, replay } = await decide(command, request, past, at, newId);
    if (replay) {
      const [before, after] = [await streams.asOf(stream, replay.first - 1), await streams.asOf(stream, replay.last)];
      return {
        done: handled(command, request.id, before, after, { replayed: true }),
        stored: await streams.events(stream, replay.first, replay.last),
      };
    }
    if (events.length === 0) return unchanged(command, request.id, past);

    const wanted = namesWanted(command, stream, past, events);
    const home = `@platform/${aggregate.area}`;
    const inWords = (facts: readonly unknown[]) => {
      let { hash, revision } = past;
      return events.map(({ type, source = home }, i) => {
        const made = encode(stream, ++revision, randomUUID(), source, { type, data: facts[i] }, about, hash);
        hash = made.hash;
        return made;
      });
    };
    const facts = events.map(({ data }) => data);
    const whole = inWords(facts);
    const inParts = goesInParts(whole);
    const calledBy = request.idempotency && request.calledBy && { kind: aggregate.category, ...request.calledBy };
    const held = aggregate.names?.(past.state) ?? [];
    const noted = calledBy && !held.some((name) => sameName(name, calledBy)) ? calledBy : undefined;
    // Parts, notes and claims are events: look at all names before the first of them.
    if (inParts || noted || wanted.length > 1) await claims.refuseTaken(wanted);
    const encoded = inParts ? inWords(await slimmed(store, home, facts)) : whole;
    // As everybody will read it, once it is stored.
    const read = whole.map(({ data }): unknown => JSON.parse(data));
    const recorded = (position: number): Recorded[] =>
      encoded.map(({ id, hash }, i) => ({
        id,
        stream,
        revision: past.revision + 1 + i,
        position,
        source: events[i]!.source ?? home,
        topic: events[i]!.type,
        data: read[i],
        metadata: { hash, ...about },
      }));
    const grown = streams.extend(stream, past, recorded(0));

    if (noted) await claims.note(noted, stream, about);
    const { position } = await claims.claiming(wanted, stream, about, () =>
      store.append(stream, past.revision, encoded),
    );
    const stored = recorded(position);
    const kept = streams.keep(
      stream,
      { ...grown, position },
      stored,
      whole.reduce((sum, { data }) => sum + data.length, 0),
    );
    return { done: handled(command, request.id, past, kept, {}), stored };
  };

  /** Carries out one command. Throws `Refusal` with nothing stored, or `unavailable` with an unknown outcome. */
  return async (command: AnyCommand, given: Request): Promise<Handled> => {
    const request = { ...given, early: await command.early?.(given.input, tools) };
    const stream = `${command.aggregate.category}-${request.id}`;
    const seed = `${stream} ${request.idempotency?.key ?? randomUUID()}`;
    const newId = (word: string) => digest('sha256', `${seed} ${word}`, 'hex').slice(0, 24);
    const { done, stored } = await inTurn(stream, async () => {
      let past = await streams.load(stream);
      for (let tried = 1; ; tried++) {
        const began = performance.now();
        try {
          const outcome = await attempt(command, request, past, newId);
          if (outcome.done.changed || outcome.done.replayed) return outcome;
          const seen = past.revision;
          past = await streams.refresh(stream);
          if (past.revision === seen) return outcome;
        } catch (error) {
          // A refusal may rest on what another node has changed since: look again before it stands.
          const seen = past.revision;
          if (error instanceof Refusal && error.code === 'unavailable') streams.forget(stream);
          else if (!(error instanceof Refusal || error instanceof WrongRevision)) throw error;
          else past = await streams.refresh(stream);
          if (error instanceof Refusal && past.revision === seen) throw error;
        }
        if (tried === attempts)
          throw new Refusal('unavailable', 'Too many writers at once; nothing was stored', { retryAfterSeconds: 1 });
        // Two nodes that start over at once get in each other's way again: the longer a try takes, the wider they
        // spread.
        const wide = 2 ** tried + tried * (performance.now() - began);
        if (tried > 1) await rest(Math.random() * Math.min(wide, longestRestMs));
      }
    });
    // Outside the turn: what follows may be about this very stream. Also of a replay: the first try may not be through.
    // What itself follows from an event is done once all is done that follows from it in turn.
    const position = await follow(stored, request.causation !== undefined);
    return { ...done, position: Math.max(done.position, position) };
  };
};

export type Handle = ReturnType<typeof handler>;

/** `groupMapping` in words: group mapping. */
const words = (category: string): string => category.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** The same words for what is not there and for what the caller may not see. */
export const missing = (category: string): Refusal => new Refusal('not_found', `No such ${words(category)}`);

/** The names that the events give, to this stream and to those of what follows from them. */
const namesWanted = ({ aggregate }: AnyCommand, stream: string, { state }: Loaded, events: readonly Event[]) => {
  const next = fold(aggregate, events, state);
  const held = aggregate.names?.(state) ?? [];
  const own = (aggregate.names?.(next) ?? []).filter((name) => !held.some((old) => sameName(old, name)));
  return [...own.map((name) => ({ owner: stream, name })), ...(aggregate.promises?.(next) ?? [])];
};

const handled = (
  { aggregate }: AnyCommand,
  id: string,
  before: Loaded,
  after: Loaded,
  { replayed = false },
): Handled => ({
  id,
  replayed,
  revision: after.revision,
  position: after.position,
  before: before.docs[0],
  doc: after.docs[0],
  created: !aggregate.exists(before.state) && aggregate.exists(after.state),
  changed: after.revision > before.revision,
});

const unchanged = (command: AnyCommand, id: string, past: Loaded): Outcome => ({
  done: handled(command, id, past, past, {}),
  stored: [],
});

const aboutOf = (request: Request, at: string): Omit<Metadata, 'hash'> => ({
  $correlationId: request.correlation ?? request.requestId,
  $causationId: request.causation ?? request.requestId,
  at,
  actor: { id: request.actor.id, username: request.actor.username, provenance: request.actor.provenance },
  operation: request.operation,
  requestId: request.requestId,
  ...(request.traceparent !== undefined && { traceparent: request.traceparent }),
  ...(request.idempotency && { idempotency: request.idempotency }),
  schemaVersion: 1,
});
