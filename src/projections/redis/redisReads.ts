import { NotReadable } from '../../domain/engine/requestError.ts';
import type { Entry, Page, Query } from '../engine/port.ts';
import type { Indexed } from '../index/collectionIndex.ts';
import type { NearCache, State } from './nearCache.ts';
import { fieldOf, type RedisSteps } from './redisConnection.ts';
import * as scripts from './redisScripts.ts';

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
export const redisReads = ({ steps: { refuse, refuseSpoilt, step }, cache, readWaitMs }: Needs) => {
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
