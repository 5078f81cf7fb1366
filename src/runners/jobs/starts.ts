/** How many jobs may begin in a window of time; 0: any number. */
export type StartLimit = { readonly most: number; readonly windowMs: number };

type Needs = {
  /** The limit as of now. It may change at any time. */
  readonly limit: () => StartLimit;
  /** Milliseconds from any beginning. */
  readonly now: () => number;
  /** Called when a new window begins in which those that were refused may begin. */
  readonly opened: () => void;
};

const longestTimer = 2 ** 31 - 1;

/** Counts the jobs that begin on this node, in fixed windows of time: those that workers claim, and those that run here. */
export const starts = ({ limit, now, opened }: Needs) => {
  let window = 0;
  let windowMs = 0;
  let startCount = 0;
  let timer: NodeJS.Timeout | undefined;

  const wakeLater = (): void => {
    const remainingMs = Math.ceil((window + 1) * windowMs - now());
    timer ??= setTimeout(
      () => {
        timer = undefined;
        opened();
      },
      Math.min(Math.max(1, remainingMs), longestTimer),
    ).unref();
  };

  const sleepNoMore = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };

  return {
    /** Counts one job that begins. False: none may begin in this window any more. */
    take: (): boolean => {
      const { most, windowMs: length } = limit();
      const current = Math.floor(now() / length);
      if (current !== window || length !== windowMs) {
        window = current;
        windowMs = length;
        startCount = 0;
      }
      if (most > 0 && startCount >= most) {
        wakeLater();
        return false;
      }
      startCount++;
      return true;
    },
    /** A job that was counted did not begin after all: one that was refused meanwhile may begin in its place. */
    giveBack: (): void => {
      startCount = Math.max(0, startCount - 1);
      if (timer === undefined) return;
      sleepNoMore();
      opened();
    },
    /** The limit has changed. */
    changed: (): void => {
      sleepNoMore();
      opened();
    },
    stop: sleepNoMore,
  };
};

export type Starts = ReturnType<typeof starts>;
