import { createHash, randomUUID } from 'node:crypto';
import { NotReadable } from '../../domain/engine/requestError.ts';
import {
  type Change,
  type Checkpoint,
  type CollectionSpec,
  type Entry,
  leaseMs,
  type Page,
  type Query,
  type ReadStore,
} from '../engine/port.ts';
import type { Indexed } from '../index/collectionIndex.ts';
import { checkStep } from '../index/collections.ts';
import { type Following, type NearCache, nearCache, type State } from './nearCache.ts';
import { fieldOf, mendingStep, type RedisSteps, redisStep, redisSteps, restOf } from './redisConnection.ts';
import * as scripts from './redisScripts.ts';

type Options = {
  /** `redis[s]://[[user]:password@]host[:port][/database]` */
  readonly url: string;
  /**
   * The prefix of all keys. It separates these read models from those of other logs, and of other versions of the
   * projections, in the same Redis.
   */
  readonly prefix: string;
  readonly collections: readonly CollectionSpec[];
  /** How long a read waits for Redis, and for the near cache to reach the same position, in milliseconds. */
  readonly readWaitMs?: number;
  /** How many changes are kept for processes that follow. A process that is farther behind loads everything. */
  readonly notices?: number;
};

const loadTries = 5;

type Begun = readonly [epoch: string, position: string, event: string];
const stateOf = ([epoch, position, event]: Begun): State => ({ epoch, position: Number(position), event });

/** The change without the document's text, as the near cache stores it. */
const bareOf = ({ entry, ...change }: Change) => (entry ? { ...change, entry: restOf(entry) } : change);

/**
 * The read store in Redis. Redis holds the documents; the near cache in this process holds the index that finds them. A
 * list is looked up in the near cache. The round trip that fetches the texts proves that Redis is at the same position.
 */
export const redisReadStore = ({
  url,
  prefix,
  collections,
  readWaitMs = 2000,
  notices = 10_000,
}: Options): ReadStore => {
  const steps = redisSteps(url, prefix);
  const { step } = steps;
  // Entries with other sort or filter fields are of no use here, so epochs begin with a digest of the fields.
  const shape = createHash('sha1').update(JSON.stringify(collections)).digest('hex').slice(0, 8);
  const newEpoch = (): string => `${shape}-${randomUUID()}`;
  // The highest position that was reported as shown.
  let shownPosition = 0;
  let token = '';

  const cache = nearCache(collections, {
    follow: (epoch, from) => step<Following | null>(scripts.follow, [epoch, String(from)]),
    scan: steps.scan,
  });
  const { stateAt, getMany, list, idsNamed, holdBack } = redisReads({ steps, cache, readWaitMs });

  /**
   * Applies the changes that were written since. Gives the checkpoint of the near cache; undefined if it must be
   * loaded.
   */
  const follow = async (): Promise<Checkpoint | undefined> => {
    const state = (await cache.follow()) ? cache.at() : undefined;
    return state && { position: state.position, event: state.event };
  };

  const resume = async (): Promise<Checkpoint> => {
    await steps.ready();
    for (let tries = 0; tries < loadTries; tries++) {
      const there = stateOf(
        await (steps.spoilt()
          ? step<Begun>(scripts.clear, [newEpoch()])
          : step<Begun>(scripts.begin, [newEpoch(), shape])),
      );
      steps.mended();
      const at = await follow();
      if (at) {
        steps.found();
        return at;
      }
      await cache.load(there);
    }
    throw steps.refuse('The read models change faster than they can be loaded');
  };

  const apply = async (changes: readonly Change[], from: number, to: Checkpoint): Promise<boolean> => {
    const bare = changes.map(bareOf);
    checkStep(changes, from, to.position);
    cache.collections.check(bare);
    const state = cache.at();
    if (!state) return false;
    // Only the near cache knows the documents of a part, so it must be at `from`.
    if (state.position !== from && changes.some(({ wholePart }) => wholePart)) return false;
    const release = holdBack();
    try {
      const numbers = [from, to.position].map(String);
      const scriptAnswer = await step(scripts.apply, [
        token,
        state.epoch,
        ...numbers,
        to.event,
        String(notices),
        ...redisStep(changes, cache.collections),
      ]);
      if (scriptAnswer !== 1) return false;
      if (state.position === from) cache.advance(state, bare, to);
      return true;
    } finally {
      // The reads that waited go on first: they find Redis at this position before the next step moves it.
      release();
    }
  };

  const mend = async (changes: readonly Change[]): Promise<void> => {
    cache.collections.check(changes.map(bareOf));
    const state = cache.at();
    if (changes.length === 0) return;
    const args = state && [token, state.epoch, String(state.position), newEpoch(), ...mendingStep(changes)];
    if (!args || (await step(scripts.mend, args)) !== 1)
      throw steps.refuse('The read models are not where they were left');
    await resume();
  };

  const get = async (least: number, collection: string, id: string): Promise<Entry | undefined> =>
    (await getMany(least, collection, [id]))[0];

  return {
    resume,
    catchUp: async () => (await follow()) ?? resume(),
    async takeLeadership() {
      await steps.ready();
      token = await step<string>(scripts.lead, [token, randomUUID(), String(leaseMs)], readWaitMs);
      return token !== '';
    },
    async resign() {
      if (token !== '') await step(scripts.resign, [token], readWaitMs);
      token = '';
    },
    apply,
    mend,
    *ids(collection, part) {
      for (const { id } of cache.collections.of(collection).all(part)) yield id;
    },
    async clear() {
      await cache.load(stateOf(await step(scripts.clear, [newEpoch()])));
    },
    onProjected: (position) => {
      shownPosition = Math.max(shownPosition, position);
    },
    forRunner: {
      get: (collection, id) => get(0, collection, id),
      list: (collection, query) => list(0, collection, query),
    },
    get: (collection, id) => get(shownPosition, collection, id),
    getMany: (collection, ids) => getMany(shownPosition, collection, ids),
    idsNamed: (collection, name) => idsNamed(shownPosition, collection, name),
    list: (collection, query) => list(shownPosition, collection, query),
    guard(collection, id) {
      stateAt(shownPosition);
      const entry = cache.collections.of(collection).get(id);
      return entry && (entry.guard ?? null);
    },
    version: (collection) => cache.collections.of(collection).version(),
    onLost: steps.onLost,
    onMoved: steps.onMoved,
    close: async () => steps.close(),
  };
};

