import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Answer } from './answer.ts';
import type { Call, Connection } from './connection.ts';
import { Silence, TryAgain, toError } from './errors.ts';
import { unheard } from './patience.ts';

type Limits = {
  /** The action of the call for error messages, such as `read $all`. */
  readonly what: string;
  /** Aborts when the reader needs no more answers. Then the call ends. */
  readonly stop?: AbortSignal;
  /** The most bytes that wait for the reader. Beyond this limit the call is paused. */
  readonly bytes: number;
  /**
   * Limits for a wait without an answer, in milliseconds. Every `suspect` milliseconds the connection is checked. After
   * `late` milliseconds the call fails.
   */
  readonly patience?: { readonly suspect: number; readonly late: number };
};

const sizeOf = ({ event }: Answer): number => 200 + (event ? event.data.length + event.metadata.length : 0);

/**
 * Yields the answers of a call, each time all that have arrived. Answers are received also while the reader works,
 * because EventStoreDB ends subscriptions that do not keep up. In the end the call is cancelled in any case.
 */
export async function* arriving(
  connection: Connection,
  open: () => Promise<Call>,
  { what, stop, bytes, patience }: Limits,
): AsyncGenerator<readonly Answer[]> {
  const { gone } = connection;
  let waiting: Answer[] = [];
  let size = 0;
  let failure: Error | undefined;
  let over = false;
  let hasLeft = false;
  let call: Call | undefined;
  let wake = (): void => undefined;
  const woken = (): void => wake();
  const failed = (error: Error): void => {
    failure ??= error;
    wake();
  };
  const onSilence = (): void => failed(new Silence());
  const cancel = (): void => {
    hasLeft = true;
    call?.cancel();
  };
  const onAnswer = (answer: Answer): void => {
    waiting.push(answer);
    size += sizeOf(answer);
    if (size > bytes) call?.pause();
    wake();
  };
  open().then((opened) => {
    call = opened;
    // The listeners are never removed: a late error without a listener would end the process.
    opened
      .on('data', (answer: Answer) => {
        connection.heard();
        onAnswer(answer);
      })
      .on('end', () => {
        over = true;
        wake();
      })
      .on('error', (error) => failed(toError(error, what)));
    if (hasLeft) opened.cancel();
  }, failed);
  gone.addEventListener('abort', onSilence);
  stop?.addEventListener('abort', woken);
  try {
    while (!stop?.aborted) {
      if (gone.aborted) onSilence();
      if (waiting.length > 0) {
        // Answers that come together arrive one by one. To hand on each alone would cost the readers much more than the
        // answers do, and nothing else would be done meanwhile.
        await nextTurn();
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
      const noteAnswer = patience && unheard(patience.late, () => failed(new TryAgain()));
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      clearInterval(suspicion);
      noteAnswer?.();
    }
  } finally {
    gone.removeEventListener('abort', onSilence);
    stop?.removeEventListener('abort', woken);
    cancel();
  }
}
