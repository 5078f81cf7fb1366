/**
 * Does a work with a signal that aborts when the time is over, and as soon as one of the given signals aborts. A timer
 * holds the signal until the work has settled. Node may collect that of `AbortSignal.timeout` within `AbortSignal.any`
 * as garbage, and then the time is never over.
 */
export const withinTime = async <T>(
  ms: number,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(new DOMException('The time is over', 'TimeoutError')), ms);
  const stops = signals.map((signal) => {
    const abort = (): void => end.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
    return () => signal.removeEventListener('abort', abort);
  });
  try {
    return await work(end.signal);
  } finally {
    clearTimeout(timer);
    for (const stop of stops) stop();
  }
};
