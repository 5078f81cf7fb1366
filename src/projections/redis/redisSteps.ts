import { NotReadable, type RequestError } from '../../domain/engine/requestError.ts';
import { redisConnection } from './redisConnection.ts';
import type { Script } from './redisScripts.ts';

/** Longest that a step which writes or loads may take. */
const stepMs = 10_000;

/** The steps that are done in Redis, and what is told of when one of them fails. */
export const redisSteps = (url: string, prefix: string) => {
  const redis = redisConnection(url);
  // What is in braces decides the slot: all keys share one, so that scripts may use them together on a Redis Cluster.
  const keyOf = (name: string): string => `{${prefix}}:${name}`;
  const keys = ['meta', 'texts', 'index', 'notices', 'lease', 'fence'].map(keyOf);
  const listeners: (() => void)[] = [];
  let lost = false;
  // What Redis holds is wrong though its state says otherwise: somebody has been at it.
  let spoilt = false;

  const refuse = (message: string, cause?: unknown): RequestError => {
    if (!lost) {
      lost = true;
      for (const listener of listeners) listener();
    }
    return new NotReadable(message, cause);
  };

  const reached = <T>(asked: Promise<unknown>): Promise<T> =>
    asked.catch((error: unknown) => {
      throw refuse('The read models cannot be reached', error);
    }) as Promise<T>;

  return {
    /** The refusal of a read; the first tells that the state is lost. */
    refuse,
    refuseSpoilt: (): RequestError => {
      spoilt = true;
      return refuse('The read models are incomplete');
    },
    spoilt: (): boolean => spoilt,
    /** What was wrong in Redis is gone. */
    mended: (): void => {
      spoilt = false;
    },
    /** The state is there again. */
    found: (): void => {
      lost = false;
    },
    ready: (): Promise<void> => reached(redis.ready()),
    step: <T>(script: Script, args: readonly string[], ms = stepMs): Promise<T> =>
      reached(redis.run(script, keys, args, ms)),
    /** Some of the fields of the index, each followed by its rest. */
    scan: (cursor: string): Promise<readonly [cursor: string, fieldsAndRests: readonly string[]]> =>
      reached(redis.send(['HSCAN', keyOf('index'), cursor, 'COUNT', '1000'], stepMs)),
    onLost: (listener: () => void): void => void listeners.push(listener),
    onMoved: (listener: () => void): void => redis.listen(keyOf('notices'), listener),
    close: (): void => redis.close(),
  };
};

export type RedisSteps = ReturnType<typeof redisSteps>;
