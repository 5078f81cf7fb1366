import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { DeadlineExceededError, EventStoreDBClient } from '@eventstore/db-client';
import { type BatchAppend, batchAppends, type BatchCalls } from './eventstoredbBatches.ts';
import { closed, finalError, Silence, unavailable } from './eventstoredbErrors.ts';
import { connectionString, redacted } from './eventstoredbUrl.ts';

/** A client, its way to append, and a signal that aborts when another has taken its place. */
export type Connection = { readonly client: EventStoreDBClient; readonly append: BatchAppend; readonly gone: AbortSignal };

/** Milliseconds: for one answer, for all tries together, between two looks at the head. */
export type Times = { readonly answer: number; readonly tries: number; readonly watch: number };

export const usualTimes: Times = { answer: 3000, tries: 7000, watch: 2000 };

// What the client keeps to itself and has no other way for.
type Inner = BatchCalls & {
  getChannel(): Promise<{ close(): void }>;
  handleError(...about: unknown[]): Promise<void>;
};

const ignore = (): void => undefined;

const clientOf = (url: string, generation: number): EventStoreDBClient => {
  const given = connectionString(url, generation);
  try { return EventStoreDBClient.connectionString(given); } catch (error) {
    // Where the client's message says what it expected, it quotes the URL before.
    const { expected, message } = error as { expected?: string; message: string };
    throw new Error(`${redacted(url)}: ${expected === undefined ? message : `expected ${expected}`}`);
  }
};

const connect = (url: string, generation: number) => {
  const client = clientOf(url, generation);
  const inner = client as unknown as Inner; // see there
  const { handleError } = inner;
  // Nobody waits for it: its failure would end the process.
  inner.handleError = (...about) => handleError(...about).catch(ignore);
  const retired = new AbortController();
  // One for each reader.
  setMaxListeners(0, retired.signal);
  const retire = (): void => {
    retired.abort();
    void client.dispose();
    inner.getChannel().then((channel) => channel.close(), ignore);
  };
  return { client, append: batchAppends(inner), gone: retired.signal, retire };
};

/** The result of some work if it comes in time, else `Silence`. */
export const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => { timer = setTimeout(() => reject(new Silence()), ms); });
  try { return await Promise.race([work, late]); } finally { clearTimeout(timer); }
};

/** The one connection to EventStoreDB at a time. */
export const connections = (url: string, times: Times) => {
  let generation = 0;
  let current = connect(url, generation);
  let up = false;
  let ended = false;

  const replace = (failed: Connection): void => {
    if (failed !== current || ended) return;
    current.retire();
    current = connect(url, ++generation);
  };
  /**
   * Takes note of a failure, unless it is an answer. A connection that has fallen silent is replaced; one that was refused,
   * the client mends itself.
   */
  const failed = (connection: Connection, error: unknown): void => {
    if (finalError(error)) return;
    if (connection === current) up = false;
    if (error instanceof Silence || error instanceof DeadlineExceededError) replace(connection);
  };

  return {
    times, replace, failed,
    current: (): Connection => {
      if (ended) throw closed();
      return current;
    },
    answered: (): void => { up = true; },
    down: (): void => { up = false; },
    up: () => up,
    /** Tries, each after a longer wait, until the time is over without progress. */
    tries: () => {
      let until = Date.now() + times.tries;
      let wait = 25;
      return {
        progress: (): void => { until = Date.now() + times.tries; wait = 25; },
        /** Waits before the next try, or throws what the caller is told. */
        next: async (connection: Connection, error: unknown): Promise<void> => {
          failed(connection, error);
          const final = finalError(error);
          if (final) throw final;
          if (ended) throw closed();
          if (Date.now() + wait > until) throw unavailable(error);
          await pause(wait * (0.5 + Math.random() / 2));
          wait = Math.min(2 * wait, 500);
        },
      };
    },
    close: (): void => {
      ended = true;
      up = false;
      current.retire();
    },
  };
};

export type Connections = ReturnType<typeof connections>;
