import type { Answer } from './eventstoredbAnswer.ts';
import type { Call, Connection } from './eventstoredbConnection.ts';
import { Silence, TryAgain, toError } from './eventstoredbErrors.ts';
import { unheard } from './eventstoredbPatience.ts';

type Limits = {
  /** The purpose of the call, in the words of an error. */
  readonly what: string;
  /** Aborts when the reader has enough: then the call ends. */
  readonly stop?: AbortSignal;
  /** Gets the function that puts an answer behind those that have arrived. */
  readonly inserted?: { put?: (answer: Answer) => void };
  /** The most bytes that wait for the reader. Beyond them nothing is read. */
  readonly bytes: number;
  /**
   * Milliseconds without an answer: after `suspect`, each time, the connection is suspected; after `late` the call is
   * given up.
   */
  readonly patience?: { readonly suspect: number; readonly late: number };
};

const sizeOf = ({ event }: Answer): number => 200 + (event ? event.data.length + event.metadata.length : 0);

/**
 * The answers of a call, as many at a time as have arrived. They are taken off the wire at once, also while the reader
 * works: EventStoreDB ends subscriptions that do not keep up. In the end the call is cancelled in any case.
 */
export async function* arriving(
  connection: Connection,
  open: () => Promise<Call>,
  { what, stop, inserted, bytes, patience }: Limits,
): AsyncGenerator<readonly Answer[]> {
  const { gone } = connection;
  let waiting: Answer[] = [];
  let size = 0;
  let failure: Error | undefined;
  let over = false;
  let left = false;
  let call: Call | undefined;
  let wake = (): void => undefined;
  const woken = (): void => wake();
  const failed = (error: Error): void => {
    failure ??= error;
    wake();
  };
  const given = (): void => failed(new Silence());
  const cancel = (): void => {
    left = true;
    call?.cancel();
  };
  const taken = (answer: Answer): void => {
    waiting.push(answer);
    size += sizeOf(answer);
    if (size > bytes) call?.pause();
    wake();
  };
  if (inserted) inserted.put = taken;
  open().then((opened) => {
    call = opened;
    // The listeners stay: a late error must find one.
    opened
      .on('data', (answer: Answer) => {
        connection.heard();
        taken(answer);
      })
      .on('end', () => {
        over = true;
        wake();
      })
      .on('error', (error) => failed(toError(error, what)));
    if (left) opened.cancel();
  }, failed);
  gone.addEventListener('abort', given);
  stop?.addEventListener('abort', woken);
  try {
    while (!stop?.aborted) {
      if (gone.aborted) given();
      if (waiting.length > 0) {
        const answers = waiting;
        waiting = [];
        size = 0;
        call?.resume();
        yield answers;
        continue;
      }
      if (failure) throw failure;
      if (over) return;
      const suspicion = patience && setInterval(() => connection.suspect(), patience.suspect);
      const heard = patience && unheard(patience.late, () => failed(new TryAgain()));
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      clearInterval(suspicion);
      heard?.();
    }
  } finally {
    gone.removeEventListener('abort', given);
    stop?.removeEventListener('abort', woken);
    cancel();
  }
}