type Needs = {
  readonly steps: Pick<RedisSteps, 'refuse' | 'refuseSpoilt' | 'step'>;
  readonly cache: NearCache;
  /** How long a read waits for Redis, and for the near cache to reach the same position, in milliseconds. */
  readonly readWaitMs: number;
};

type Read = readonly [
  epoch: string,
  position: string,
  texts: readonly (string | null)[],
  rests: readonly (string | null)[],
];

/** Reads that find documents in the near cache and fetch their texts from Redis, both at the same position. */
const redisReads = ({ steps: { refuse, refuseSpoilt, step }, cache, readWaitMs }: Needs) => {
  let applying: Promise<void> | undefined;

  const read = async (epoch: string, what: 'texts' | 'whole', fields: readonly string[]) => {
    const found = await step<Read | null>(scripts.read, [what, ...fields], readWaitMs);
    if (found?.[0] !== epoch) throw refuse('The read models are not there');
    const [, position, texts, rests] = found;
    return { position: Number(position), texts, rests };
  };

  /**
   * The state of the near cache. Throws if it is before `least`; the runner passes 0 and so may read an older state.
   */
  const stateAt = (least: number): State => {
    const state = cache.at();
    if (!state) throw refuse('The read models are not loaded');
    if (state.position < least) throw new NotReadable('The read models are being made anew');
    return state;
  };

  /** The result of `look` in the near cache, and the texts of its fields in Redis, both at one position. */
  const agreed = async <T>(
    least: number,
    look: () => { readonly found: T; readonly fields: readonly string[] },
  ): Promise<{ found: T; texts: readonly (string | null)[] }> => {
    const until = performance.now() + readWaitMs;
    for (;;) {
      while (applying) await applying;
      const state = stateAt(least);
      const { found, fields } = look();
      const { position, texts } = await read(state.epoch, 'texts', fields);
      if (position === state.position) return { found, texts };
      if (position < state.position || performance.now() > until) throw refuse('The read models are behind');
      if (!applying && cache.at() === state && !(await cache.follow())) throw refuse('The read models have moved on');
    }
  };

  return {
    stateAt,
    getMany: async (
      least: number,
      collection: string,
      ids: readonly string[],
    ): Promise<readonly (Entry | undefined)[]> => {
      cache.collections.of(collection);
      const state = stateAt(least);
      const { position, texts, rests } = await read(
        state.epoch,
        'whole',
        ids.map((id) => fieldOf(collection, id)),
      );
      if (position < state.position) throw refuse('The read models are behind');
      return texts.map((text, n) => {
        const rest = rests[n] ?? null;
        if ((text === null) !== (rest === null)) throw refuseSpoilt();
        return text === null || rest === null ? undefined : { ...(JSON.parse(rest) as Indexed), text };
      });
    },
    list: async (least: number, collection: string, query: Query): Promise<Page> => {
      await cache.collections.of(collection).prepare(query);
      const { found, texts } = await agreed(least, () => {
        const page = cache.collections.of(collection).page(query);
        return { found: page, fields: page.entries.map(({ id }) => fieldOf(collection, id)) };
      });
      const entries = found.entries.map(({ id, revision }, n) => {
        const text = texts[n] ?? null;
        if (text === null) throw refuseSpoilt();
        return { id, revision, text };
      });
      return { total: found.total, entries };
    },
    idsNamed: async (least: number, collection: string, name: string): Promise<readonly string[]> => {
      await cache.collections.of(collection).prepare();
      const { found } = await agreed(least, () => ({
        found: cache.collections.of(collection).named(name),
        fields: [],
      }));
      return found.map(({ id }) => id);
    },
    /** Makes reads of the near cache wait until the returned function is called. */
    holdBack: (): (() => void) => {
      let release = (): void => undefined;
      applying = new Promise((resolve) => {
        release = resolve;
      });
      return () => {
        applying = undefined;
        release();
      };
    },
  };
};
