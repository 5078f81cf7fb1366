import { RequestError } from '../../domain/engine/requestError.ts';

type Waiting = {
  readonly position: number;
  readonly done: () => void;
  readonly fail: (error: RequestError) => void;
  readonly again: () => void;
};

type Needs = {
  readonly patienceMs: number;
  /** Whether the patience begins anew whenever the index has grown. */
  readonly whileItGrows: boolean;
};

export const unavailable = (message: string): RequestError =>
  new RequestError('unavailable', message, { retryAfterSeconds: 2 });

/** Those who wait until the index has come to a position. */
export const waitingForIndex = ({ patienceMs, whileItGrows }: Needs) => {
  const waiting = new Set<Waiting>();
  return {
    /** Resolves once the index has come that far. Throws `unavailable` if that takes long. */
    upTo: (position: number): Promise<void> =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void): void => {
          clearTimeout(timer);
          waiting.delete(one);
          settle();
        };
        const one: Waiting = {
          position,
          done: () => end(resolve),
          fail: (error) => end(() => reject(error)),
          again: () => void timer.refresh(),
        };
        const timer = setTimeout(() => one.fail(unavailable('The audit index is being made; try again')), patienceMs);
        waiting.add(one);
      }),
    /** Call when the index has come to a position. */
    reached: (position: number): void => {
      for (const one of [...waiting])
        if (one.position <= position) one.done();
        else if (whileItGrows) one.again();
    },
    /** Lets all fail. */
    fail: (message: string): void => {
      for (const one of [...waiting]) one.fail(unavailable(message));
    },
  };
};
