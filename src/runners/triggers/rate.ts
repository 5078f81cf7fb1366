const windowSeconds = 60;

/**
 * Counts starts: at most `most` in any 60 seconds. It remembers them by the second, so it may let one wait up to a
 * second longer than it had to.
 */
export const rateLimit = (most: number, elapsed: () => number) => {
  const bySecond: { readonly second: number; count: number }[] = [];
  let total = 0;

  const second = (): number => Math.floor(elapsed() / 1000);
  const forget = (): void => {
    for (let [first] = bySecond; first && first.second < second() - windowSeconds; [first] = bySecond) {
      total -= first.count;
      bySecond.shift();
    }
  };

  return {
    /** Milliseconds until there may be a place; 0: there is one. */
    wait: (): number => {
      forget();
      const [first] = bySecond;
      return total < most || !first ? 0 : (first.second + windowSeconds + 1) * 1000 - elapsed();
    },
    count: (): void => {
      forget();
      const last = bySecond.at(-1);
      if (last?.second === second()) last.count++;
      else bySecond.push({ second: second(), count: 1 });
      total++;
    },
    idle: (): boolean => {
      forget();
      return total === 0;
    },
  };
};

export type RateLimit = ReturnType<typeof rateLimit>;

/** The rates of all triggers: the starts of each in a minute. */
export const rateLimits = (most: number, elapsed: () => number) => {
  const byTrigger = new Map<string, RateLimit>();
  return {
    of: (trigger: string): RateLimit => {
      const rate = byTrigger.get(trigger) ?? rateLimit(most, elapsed);
      byTrigger.set(trigger, rate);
      return rate;
    },
    /** Forgets triggers that have started nothing for a minute, but for these. */
    tidy: (busy: ReadonlyMap<string, unknown>): void => {
      for (const [trigger, rate] of byTrigger) if (rate.idle() && !busy.has(trigger)) byTrigger.delete(trigger);
    },
  };
};

export type RateLimits = ReturnType<typeof rateLimits>;
