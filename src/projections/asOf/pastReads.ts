import { places } from '@automation-platform/concurrency';
import { LRUCache } from 'lru-cache';
import { RequestError } from '../../domain/engine/requestError.ts';
import { retirement } from '../../domain/engine/retirement.ts';
import type { ForeignSources } from '../../domain/sources.ts';
import { splitStream } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { streamUpTo } from '../../store/upTo.ts';
import { countedEvents } from '../countedEvents.ts';
import { endedAt, type Projection } from '../engine/define.ts';
import { goneSpec } from '../engine/guards.ts';
import type { Change, Entry, Page, Query } from '../engine/port.ts';
import { projector } from '../engine/projector.ts';
import { retiredBefore } from '../engine/retiring.ts';
import {
  nameOfUnit,
  type PastModel,
  pastModel,
  projectionsOf,
  streamOf,
  type Unit,
  unitOf,
  unitOfList,
  type Verdicts,
} from './pastModel.ts';

/** Reads of documents as of a position. Rights are not looked at here. */
export type PastReads = {
  readonly getMany: (
    position: number,
    collection: string,
    ids: readonly string[],
  ) => Promise<readonly (Entry | undefined)[]>;
  readonly idsNamed: (position: number, collection: string, name: string) => Promise<readonly string[]>;
  /** `verdicts`: which documents of a guarded collection may be read; all if it is not set. */
  readonly list: (
    position: number,
    collection: string,
    query: Omit<Query, 'may'>,
    verdicts?: Verdicts,
  ) => Promise<Page>;
  /** Ids and guards of some of a collection's documents, from one on; none at the end. */
  readonly guards: (
    position: number,
    collection: string,
    from: number,
  ) => Promise<readonly (readonly [id: string, guard?: string])[]>;
};

type Needs = {
  readonly log: EventStore;
  /** How many bytes the models may take together. */
  readonly memory: number;
  /** The sources of other programs' events that count; all unless given. */
  readonly foreign?: ForeignSources | undefined;
};

const bytesOfEntry = 1000;
const guardsAtOnce = 5000;
const mostWaiting = 16;

