import { constants } from 'node:http2';
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
  write(message: never, callback: () => void): boolean;
  end(): unknown;
  emit(event: 'error', error: Error): boolean;
  on(event: 'cancelled', then: () => void): unknown;
  once(event: 'finish', then: () => void): unknown;
  /** The call below. grpc-js has no public way to break one off. */
  readonly call?: { readonly stream?: { readonly close?: (code: number) => void } };
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
  /**
   * Sends a message of about `bytes` bytes once there is room. False if the caller does not keep up: then nothing large
   * may be kept until there is room again. Throws the reason when the call has ended.
   */
  send(message: T, bytes?: number): Promise<boolean>;
  /** Resolves when the caller has taken so much that there is room for more. Throws the reason when the call has ended. */
  room(): Promise<void>;
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

// So much is under way to a caller at most, but for one message.
const mostBytes = 64 * 1024;
const mostMessages = 16;
// A caller that does not make room within this time does not keep up.
const keepUpMs = 250;
// How long a call that has failed may take until the caller has its end.
const partingMs = 2000;

const tooSlow = (): Fault =>
  new Fault(status.ABORTED, 'Consumer too slow: nothing of what was sent was taken. Subscribe again');

/** Sends messages as the caller takes them. Calls `tooSlow` if it takes nothing of what was sent for some time. */
const sending = <T>(stream: Writable, signal: AbortSignal, takingMs: number, fail: (error: unknown) => void) => {
  let messages = 0;
  let length = 0;
  let takenAt = 0;
  let waiting: (() => void)[] = [];

  const hasRoom = (): boolean => messages === 0 || (messages < mostMessages && length < mostBytes);
  const wake = (): void => {
    const woken = waiting;
    waiting = [];
    for (const go of woken) go();
  };
  const looking = setInterval(
    () => {
      if (messages > 0 && performance.now() - takenAt > takingMs) fail(tooSlow());
    },
    Math.min(1000, takingMs),
  ).unref();
  signal.addEventListener('abort', () => {
    clearInterval(looking);
    wake();
  });

  const change = (): Promise<void> =>
    new Promise((go) => {
      waiting.push(go);
    });
  const room = async (): Promise<void> => {
    while (!hasRoom() && !signal.aborted) await change();
    signal.throwIfAborted();
  };

  return {
    room,
    /** Resolves when the caller has taken everything. */
    taken: async (): Promise<void> => {
      while (messages > 0 && !signal.aborted) await change();
      signal.throwIfAborted();
    },
    send: async (message: T, bytes = 0): Promise<boolean> => {
      await room();
      if (messages++ === 0) takenAt = performance.now();
      length += bytes;
      stream.write(message as never, () => {
        takenAt = performance.now();
        messages--;
        length -= bytes;
        wake();
      });
      if (hasRoom()) return true;
      let late: NodeJS.Timeout | undefined;
      const patience = new Promise<boolean>((resolve) => {
        late = setTimeout(() => resolve(false), keepUpMs);
      });
      return Promise.race([room().then(() => true), patience]).finally(() => clearTimeout(late));
    },
  };
};

type Needs = {
  readonly report: (error: unknown) => void;
  /** For how long a caller may take nothing of what was sent, in milliseconds. */
  readonly takingMs: number;
};

/** Runs the calls that answer with many messages. Each call ends with its work, and all calls end with the server. */
export const answeringCalls = ({ report, takingMs }: Needs) => {
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
      // A caller that takes nothing does not take the end either.
      const parting = setTimeout(() => stream.call?.stream?.close?.(constants.NGHTTP2_CANCEL), partingMs).unref();
      stream.once('finish', () => clearTimeout(parting));
      stream.emit('error', fault);
    };
    const { send, room, taken } = sending<T>(stream, signal, takingMs, fail);
    stream.on('cancelled', () => fail(cancelled()));
    underWay.add(fail);
    try {
      await work({ signal, send, room, fail, watch: (check) => watchUntil(signal, check, fail) });
      await taken();
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
