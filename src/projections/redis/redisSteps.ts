import { NotReadable, type RequestError } from '../../domain/engine/requestError.ts';
import { redisConnection } from './redisConnection.ts';
import type { Script } from './redisScripts.ts';

/** How long a step that writes or loads may take, in milliseconds. */
const stepMs = 10_000;

/** Runs scripts in Redis, and calls the listeners of `onLost` when one fails. */
export const redisSteps = (url: string, prefix: string) => {
  const redis = redisConnection(url);
  // The text in braces decides the slot. All keys share one slot, so that scripts may use them together on a Redis
  // Cluster.
  const keyOf = (name: string): string => `{${prefix}}:${name}`;
  const keys = ['meta', 'texts', 'index', 'notices', 'lease', 'fence'].map(keyOf);
  const listeners: (() => void)[] = [];
  let lost = false;
  // True if the content of Redis is wrong although its state is complete: somebody else has changed it.
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
    /** The error of a read. The first one since `found` calls the listeners of `onLost`. */
    refuse,
    refuseSpoilt: (): RequestError => {
      spoilt = true;
      return refuse('The read models are incomplete');
    },
    spoilt: (): boolean => spoilt,
    /** Notes that the wrong content of Redis is gone. */
    mended: (): void => {
      spoilt = false;
    },
    /** Notes that the state is there again. */
    found: (): void => {
      lost = false;
    },
    ready: (): Promise<void> => reached(redis.ready()),
    step: <T>(script: Script, args: readonly string[], ms = stepMs): Promise<T> =>
      reached(redis.run(script, keys, args, ms)),
    /** Some fields of the index, each followed by its rest. */
    scan: (cursor: string): Promise<readonly [cursor: string, fieldsAndRests: readonly string[]]> =>
      reached(redis.send(['HSCAN', keyOf('index'), cursor, 'COUNT', '1000'], stepMs)),
    onLost: (listener: () => void): void => void listeners.push(listener),
    onMoved: (listener: () => void): void => redis.listen(keyOf('notices'), listener),
    close: (): void => redis.close(),
  };
};

export type RedisSteps = ReturnType<typeof redisSteps>;
