import { setTimeout as pause } from 'node:timers/promises';
import { supervise } from '../../concurrency/supervise.ts';
import { platform } from '../../domain/engine/core.ts';
import type { Aggregate } from '../../domain/engine/core.ts';
import { NotReadable, Refusal } from '../../domain/engine/refusal.ts';
import { type Lead, whileLeading } from '../../projections/engine/lead.ts';
import { parkedReactions } from '../../projections/engine/parkedReactions.ts';
import { decode, type Recorded, splitStream } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { isUnusable } from '../../store/touched.ts';
import type { AnyCommand, Tools } from './define.ts';
import type { Handle, Request } from './handle.ts';
import { completeReaction, parkReaction } from './parkedReactions.ts';
import { partOf } from './parts.ts';
import type { Streams } from './streams.ts';

/** A command that follows from an event. */
export type Next = { readonly command: AnyCommand; readonly id: string; readonly input: unknown };

/** What follows from events of an aggregate: asked once the event is stored, and again after a crash. */
export type Reaction = {
  readonly of: Aggregate;
  readonly on: { readonly [topic: string]: (event: Recorded<any>, tools: Tools) => Promise<readonly Next[]> }; // data as the topic has it
  /**
   * Long work that no request waits for: the topics, with all that follows from them, are left to the reader of the
   * log.
   */
  readonly behind?: true;
};