/** Reads documents as of earlier positions from the log. Whole collections are folded once and kept as long as they fit. */
export const pastReads = ({ log, memory, foreign }: Needs): PastReads => {
  // Documents of models without texts, and single ones.
  const alone = new LRUCache<string, Entry>({
    maxSize: Math.max(1, Math.floor(memory / 8)),
    sizeCalculation: (entry) => bytesOfEntry + entry.text.length,
  });
  const forModels = Math.max(1, memory - alone.maxSize);
  const models = new LRUCache<string, PastModel>({
    maxSize: forModels,
    sizeCalculation: (model) => Math.max(1, Math.min(model.bytes(), forModels)),
  });
  const underWay = new Map<string, Promise<PastModel>>();
  const oneAtATime = places(() => 1);

  const makeRoom = (bytes: number): void => {
    while (models.size > 0 && models.calculatedSize + bytes > forModels) models.pop();
  };

  const bound = (model: PastModel, unit: Unit): void => {
    // A unit that depends on the whole log cannot be folded alone.
    if (unit !== 'log' && model.hasTexts() && model.bytes() > memory / 4) model.dropTexts();
    if (model.bytes() > forModels) throw tooLarge(unit);
    makeRoom(model.bytes());
  };

  const fold = async (unit: Unit, position: number): Promise<PastModel> => {
    const model = pastModel(unit);
    await foldUnit({ log, foreign }, unit, position, (changes) => {
      model.put(changes);
      bound(model, unit);
    });
    return model;
  };

  const keyOf = (unit: Unit, position: number): string => `${position} ${nameOfUnit(unit)}`;

  const modelOf = async (unit: Unit, position: number): Promise<PastModel> => {
    const key = keyOf(unit, position);
    const cachedModel = models.get(key);
    if (cachedModel) return cachedModel;
    const runningRead = underWay.get(key);
    if (runningRead) return runningRead;
    if (underWay.size >= mostWaiting) throw tooMany();
    const work = oneAtATime(() => fold(unit, position));
    underWay.set(key, work);
    try {
      const model = await work;
      models.set(key, model);
      return model;
    } finally {
      underWay.delete(key);
    }
  };

  /** The documents of a collection, each folded from its own stream unless it was lately. */
  const foldedAlone = async (
    position: number,
    collection: string,
    ids: readonly string[],
  ): Promise<readonly (Entry | undefined)[]> => {
    const cachedEntries = ids.map((id) => alone.get(`${position} ${collection}/${id}`));
    const missing = ids.filter((_, at) => cachedEntries[at] === undefined);
    if (missing.length === 0) return cachedEntries;
    const streams = missing.map((id) => streamOf(collection, id));
    const found = await foldStreams(log, streams, position);
    for (const id of missing) {
      const entry = found.get(`${collection}/${id}`);
      if (entry) alone.set(`${position} ${collection}/${id}`, entry);
    }
    return ids.map((id, at) => cachedEntries[at] ?? found.get(`${collection}/${id}`));
  };

  const getMany: PastReads['getMany'] = async (position, collection, ids) => {
    const found: (Entry | undefined)[] = [];
    const others = new Map<number, string>();
    for (const [at, id] of ids.entries()) {
      const unit = unitOf(collection, id);
      const isAlone = unit !== 'log' && 'category' in unit;
      const model = isAlone ? models.get(keyOf(unit, position)) : await modelOf(unit, position);
      if (model?.hasTexts()) found[at] = model.get(collection, id);
      else others.set(at, id);
    }
    if (others.size === 0) return found;
    const folded = await foldedAlone(position, collection, [...others.values()]);
    for (const [n, at] of [...others.keys()].entries()) found[at] = folded[n];
    return found;
  };

  return {
    getMany,
    idsNamed: async (position, collection, name) =>
      (await modelOf(unitOf(collection, name), position)).idsNamed(collection, name),
    list: async (position, collection, query, verdicts) => {
      const model = await modelOf(unitOfList(collection, query.part), position);
      const { entries, total } = model.list(collection, query, verdicts);
      const whole = model.hasTexts()
        ? entries
        : await getMany(
            position,
            collection,
            entries.map(({ id }) => id),
          );
      const texts = whole.filter((entry) => entry !== undefined);
      return { entries: texts.map(({ id, text, revision }) => ({ id, text, revision })), total };
    },
    guards: async (position, collection, from) =>
      (await modelOf(unitOf(collection, ''), position)).guards(collection, from, guardsAtOnce),
  };
};

const tooLarge = (unit: Unit): RequestError =>
  new RequestError(
    'limited',
    `What ${nameOfUnit(unit)} was then does not fit into ASOF_MEMORY: ask for single documents by id, or raise the setting`,
  );

const tooMany = (): RequestError =>
  new RequestError('limited', 'Too many lists of earlier times are being made; try again later', {
    retryAfterSeconds: 10,
  });

/** The time before which everything of this kind that had ended was retired up to a position; undefined: nothing was. */
const lastRetirement = async (log: EventStore, main: Projection, until: number): Promise<number | undefined> => {
  let last: number | undefined;
  for await (const events of streamUpTo(log, `${retirement.category}-${main.of.category}`, until))
    for (const event of events) last = Math.max(last ?? 0, retiredBefore(event, main) ?? 0) || undefined;
  return last;
};

/** Makes the function that leaves out of a unit's documents what was retired up to a position. */
const leavingRetired = async (
  log: EventStore,
  unit: Unit,
  until: number,
): Promise<(changes: readonly Change[]) => readonly Change[]> => {
  const main = projectionsOf(unit).find(({ retires }) => retires);
  const before = main && (await lastRetirement(log, main, until));
  if (!main || before === undefined) return (changes) => changes;
  const isRetired = (entry: Entry | undefined): boolean =>
    entry !== undefined && (endedAt(main, JSON.parse(entry.text)) ?? Infinity) < before;
  return (changes) => {
    const deletedIds = new Set<string>();
    for (const { collection, id, entry } of changes)
      if (collection === main.collection && isRetired(entry)) deletedIds.add(id);
    return deletedIds.size === 0 ? changes : changes.filter(({ id }) => !deletedIds.has(id));
  };
};

