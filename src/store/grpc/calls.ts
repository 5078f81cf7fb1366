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

/** What a caller sends, as it comes. Whoever stops listening can still answer. */
export async function* messagesOf<T>(
  call: ServerReadableStream<T, unknown> | ServerDuplexStream<T, unknown>,
): AsyncGenerator<T> {
  try {
    yield* call.iterator({ destroyOnReturn: false }) as AsyncIterable<T>;
  } catch (error) {
    throw (error as { code?: unknown }).code === 'ERR_STREAM_PREMATURE_CLOSE' ? cancelled() : error;
  }
}

/** A call that answers with many messages, for as long as `signal` lets it. */
export type Answering<T> = {
  /** Aborted when the caller is gone, the server stops, or `fail` was called; `reason` is the fault. */
  readonly signal: AbortSignal;
  /** Resolves when the caller keeps up; throws the reason when the call has ended. */
  send(message: T): Promise<void>;
  /** Ends the call with what was thrown. */
  fail(error: unknown): void;
  /** Checks again and again as long as the call goes on; ends it with what the check throws. */
  watch(check: () => Promise<void>): void;
};

// Whoever may no longer read hears nothing more after a second.
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

/** The calls under way that answer with many messages: each ends when its work does, and all end with the server. */
export const answeringCalls = (report: (error: unknown) => void) => {
  const underWay = new Set<(error: unknown) => void>();

  const answer = async <T>(
    call: ServerWritableStream<unknown, T> | ServerDuplexStream<unknown, T>,
    work: (answering: Answering<T>) => Promise<void>,
  ): Promise<void> => {
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
      await (draining = drained().finally(() => {
        draining = undefined;
      }));
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
    /** Ends all that are under way. */
    stop: (): void => {
      for (const fail of underWay) fail(new Fault(status.UNAVAILABLE, 'The server is stopping'));
    },
  };
};
