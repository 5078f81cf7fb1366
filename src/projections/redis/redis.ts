import { createHash, randomUUID } from 'node:crypto';
import { NotReadable, type Refusal } from '../../domain/engine/refusal.ts';
import type { Indexed } from '../index/collectionIndex.ts';
import { checkStep } from '../index/collections.ts';
import { type Following, nearCopy, type State } from './nearCopy.ts';
import {
  type Checkpoint,
  type CollectionSpec,
  type Entry,
  leaseMs,
  type Page,
  type Query,
  type ReadStore,
} from '../engine/port.ts';
import { redisConnection } from './redisConnection.ts';
import * as scripts from './redisScripts.ts';
import { fieldOf, redisStep, restOf } from './redisStep.ts';

type Options = {
  /** `redis[s]://[[user]:password@]host[:port][/database]` */
  readonly url: string;
  /**
   * Tells these read models from others in the same Redis: other logs', and those of other versions of the projections.
   */
  readonly prefix: string;
  readonly collections: readonly CollectionSpec[];
  /** Longest that a read waits for Redis, and for the near copy to come to the same position. */
  readonly readWaitMs?: number;
  /** How many changes are remembered for others who follow; who is farther behind loads everything. */
  readonly notices?: number;
};

/** Longest that a step which writes or loads may take. */
const stepMs = 10_000;
const loadTries = 5;

/**
 * Read models in Redis: the documents there, and what finds them as a near copy in this process. A list is looked up in
 * the near copy; the round trip that fetches the texts proves that Redis is at the very same position.
 */
