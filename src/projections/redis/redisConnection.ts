import { once } from 'node:events';
import { createClient } from 'redis';
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
   * Calls `heard` for each message on a channel, and each time the connection is made again. It uses a connection of
   * its own.
   */
  listen(channel: string, heard: () => void): void;
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

export const redisConnection = (url: string): RedisConnection => {
  let client = open(url);
  let listening: ReturnType<typeof open> | undefined;

  const send = (args: readonly string[], ms: number): Promise<unknown> => {
    const asked = client;
    return within(ms, asked.sendCommand(args), () => {
      // If the peer vanished silently, the connection would stay open for minutes. All commands that wait on it fail
      // now.
      asked.destroy();
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
    listen(channel, heard) {
      const ears = open(url);
      listening = ears;
      ears.on('ready', () => {
        ears.subscribe(channel, heard).catch(() => undefined);
        heard();
      });
    },
    close() {
      client.destroy();
      listening?.destroy();
    },
  };
};
