import { type GuardedClock, type Leadership, type Log, trustedClock } from '@automation-platform/concurrency';
import { reactions as allReactions } from './commands/all.ts';
import type { Tools } from './commands/engine/define.ts';
import { handler } from './commands/engine/handle.ts';
import { previewer } from './commands/engine/preview.ts';
import { reactor } from './commands/engine/reactor.ts';
import { retiredHint } from './commands/engine/retirement.ts';
import { retries } from './commands/engine/retries.ts';
import { type Streams, streams as streamsOf } from './commands/engine/streams.ts';
import { tamperedGuard } from './commands/engine/tamperedGuard.ts';
import { commandTools } from './commands/engine/tools.ts';
import { aggregates } from './domain/all.ts';
import { platform } from './domain/engine/core.ts';
import { RequestError } from './domain/engine/requestError.ts';
import type { Transform } from './domain/engine/transforming.ts';
import type { ForeignSources } from './domain/sources.ts';
import { eventFeed, eventHub } from './events/eventHub.ts';
import { projections as allProjections } from './projections/all.ts';
import { countedEvents } from './projections/countedEvents.ts';
import type { Projection } from './projections/engine/define.ts';
import type { ReadStore } from './projections/engine/port.ts';
import { collectionsOf } from './projections/engine/projector.ts';
import { reader } from './projections/engine/reader.ts';
import { type Projections, runProjections } from './projections/engine/run.ts';
import { memoryReadStore } from './projections/index/memory.ts';
import { touching } from './projections/rebuild/rebuild.ts';
import type { Passwords } from './secrets/passwords.ts';
import type { Secrets } from './secrets/secrets.ts';
import type { EventStore } from './store/port.ts';
import { noticingTampered, tamperedStreams } from './store/tampered.ts';
import { upTo } from './store/upTo.ts';

type Needs = {
  /** The event log. The node closes it. */
  readonly log: EventStore;
  /** The read store, in memory if not set. The node closes it. */
  readonly model?: ReadStore;
  /** The projections; all of them if not set. */
  readonly projections?: readonly Projection[];
  /** Says whether this process leads; the writer of the read models leads if not set. */
  readonly leadership?: Leadership;
  /** The sources of other programs' events that count; all if not set. */
  readonly foreign?: ForeignSources;
  /** How many events one batch has while catching up. */
  readonly catchUp?: number;
  /** How long a reader of acknowledged changes waits for the read models, in milliseconds. */
  readonly readWaitMs: number;
  readonly hashing: Passwords;
  readonly secrets: Secrets;
  /** The methods that roles may name. */
  readonly methods: Tools['methods'];
  /** The clock of the node; that of the machine if not set. */
  readonly clock?: GuardedClock;
  readonly warn: Log;
};

/**
 * Everything below HTTP as one value: the log, the read models, the commands, and the subscribers to stored events.
 *
 * An open node takes commands. Subscribe to its events before `start`. After `start` it follows the log, projects and
 * informs its subscribers. `startReactions` makes it carry out reactions. `close` stops everything in order, even if
 * nothing was started.
 */
