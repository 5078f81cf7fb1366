import { LRUCache } from 'lru-cache';
import { places } from '../../concurrency/places.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { EventStore } from '../../store/port.ts';
import type { Entry, Page, Query } from '../engine/port.ts';
import { foldStream, foldUnit } from './foldUnit.ts';
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
};

const guardsAtOnce = 5000;
const mostWaiting = 16;

/** Reads documents as of earlier positions from the log. Whole collections are folded once and kept as long as they fit. */
export const pastReads = ({ log, memory }: Needs): PastReads => {
  const kept = new LRUCache<string, PastModel>({
    maxSize: memory,
    sizeCalculation: (model) => Math.max(1, Math.min(model.bytes(), memory)),
  });
  const underWay = new Map<string, Promise<PastModel>>();
  const oneAtATime = places(1);

  const makeRoom = (bytes: number): void => {
    while (kept.size > 0 && kept.calculatedSize + bytes > memory) kept.pop();
  };

  const bound = (model: PastModel, unit: Unit): void => {
    if (model.hasTexts() && model.bytes() > memory / 4) model.dropTexts();
    if (model.bytes() > memory) throw tooLarge(unit, memory);
    makeRoom(model.bytes());
  };

  const fold = async (unit: Unit, position: number): Promise<PastModel> => {
    const giveBack = await oneAtATime();
    try {
      const model = pastModel(unit);
      await foldUnit(log, unit, position, (changes) => {
        model.put(changes);
        bound(model, unit);
      });
      return model;
    } finally {
      giveBack();
    }
  };

  const keyOf = (unit: Unit, position: number): string => `${position} ${nameOfUnit(unit)}`;

  const modelOf = async (unit: Unit, position: number): Promise<PastModel> => {
    const key = keyOf(unit, position);
    const known = kept.get(key);
    if (known) return known;
    const begun = underWay.get(key);
    if (begun) return begun;
    if (underWay.size >= mostWaiting) throw tooMany();
    const work = fold(unit, position);
    underWay.set(key, work);
    try {
      const model = await work;
      kept.set(key, model);
      return model;
    } finally {
      underWay.delete(key);
    }
  };

  const getMany: PastReads['getMany'] = async (position, collection, ids) => {
    const get = async (id: string): Promise<Entry | undefined> => {
      const unit = unitOf(collection, id);
      const model = kept.get(keyOf(unit, position));
      if (model?.hasTexts()) return model.get(collection, id);
      const stream = streamOf(collection, id);
      if (stream === undefined || 'stream' in Object(unit)) return (await modelOf(unit, position)).get(collection, id);
      return (await foldStream(log, stream, position)).get(`${collection}/${id}`);
    };
    const found: (Entry | undefined)[] = [];
    for (const id of ids) found.push(await get(id));
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

const tooLarge = (unit: Unit, memory: number): RequestError =>
  new RequestError(
    'limited',
    `The streams ${nameOfUnit(unit)} as of then do not fit into ASOF_MEMORY (${Math.round(memory / 2 ** 20)} MB): ` +
      'ask for single documents by id, or raise the setting',
  );

const tooMany = (): RequestError =>
  new RequestError('limited', 'Too many lists of earlier times are being made; try again later', {
    retryAfterSeconds: 10,
  });
