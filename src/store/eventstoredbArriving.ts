import type { Readable } from 'node:stream';
import { Silence } from './eventstoredbErrors.ts';

type Limits = {
  /** Aborts when the connection is given up: throws `Silence`. */
  readonly gone: AbortSignal;
  /** Aborts when the reader has enough: ends. */
  readonly stop?: AbortSignal;
  /** Milliseconds to wait for the next element, then `Silence`. */
  readonly patience?: number;
};

/**
 * What a stream of the client gives, as many elements at a time as have arrived. Whoever ends it, and however, the call
 * is cancelled; the client's own iteration leaves it open, and does not see that it was cancelled from elsewhere.
 */
export async function* arriving<T>(stream: Readable, cancel: () => Promise<void>, { gone, stop, patience }: Limits): AsyncGenerator<readonly T[]> {
  let failure: Error | undefined;
  let over = false;
  let wake = (): void => undefined;
  const woken = (): void => wake();
  const silent = (message?: string) => (): void => { failure ??= new Silence(message); wake(); };
  const given = silent('The connection was given up');
  stream.on('readable', woken);
  stream.on('end', () => { over = true; wake(); });
  // Stays on for good: an error that comes late must find a listener.
  stream.on('error', (error) => { failure ??= error; wake(); });
  gone.addEventListener('abort', given);
  stop?.addEventListener('abort', woken);
  try {
    while (!stop?.aborted) {
      if (gone.aborted) given();
      const elements: T[] = [];
      for (let element: unknown; !failure && (element = stream.read()) !== null; ) elements.push(element as T);
      if (elements.length > 0) {
        yield elements;
        continue;
      }
      if (failure) throw failure;
      if (over) return;
      const timer = patience === undefined ? undefined : setTimeout(silent(), patience);
      await new Promise<void>((resolve) => { wake = resolve; });
      clearTimeout(timer);
    }
  } finally {
    gone.removeEventListener('abort', given);
    stop?.removeEventListener('abort', woken);
    cancel().catch(() => undefined);
  }
}