export const openNode = async ({
  log,
  projections = allProjections,
  foreign,
  model = memoryReadStore({ collections: collectionsOf(projections) }),
  leadership: given,
  catchUp = Infinity,
  readWaitMs,
  hashing,
  secrets: { seal, unseal, sealPacked, unsealPacked, digest },
  methods,
  clock = trustedClock(),
  warn,
}: Needs) => {
  const headAtStart = await log.head();
  const now = timeTexts(clock.now);
  const tampered = tamperedStreams(warn);
  const { store, stored } = rememberingPosition(noticingTampered(log, tampered), headAtStart);
  const acknowledged = highest(headAtStart);

  const changes = touching(model);
  const counted = projections === allProjections ? countedEvents(foreign) : undefined;
  const run = runProjections({
    store,
    model: changes.model,
    projections,
    counted,
    catchUp,
    onTampered: tampered.note,
    log: warn,
  });
  const leadership = given ?? run.leadership;
  const caughtUp = settledBy(run, acknowledged.position, readWaitMs);

  const streams = streamsOf(store, aggregates, projections, tampered);
  let carryOut: Transform = async () => {
    throw new RequestError('unavailable', 'This program carries out no transformations');
  };
  const transform: Transform = (...about) => carryOut(...about);
  let rightsOf: Tools['accountNow'] = async () => {
    throw new RequestError('unavailable', 'This program knows no rights of accounts');
  };
  const accountNow: Tools['accountNow'] = async (id) => (id === platform.id ? platform : rightsOf(id));
  const tools = commandTools({
    model,
    streams,
    caughtUp: caughtUp,
    rest: { ...hashing, seal, unseal, methods, transform, accountNow },
  });
  const hub = eventHub();
  const handle = handler({ store, streams, tools, now, follow: hub.stored, acknowledge: acknowledged.note });
  const preview = previewer({ store, streams, tools, now });
  const reactions = reactor({
    store,
    tools,
    handle,
    events: streams.events,
    reactions: allReactions,
    whenProjected: (position) => caughtUp(position) ?? Promise.resolve(),
    leadership,
    ready: run.whenReady,
    log: warn,
  });
  const telling = eventFeed({ store, run, after: headAtStart, ...hub.fromLog, log: warn });
  const guarding = tamperedGuard(streams, tampered);

  return {
    log,
    model,
    run,
    /** Notes which documents the read models change. */
    changes,
    leadership,
    tools,
    handle,
    /** Decides a command and stores nothing. */
    preview,
    /** Position of the newest event in the log. */
    head: log.head,
    /** Events of a stream by revision. */
    events: streams.events,
    /** Highest position that this node has stored, or that the log had when the node was opened. */
    stored,
    /**
     * Resolves once the read models show all that this node has acknowledged, and the given position; undefined: they show
     * it already. Nobody waits for what is stored in the background.
     */
    settled: caughtUp,
    /** Finds the resource that a repeated request has changed before. */
    retries: retries(streams),
    /** Reads single documents as an actor may see them. */
    reader: reader(model, guarding, retiredHint({ streams, tools, model })),
    /** Streams that another program has touched, as far as this node has noticed. */
    touched: tampered,
    guarding,
    /** Loads streams as they were at a position. Nothing of them is kept. */
    streamsUpTo: (position: number): Pick<Streams, 'refresh' | 'asOf' | 'events' | 'kindOf'> => ({
      refresh: (stream) => streamsOf(upTo(store, position), aggregates, projections, tampered).refresh(stream),
      // A revision that is known at a position is before it.
      asOf: streams.asOf,
      events: streams.events,
      kindOf: streams.kindOf,
    }),
    clock,
    warn,
    hashing,
    seal,
    unseal,
    packed: { sealPacked, unsealPacked },
    digest,
    /** From now on this carries out transformations. */
    transformBy: (by: Transform): void => {
      carryOut = by;
    },
    /** From now on this finds the rights of accounts. */
    rightsBy: (by: Tools['accountNow']): void => {
      rightsOf = by;
    },
    subscribe: hub.subscribe,
    subscribeToAll: hub.subscribeToAll,
    start: (): void => {
      run.start();
      telling.start();
    },
    startReactions: (): void => {
      hub.followWith(reactions.follow);
      reactions.start();
    },
    /** Carries out parked reactions once more. */
    retryReaction: reactions.retry,
    /** Carries out no more reactions, and waits for those in progress. */
    stopReactions: reactions.stop,
    close: async (): Promise<void> => {
      await reactions.stop();
      await run.stop();
      await telling.stop();
      await model.close();
      await log.close();
    },
  };
};

export type Node = Awaited<ReturnType<typeof openNode>>;

/** The time as events have it. Many commands have the same millisecond. */
const timeTexts = (now: () => number) => {
  let last = Number.NaN;
  let text = '';
  return (): string => {
    const present = now();
    if (present !== last) text = new Date(present).toISOString();
    last = present;
    return text;
  };
};

/** The highest of positions. */
const highest = (first: number) => {
  let position = first;
  return {
    position: (): number => position,
    note: (next: number): void => {
      position = Math.max(position, next);
    },
  };
};

/** Wraps the store to note the highest position that it has stored: in this process, or before. */
const rememberingPosition = (store: EventStore, headAtStart: number) => {
  const { position: stored, note } = highest(headAtStart);
  return {
    stored,
    store: {
      ...store,
      append: async (...args) => {
        const appended = await store.append(...args);
        note(appended.position);
        return appended;
      },
    } satisfies EventStore,
  };
};

/** Makes the function by which reads wait for everything that was acknowledged. */
const settledBy =
  (run: Projections, acknowledged: () => number, readWaitMs: number) =>
  (least = 0): Promise<void> | undefined => {
    const target = Math.max(acknowledged(), least);
    return run.position() >= target ? undefined : run.reached(target, readWaitMs);
  };
