import {
  type Metadata,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerWritableStream,
  status,
} from '@grpc/grpc-js';
import { Fault, faultOf } from './faults.ts';

type Writable = {
  readonly metadata: Metadata;
  getPeer(): string;
  write(message: never): boolean;
  end(): unknown;
  emit(event: 'error', error: Error): boolean;
  on(event: 'cancelled', then: () => void): unknown;
  once(event: 'drain', then: () => void): unknown;
  off(event: 'drain', then: () => void): unknown;
};

const cancelled = (): Fault => new Fault(status.CANCELLED, 'The call was cancelled');

/** The messages of a caller as they arrive. The call can still answer when the loop over them has ended. */
export async function* messagesOf<T>(
  call: ServerReadableStream<T, unknown> | ServerDuplexStream<T, unknown>,
): AsyncGenerator<T> {
  try {
    yield* call.iterator({ destroyOnReturn: false }) as AsyncIterable<T>;
  } catch (error) {
    throw (error as { code?: unknown }).code === 'ERR_STREAM_PREMATURE_CLOSE' ? cancelled() : error;
  }
}

/** A call that answers with many messages until `signal` aborts. */
export type Answering<T> = {
  /** Aborts when the caller is gone, the server stops, or `fail` is called. `reason` is the fault. */
  readonly signal: AbortSignal;
  /** Sends a message. Resolves when the caller keeps up. Throws the reason when the call has ended. */
  send(message: T): Promise<void>;
  /** Ends the call with an error. */
  fail(error: unknown): void;
  /** Checks again and again while the call lasts. An error of the check ends the call. */
  watch(check: () => Promise<void>): void;
};

// The interval of the checks, in milliseconds. It must be so short that a caller who loses the right to read gets
// nothing more after a second.
const watchMs = 400;

const watchUntil = (signal: AbortSignal, check: () => Promise<void>, fail: (error: unknown) => void): void => {
  let checking = false;
  const timer = setInterval(() => {
    if (checking) return;
    checking = true;
    check()
      .catch(fail)
      .finally(() => {
        checking = false;
      });
  }, watchMs);
  signal.addEventListener('abort', () => clearInterval(timer));
};

/** Runs the calls that answer with many messages. Each call ends with its work, and all calls end with the server. */
export const answeringCalls = (report: (error: unknown) => void) => {
  const underWay = new Set<(error: unknown) => void>();

  const answer = async <T>(
    call: ServerWritableStream<unknown, T> | ServerDuplexStream<unknown, T>,
    work: (answering: Answering<T>) => Promise<void>,
  ): Promise<void> => {
    // grpc-js has no common type for the two kinds of calls.
    const stream = call as unknown as Writable;
    const life = new AbortController();
    const { signal } = life;
    const fail = (error: unknown): void => {
      if (signal.aborted) return;
      const fault = faultOf(error, report);
      life.abort(fault);
      stream.emit('error', fault);
    };
    const drained = (): Promise<void> =>
      new Promise((resolve) => {
        const done = (): void => {
          stream.off('drain', done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        stream.once('drain', done);
        signal.addEventListener('abort', done);
      });
    let draining: Promise<void> | undefined;
    const send = async (message: T): Promise<void> => {
      while (draining) await draining;
      signal.throwIfAborted();
      if (stream.write(message as never)) return;
      draining = drained().finally(() => {
        draining = undefined;
      });
      await draining;
      signal.throwIfAborted();
    };
    stream.on('cancelled', () => fail(cancelled()));
    underWay.add(fail);
    try {
      await work({ signal, send, fail, watch: (check) => watchUntil(signal, check, fail) });
      signal.throwIfAborted();
      stream.end();
    } catch (error) {
      fail(error);
    } finally {
      life.abort();
      underWay.delete(fail);
    }
  };

  return {
    answer,
    /** Ends all calls under way. */
    stop: (): void => {
      for (const fail of underWay) fail(new Fault(status.UNAVAILABLE, 'The server is stopping'));
    },
  };
};