type Needs = {
  readonly store: EventStore;
  readonly tools: Tools;
  readonly handle: Handle;
  /** Events of a stream by revision. */
  readonly events: Streams['events'];
  readonly reactions: readonly Reaction[];
  /** Waits until the read models hold everything up to the position. */
  readonly reached: (position: number) => Promise<void>;
  /** Who has it reads the log. */
  readonly lead: Lead;
  /** Resolves once the read models show what the log had when this process began to follow it, or the signal aborts. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** How long who has caused an event waits for what follows from it; 2 s unless given. */
  readonly patienceMs?: number;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/** What follows from an event is done for whoever caused it. */
export const requestFor = ({ id, metadata }: Recorded): Omit<Request, 'id' | 'input'> => ({
  actor: { ...metadata.actor, groups: [], admin: true },
  operation: metadata.operation,
  requestId: metadata.requestId,
  correlation: metadata.$correlationId,
  causation: id,
});

/** What becomes of an event that cannot be read, the platform does. */
const requestForUnreadable = ({ id }: StoredEvent): Omit<Request, 'id' | 'input'> => ({
  actor: platform,
  operation: 'reactions',
  requestId: id,
  causation: id,
});

const tries = 6;
const checkpoint = 'reactions';
const keepEvery = 1000;
const askAgainMs = 100;
const readAgainMs = 1000;

/**
 * Carries out what follows from events: at once for the events of this node, and from the log, while this process
 * leads, for those that a stopped process left behind. Every part is a command with an idempotency key of its own, so
 * doing it twice is doing it once.
 */
export const reactor = ({
  store,
  events,
  tools,
  handle,
  reactions,
  reached,
  lead,
  ready,
  patienceMs = 2000,
  log,
}: Needs) => {
  const table = new Map<
    string,
    { readonly category: string; readonly next: Reaction['on'][string]; readonly behind: boolean }[]
  >();
  for (const { of, on, behind = false } of reactions) {
    for (const [topic, next] of Object.entries(on)) {
      const type = `@platform/${of.area}:${topic}`;
      table.set(type, [...(table.get(type) ?? []), { category: of.category, next, behind }]);
    }
  }
  const types = [...table.keys()];
  /**
   * What follows from events of a type in a stream: nothing where the platform does not write that type, whoever did.
   */
  const following = (stream: string, type: string) => {
    const { category } = splitStream(stream);
    return (table.get(type) ?? []).filter((reaction) => reaction.category === category);
  };
  const running = new Map<string, Promise<number>>();
  const stop = new AbortController();

  /** Tools that see at least what was there at the position; streams always are as they are now. */
  const since = (position: number): Tools => ({
    ...tools,
    find: async (...args) => {
      await reached(position);
      return tools.find(...args);
    },
    query: async (...args) => {
      await reached(position);
      return tools.query(...args);
    },
    findWithin: async (...args) => {
      await reached(position);
      return tools.findWithin(...args);
    },
    count: async (...args) => {
      await reached(position);
      return tools.count(...args);
    },
  });

  /** All parts, in order; the highest position that they reached. */
  const parts = async (event: Recorded): Promise<number> => {
    const idempotency = { key: `${partOf(event.stream)}${event.revision}`, request: '' };
    let reached = 0;
    for (const { next } of following(event.stream, `${event.source}:${event.topic}`)) {
      for (const { command, id, input } of await next(event, since(event.position))) {
        // What is left is done after the next start, or by the process that leads then.
        stop.signal.throwIfAborted();
        const { position } = await handle(command, { ...requestFor(event), id, input, idempotency });
        reached = Math.max(reached, position);
      }
    }
    return reached;
  };

  /** Notes that nothing follows from an event for now, and why; the position of that. */
  const park = async (
    { id, stream, revision }: Pick<StoredEvent, 'id' | 'stream' | 'revision'>,
    request: Omit<Request, 'id' | 'input'>,
    error: unknown,
  ): Promise<number> => {
    const reason = error instanceof Error ? error.message : String(error);
    try {
      return (await handle(parkReaction, { ...request, id, input: { stream, revision, reason } })).position;
    } catch (failure) {
      if (!isUnusable(failure)) throw failure;
      // Its own stream cannot be used either. What follows from other events must not wait for that.
      log('A reaction that failed cannot be parked', { event: id, stream, revision, error: failure });
      return 0;
    }
  };

  /** Does work again and again for as long as the read models cannot tell what it asks: it has not failed. */
  const onceReadable = async <T>(
    work: () => Promise<T>,
    signal: AbortSignal,
    about: Record<string, unknown>,
  ): Promise<T> => {
    for (let waits = false; ; waits = true) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof NotReadable)) throw error;
        if (!waits) log('A reaction waits for the read models', { ...about, error });
        await pause(askAgainMs, undefined, { signal });
      }
    }
  };

  /** Tries until it is done, or has failed for good and is parked. */
  const insist = async (event: Recorded): Promise<number> => {
    for (let tried = 1; ; tried++) {
      try {
        return await onceReadable(() => parts(event), stop.signal, { event: event.id, stream: event.stream });
      } catch (error) {
        if (stop.signal.aborted) throw error;
        log('A reaction failed', { event: event.id, stream: event.stream, tried, error });
        const hopeless = isUnusable(error) || (error instanceof Refusal && error.code !== 'unavailable');
        if (hopeless || tried === tries) {
          return park(event, requestFor(event), error);
        }
        await pause(50 * 2 ** tried, undefined, { signal: stop.signal });
      }
    }
  };

  /** What an earlier process could not carry out may work now. */
  const retryParked = async (turn: AbortSignal): Promise<void> => {
    const parked = await onceReadable(() => tools.query(parkedReactions), turn, {});
    for (const { event, stream, revision } of parked) {
      try {
        const [recorded] = await events(stream, revision, revision);
        if (!recorded) continue;
        await onceReadable(() => parts(recorded), turn, { event, stream });
        await handle(completeReaction, { ...requestFor(recorded), id: event, input: {} });
      } catch (error) {
        if (turn.aborted) return;
        log('A parked reaction failed again', { event, error });
      }
    }
  };

  /** One run per event at a time, shared by the request that caused it and the log reader. */
  const react = (event: Recorded): Promise<number> => {
    const under = running.get(event.id);
    if (under) return under;
    const run = insist(event).finally(() => running.delete(event.id));
    running.set(event.id, run);
    return run;
  };

  /** Does what follows from an event of the log. */
  const meet = async (stored: StoredEvent): Promise<void> => {
    let event: Recorded;
    try {
      event = decode(stored);
    } catch (error) {
      log('A reaction cannot be carried out', { event: stored.id, stream: stored.stream, error });
      await park(stored, requestForUnreadable(stored), error);
      return;
    }
    await react(event);
  };

  const readLog = async (signal: AbortSignal, goesOn: () => void): Promise<void> => {
    let kept = await store.checkpoint(checkpoint);
    let done = kept;
    let keptAt = 0;
    const keep = async (): Promise<void> => {
      if (done === kept) return;
      await store.setCheckpoint(checkpoint, done);
      kept = done;
      keptAt = Date.now();
    };
    try {
      for await (const { events, position } of store.follow(kept, types, signal)) {
        for (const event of events) if (following(event.stream, event.type).length > 0) await meet(event);
        if (events.length > 0) done = position;
        // Each may be an append; after a crash a second's work is found done already.
        if (Date.now() - keptAt >= keepEvery) await keep();
        goesOn();
      }
    } finally {
      await keep();
    }
  };

  /** What follows from the events, one after the other, until nobody waits for it any more. */
  const reactToAll = async (events: readonly Recorded[], left: AbortSignal): Promise<number> => {
    let reached = 0;
    for (const event of events) if (!left.aborted) reached = Math.max(reached, await react(event).catch(() => 0));
    return reached;
  };

  /** All of one turn of the lead: what is parked, then the log. */
  const readTurn = async (turn: AbortSignal): Promise<void> => {
    await ready(turn);
    if (turn.aborted) return;
    await retryParked(turn).catch((error: unknown) => {
      if (!turn.aborted) log('Parked reactions could not be read', { error });
    });
    await supervise((goesOn) => readLog(turn, goesOn), {
      signal: turn,
      pauseMs: readAgainMs,
      onFailure: (error, isNew) => {
        if (isNew) log('The reader of reactions failed', { error });
      },
    });
  };

  let reading = Promise.resolve();
  return {
    /**
     * Waits for what follows from the events, and tells the highest position that was reached; a part that fails is
     * left to the log reader. What takes longer than `patienceMs` goes on while nobody waits, and the log reader, here
     * or on the node that leads, sees to it that it is done; the position is 0 then. `wholly`: waits for all, however
     * long it takes.
     */
    follow: async (events: readonly Recorded[], wholly: boolean): Promise<number> => {
      const concerning = events.filter(({ stream, source, topic }) => {
        const reactions = following(stream, `${source}:${topic}`);
        return reactions.length > 0 && reactions.every(({ behind }) => !behind);
      });
      if (concerning.length === 0) return 0;
      const left = new AbortController();
      const all = reactToAll(concerning, left.signal);
      if (wholly) return all;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<number>((resolve) => {
        timer = setTimeout(() => {
          left.abort();
          resolve(0);
        }, patienceMs);
      });
      return Promise.race([all, late]).finally(() => clearTimeout(timer));
    },
    /** Begins to read the log. */
    start: (): void => {
      if (types.length > 0) reading = whileLeading(lead, stop.signal, readTurn);
    },
    /** Lets the parts under way end. */
    stop: async (): Promise<void> => {
      stop.abort();
      await reading;
      await Promise.allSettled(running.values());
    },
  };
};
