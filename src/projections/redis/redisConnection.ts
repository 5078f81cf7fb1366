import { once } from 'node:events';
import { createClient } from 'redis';
import { NotReadable, type RequestError } from '../../domain/engine/requestError.ts';
import type { Change, Entry } from '../engine/port.ts';
import type { Indexed } from '../index/collectionIndex.ts';
import type { Collections } from '../index/collections.ts';
import type { Script } from './redisScripts.ts';

/**
 * One connection to Redis. A call rejects if Redis cannot answer it now, or not within `ms` milliseconds. The
 * connection is made again by itself.
 */
export type RedisConnection = {
  /** Resolves once connected. Rejects when an attempt fails. */
  ready(): Promise<void>;
  send(args: readonly string[], ms: number): Promise<unknown>;
  run(script: Script, keys: readonly string[], args: readonly string[], ms: number): Promise<unknown>;
  /**
   * Calls `onMessage` for each message on a channel, and each time the connection is made again. It uses a connection of
   * its own.
   */
  listen(channel: string, onMessage: () => void): void;
  close(): void;
};

const connectMs = 5000;
const longestPauseMs = 1000;

const open = (url: string) => {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    // The client's own limit ends when a command is sent, and costs an AbortSignal for each command.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: connectMs, reconnectStrategy: (tries) => Math.min(25 * 2 ** tries, longestPauseMs) },
  });
  // Errors are ignored here, because each command rejects with its reason.
  client.on('error', () => undefined);
  client.connect().catch(() => undefined);
  return client;
};

/**
 * The promise's outcome. After `ms` milliseconds it calls `late` and rejects. A reply that waits unread behind a busy
 * event loop counts as in time.
 */
const within = <T>(ms: number, promise: Promise<T>, late: () => void): Promise<T> =>
  new Promise((resolve, reject) => {
    let waiting = true;
    const expire = () => {
      if (!waiting) return;
      reject(new Error(`No answer from Redis within ${ms} ms`));
      late();
    };
    const timer = setTimeout(() => setImmediate(expire), ms);
    promise.then(resolve, reject).finally(() => {
      waiting = false;
      clearTimeout(timer);
    });
  });

const redisConnection = (url: string): RedisConnection => {
  let client = open(url);
  let listening: ReturnType<typeof open> | undefined;

  const send = (args: readonly string[], ms: number): Promise<unknown> => {
    const currentClient = client;
    return within(ms, currentClient.sendCommand(args), () => {
      // If the peer vanished silently, the connection would stay open for minutes. All commands that wait on it fail
      // now.
      currentClient.destroy();
      client = open(url);
    });
  };

  return {
    send,
    async ready() {
      if (!client.isReady) await within(connectMs, once(client, 'ready'), () => undefined);
    },
    async run({ text, sha }, keys, args, ms) {
      const rest = [String(keys.length), ...keys, ...args];
      try {
        return await send(['EVALSHA', sha, ...rest], ms);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return send(['EVAL', text, ...rest], ms);
      }
    },
    listen(channel, onMessage) {
      const ears = open(url);
      listening = ears;
      ears.on('ready', () => {
        ears.subscribe(channel, onMessage).catch(() => undefined);
        onMessage();
      });
    },
    close() {
      client.destroy();
      listening?.destroy();
    },
  };
};

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
  // True if the content of Redis is wrong although its state is complete: another program has changed it.
  let spoilt = false;

  const refuse = (message: string, cause?: unknown): RequestError => {
    if (!lost) {
      lost = true;
      for (const listener of listeners) listener();
    }
    return new NotReadable(message, cause);
  };

  const ifReachable = <T>(answer: Promise<unknown>): Promise<T> =>
    answer.catch((error: unknown) => {
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
    ready: (): Promise<void> => ifReachable(redis.ready()),
    step: <T>(script: Script, args: readonly string[], ms = stepMs): Promise<T> =>
      ifReachable(redis.run(script, keys, args, ms)),
    /** Some fields of the index, each followed by its rest. */
    scan: (cursor: string): Promise<readonly [cursor: string, fieldsAndRests: readonly string[]]> =>
      ifReachable(redis.send(['HSCAN', keyOf('index'), cursor, 'COUNT', '1000'], stepMs)),
    onLost: (listener: () => void): void => void listeners.push(listener),
    onMoved: (listener: () => void): void => redis.listen(keyOf('notices'), listener),
    close: (): void => redis.close(),
  };
};

export type RedisSteps = ReturnType<typeof redisSteps>;

/** The field of a document or a part in the hashes of Redis. */
export const fieldOf = (collection: string, id: string): string => `${collection}/${id}`;

/** The rest of an entry, which the index keeps: all but the text. */
export const restOf = ({ text: _, ...rest }: Entry): Indexed => rest;

/**
 * The changes as arguments of the script `apply`, from its counts on. Of several changes of a document only the last
 * counts, and a part is removed before documents are written to it again. `there` is the content of Redis.
 */
export const redisStep = (changes: readonly Change[], there: Collections<Indexed>): readonly string[] => {
  const parts = new Map<string, readonly string[]>();
  const latest = new Map<string, Entry | undefined>();
  for (const { collection, id, entry, wholePart } of changes) {
    const field = fieldOf(collection, id);
    if (!wholePart) latest.set(field, entry);
    else {
      for (const earlier of latest.keys()) if (earlier.startsWith(`${field}/`)) latest.delete(earlier);
      parts.set(
        field,
        Array.from(there.of(collection).all(id), (deleted) => fieldOf(collection, deleted.id)),
      );
    }
  }
  const written = [...latest].flatMap(([field, entry]) =>
    entry ? [field, entry.text, JSON.stringify(restOf(entry))] : [],
  );
  const removed = [...latest].flatMap(([field, entry]) => (entry ? [] : [field]));
  return [
    ...[written.length / 3, removed.length, parts.size].map(String),
    ...written,
    ...removed,
    ...parts.keys(),
    ...[...parts.values()].flat(),
  ];
};

/** Documents to write and to remove, as arguments of the script `mend`, from its count on. */
export const mendingStep = (changes: readonly Change[]): readonly string[] => {
  const written = changes.flatMap(({ collection, id, entry }) =>
    entry ? [fieldOf(collection, id), entry.text, JSON.stringify(restOf(entry))] : [],
  );
  const removed = changes.flatMap(({ collection, id, entry }) => (entry ? [] : [fieldOf(collection, id)]));
  return [String(written.length / 3), ...written, ...removed];
};