type Read = (collection: string, id: string) => Promise<Entry | undefined>;

const foldOf = (unit: Unit, read: Read, foreign?: ForeignSources) => {
  const counted = unit === 'log' ? countedEvents(foreign) : undefined;
  const fold = projector(projectionsOf(unit), { read, log: () => undefined, counted, keptStreams: 1 });
  fold.reset(true);
  return fold;
};

const nothing: Read = async () => undefined;

/** The documents that some streams of one category had at a position, by `<collection>/<id>`. */
export const foldStreams = async (
  log: EventStore,
  streams: readonly string[],
  until: number,
): Promise<ReadonlyMap<string, Entry>> => {
  const fold = foldOf({ stream: streams[0] ?? '' }, nothing);
  for (const stream of streams) for await (const events of streamUpTo(log, stream, until)) await fold.take(events);
  const leaveRetired = await leavingRetired(log, { stream: streams[0] ?? '' }, until);
  const found = new Map<string, Entry>();
  for (const { collection, id, entry } of leaveRetired(fold.drain()))
    if (entry) found.set(`${collection}/${id}`, entry);
  return found;
};

/**
 * Folds the events of a unit up to a position, and hands on the documents that they make. A part of the documents is
 * handed on as soon as their streams are complete, so that the events of few streams are in memory at a time.
 */
const foldUnit = async (
  { log, foreign }: { readonly log: EventStore; readonly foreign?: ForeignSources | undefined },
  unit: Unit,
  until: number,
  put: (changes: readonly Change[]) => void,
): Promise<void> => {
  // Streams that are not complete are never drained, so no document has to be read again.
  const fold = foldOf(unit, nothing, foreign);
  const leaveRetired = await leavingRetired(log, unit, until);
  const drain = (): void => {
    // Rights are those of now.
    put(leaveRetired(fold.drain()).filter(({ collection }) => collection !== goneSpec.name));
    fold.reset(true, new Map());
  };
  for await (const { events, whole } of eventsOf(log, unit, until)) {
    await fold.take(events);
    if (whole) drain();
  }
  drain();
};

/** Some events. `whole` is true if the events of their streams are complete after them. */
type Part = { readonly events: readonly StoredEvent[]; readonly whole: boolean };

/** All events up to a position. An event of a file is not checked: one that is damaged must not hide the rest. */
async function* logUpTo(log: EventStore, until: number): AsyncGenerator<readonly StoredEvent[]> {
  for await (const { events, position } of log.readAll(0, log.readCategory ? [''] : undefined)) {
    yield position <= until ? events : events.filter((event) => event.position <= until);
    if (position >= until) return;
  }
}

/** Splits the events before those of the last stream, which may go on. */
async function* byStream(source: AsyncIterable<readonly StoredEvent[]>): AsyncGenerator<Part> {
  for await (const events of source) {
    const last = events.at(-1)?.stream;
    const goesOn = events.findIndex(({ stream }) => stream === last);
    if (goesOn > 0) yield { events: events.slice(0, goesOn), whole: true };
    yield { events: events.slice(Math.max(0, goesOn)), whole: false };
  }
}

/** The events of a unit up to a position, so that each stream's events are in order. */
async function* eventsOf(log: EventStore, unit: Unit, until: number): AsyncGenerator<Part> {
  if (unit === 'log') {
    for await (const events of logUpTo(log, until)) yield { events, whole: false };
  } else if ('stream' in unit) {
    for await (const events of streamUpTo(log, unit.stream, until)) yield { events, whole: false };
  } else if (log.readCategory) {
    yield* byStream(log.readCategory(unit.category, until));
  } else {
    for await (const events of logUpTo(log, until)) {
      const own = events.filter(({ stream }) => splitStream(stream).category === unit.category);
      yield { events: own, whole: false };
    }
  }
}
