import { LRUCache } from 'lru-cache';
import { places } from '../../concurrency/places.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { ForeignSources } from '../../domain/sources.ts';
import type { EventStore } from '../../store/port.ts';
import type { Entry, Page, Query } from '../engine/port.ts';
import { foldStreams, foldUnit } from './foldUnit.ts';
import { type PastModel, pastModel, type Verdicts } from './pastModel.ts';
import { nameOfUnit, streamOf, type Unit, unitOf, unitOfList } from './units.ts';

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
  const kept = new LRUCache<string, PastModel>({
    maxSize: forModels,
    sizeCalculation: (model) => Math.max(1, Math.min(model.bytes(), forModels)),
  });
  const underWay = new Map<string, Promise<PastModel>>();
  const oneAtATime = places(() => 1);

  const makeRoom = (bytes: number): void => {
    while (kept.size > 0 && kept.calculatedSize + bytes > forModels) kept.pop();
  };

  const bound = (model: PastModel, unit: Unit): void => {
    // What depends on the whole log cannot be folded alone.
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
    const known = kept.get(key);
    if (known) return known;
    const begun = underWay.get(key);
    if (begun) return begun;
    if (underWay.size >= mostWaiting) throw tooMany();
    const work = oneAtATime(() => fold(unit, position));
    underWay.set(key, work);
    try {
      const model = await work;
      kept.set(key, model);
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
    const known = ids.map((id) => alone.get(`${position} ${collection}/${id}`));
    const missing = ids.filter((_, at) => known[at] === undefined);
    if (missing.length === 0) return known;
    const streams = missing.map((id) => streamOf(collection, id));
    const found = await foldStreams(log, streams, position);
    for (const id of missing) {
      const entry = found.get(`${collection}/${id}`);
      if (entry) alone.set(`${position} ${collection}/${id}`, entry);
    }
    return ids.map((id, at) => known[at] ?? found.get(`${collection}/${id}`));
  };

  const getMany: PastReads['getMany'] = async (position, collection, ids) => {
    const found: (Entry | undefined)[] = [];
    const others = new Map<number, string>();
    for (const [at, id] of ids.entries()) {
      const unit = unitOf(collection, id);
      const isAlone = unit !== 'log' && 'category' in unit;
      const model = isAlone ? kept.get(keyOf(unit, position)) : await modelOf(unit, position);
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
