/** Keys and descriptions are read anew after this time, and used no longer than six such times. */
const freshMs = 10 * 60_000;
const longestMs = 6 * freshMs;
const retryMs = 10_000;
const unknownKeyMs = 60_000;

/**
 * Keeps what an issuer publishes. It is read anew in the background, so that nobody waits while the issuer is silent.
 * `now`: milliseconds by a clock that never jumps.
 */
export const keptReading = <T>(read: () => Promise<T>, now: () => number) => {
  let last: { readonly value: T; readonly since: number } | undefined;
  let triedAt = -Infinity;
  let renewedAt = -Infinity;
  let underWay: Promise<T> | undefined;

  const readNow = (): Promise<T> => {
    triedAt = now();
    underWay ??= read()
      .then((value) => {
        last = { value, since: now() };
        return value;
      })
      .finally(() => {
        underWay = undefined;
      });
    return underWay;
  };

  return {
    get: async (): Promise<T> => {
      const age = last ? now() - last.since : Infinity;
      if (!last || age > longestMs) return readNow();
      if (age > freshMs && now() - triedAt > retryMs) readNow().catch(() => undefined);
      return last.value;
    },
    /** Reads anew because something is missing in it; once a minute at most. */
    renew: async (): Promise<T | undefined> => {
      if (now() - renewedAt < unknownKeyMs) return undefined;
      renewedAt = now();
      return readNow();
    },
  };
};