export const redisReadStore = ({
  url,
  prefix,
  collections,
  readWaitMs = 2000,
  notices = 10_000,
}: Options): ReadStore => {
  const redis = redisConnection(url);
  // What is in braces decides the slot: all keys share one, so that scripts may use them together on a Redis Cluster.
  const keys = ['meta', 'texts', 'index', 'notices', 'lease', 'fence'].map((key) => `{${prefix}}:${key}`);
  // Entries of other fields are of no use here, so their epochs begin otherwise.
  const shape = createHash('sha1').update(JSON.stringify(collections)).digest('hex').slice(0, 8);
  const newEpoch = (): string => `${shape}-${randomUUID()}`;
  const listeners: (() => void)[] = [];
  let applying: Promise<void> | undefined;
  let lost = false;
  // What Redis holds is wrong though its state says otherwise: somebody has been at it.
  let spoilt = false;
  // The farthest position that others have been told of.
  let shown = 0;
  let token = '';

  const refuse = (message: string, cause?: unknown): Refusal => {
    if (!lost) {
      lost = true;
      for (const listener of listeners) listener();
    }
    return new NotReadable(message, cause);
  };

  const refuseSpoilt = (): Refusal => {
    spoilt = true;
    return refuse('The read models are incomplete');
  };

  const reached = <T>(asked: Promise<unknown>): Promise<T> =>
    asked.catch((error: unknown) => {
      throw refuse('The read models cannot be reached', error);
    }) as Promise<T>;
  const step = <T>(script: scripts.Script, args: readonly string[], ms = stepMs): Promise<T> =>
    reached(redis.run(script, keys, args, ms));

  const copy = nearCopy(collections, {
    follow: (epoch, from) => step<Following | null>(scripts.follow, [epoch, String(from)]),
    scan: (cursor) => reached(redis.send(['HSCAN', keys[2]!, cursor, 'COUNT', '1000'], stepMs)),
  });

  type Begun = readonly [epoch: string, position: string, event: string];
  const stateOf = ([epoch, position, event]: Begun): State => ({ epoch, position: Number(position), event });

  type Read = readonly [
    epoch: string,
    position: string,
    texts: readonly (string | null)[],
    rests: readonly (string | null)[],
  ];
  const read = async (epoch: string, what: 'texts' | 'whole', fields: readonly string[]) => {
    const found = await step<Read | null>(scripts.read, [what, ...fields], readWaitMs);
    if (found?.[0] !== epoch) throw refuse('The read models are not there');
    const [, position, texts, rests] = found;
    return { position: Number(position), texts, rests };
  };

  /** The state of the near copy; it may be behind what was shown for the runner alone. */
  const stateAt = (least: number): State => {
    const state = copy.at();
    if (!state) throw refuse('The read models are not loaded');
    if (state.position < least) throw new NotReadable('The read models are being made anew');
    return state;
  };

  /** What `look` finds in the near copy, and the texts of its fields in Redis, both as of one position. */
  const agreed = async <T>(
    least: number,
    look: () => { readonly found: T; readonly fields: readonly string[] },
  ): Promise<{ found: T; texts: readonly string[] }> => {
    const until = Date.now() + readWaitMs;
    for (;;) {
      while (applying) await applying;
      const state = stateAt(least);
      const { found, fields } = look();
      const { position, texts } = await read(state.epoch, 'texts', fields);
      if (position === state.position) {
        if (texts.includes(null)) throw refuseSpoilt();
        return { found, texts: texts as readonly string[] };
      }
      if (position < state.position || Date.now() > until) throw refuse('The read models are behind');
      if (!applying && copy.at() === state && !(await copy.follow())) throw refuse('The read models have moved on');
    }
  };

  const getMany = async (
    least: number,
    collection: string,
    ids: readonly string[],
  ): Promise<readonly (Entry | undefined)[]> => {
    copy.collections.of(collection);
    const state = stateAt(least);
    const { position, texts, rests } = await read(
      state.epoch,
      'whole',
      ids.map((id) => fieldOf(collection, id)),
    );
    if (position < state.position) throw refuse('The read models are behind');
    return texts.map((text, n) => {
      const rest = rests[n]!;
      if ((text === null) !== (rest === null)) throw refuseSpoilt();
      return text === null || rest === null ? undefined : { ...(JSON.parse(rest) as Indexed), text };
    });
  };

  const list = async (least: number, collection: string, query: Query): Promise<Page> => {
    const { found, texts } = await agreed(least, () => {
      const page = copy.collections.of(collection).page(query);
      return { found: page, fields: page.entries.map(({ id }) => fieldOf(collection, id)) };
    });
    return {
      total: found.total,
      entries: found.entries.map(({ id, revision }, n) => ({ id, revision, text: texts[n]! })),
    };
  };

  const resume = async (): Promise<Checkpoint> => {
    await reached(redis.ready());
    for (let tries = 0; tries < loadTries; tries++) {
      const there = stateOf(
        await (spoilt ? step<Begun>(scripts.clear, [newEpoch()]) : step<Begun>(scripts.begin, [newEpoch(), shape])),
      );
      spoilt = false;
      if (await copy.follow()) {
        lost = false;
        const { position, event } = copy.at()!;
        return { position, event };
      }
      await copy.load(there);
    }
    throw refuse('The read models change faster than they can be loaded');
  };

  return {
    resume,
    async catchUp() {
      if (!(await copy.follow())) return resume();
      const { position, event } = copy.at()!;
      return { position, event };
    },
    async lead() {
      await reached(redis.ready());
      token = await step<string>(scripts.lead, [token, randomUUID(), String(leaseMs)], readWaitMs);
      return token !== '';
    },
    async resign() {
      if (token !== '') await step(scripts.resign, [token], readWaitMs);
      token = '';
    },
    async apply(changes, from, to) {
      const bare = changes.map(({ entry, ...change }) => ({ ...change, ...(entry && { entry: restOf(entry) }) }));
      checkStep(changes, from, to.position);
      copy.collections.check(bare);
      const state = copy.at();
      if (!state) return false;
      // What goes with a part is known from the near copy alone.
      if (state.position !== from && changes.some(({ wholePart }) => wholePart)) return false;
      let applied = (): void => undefined;
      applying = new Promise((resolve) => {
        applied = resolve;
      });
      try {
        const numbers = [from, to.position].map(String);
        const done = await step(scripts.apply, [
          token,
          state.epoch,
          ...numbers,
          to.event,
          String(notices),
          ...redisStep(changes, copy.collections),
        ]);
        if (done !== 1) return false;
        if (state.position === from) copy.advance(state, bare, to);
        return true;
      } finally {
        // Reads that waited go first: they find Redis at this position before the next step moves it.
        applying = undefined;
        applied();
      }
    },
    async clear() {
      await copy.load(stateOf(await step(scripts.clear, [newEpoch()])));
    },
    shown: (position) => {
      shown = Math.max(shown, position);
    },
    forRunner: {
      get: async (collection, id) => (await getMany(0, collection, [id]))[0],
      list: async (collection, query) => list(0, collection, query),
    },
    get: async (collection, id) => (await getMany(shown, collection, [id]))[0],
    getMany: async (collection, ids) => getMany(shown, collection, ids),
    async idsNamed(collection, name) {
      const { found } = await agreed(shown, () => ({ found: copy.collections.of(collection).named(name), fields: [] }));
      return found.map(({ id }) => id);
    },
    list: async (collection, query) => list(shown, collection, query),
    guard(collection, id) {
      stateAt(shown);
      const entry = copy.collections.of(collection).get(id);
      return entry && (entry.guard ?? null);
    },
    version: (collection) => copy.collections.of(collection).version(),
    onLost: (listener) => void listeners.push(listener),
    onMoved: (listener) => redis.listen(keys[3]!, listener),
    close: async () => redis.close(),
  };
};
