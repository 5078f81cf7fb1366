import type { EventStore } from '../../store/port.ts';
import { leaseMs, type ReadStore } from './port.ts';
import type { Progress } from './progress.ts';

type Needs = {
  readonly store: Pick<EventStore, 'head'>;
  readonly model: ReadStore;
  readonly progress: Progress;
  /** Takes the leadership if nobody has it: whether this process has it. */
  readonly leads: () => Promise<boolean>;
};

export const renewEveryMs = leaseMs / 3;
const askEveryMs = leaseMs / 15;

/** What the other processes do: take over what the one that leads writes, until one of them can take its place. */
export const watching = ({ store, model, progress, leads }: Needs) => {
  const { move, position, setReady } = progress;
  let moved = false;
  let wake = (): void => undefined;

  /** Until the other process may have written something. */
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      if (moved) return resolve();
      const timer = setTimeout(() => wake(), renewEveryMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  return {
    /** Looks at once, for the signal's sake. */
    wake: (): void => wake(),
    /** Looks at once, for what another process may have written. */
    onMoved: (): void => {
      moved = true;
      wake();
    },
    /** Until this process leads, or the signal aborts; `goesOn` is told of each step. */
    watch: async (signal: AbortSignal, goesOn: () => void): Promise<void> => {
      move((await model.resume()).position);
      const target = await store.head();
      for (let asked = performance.now(); !signal.aborted; ) {
        moved = false;
        move((await model.catchUp()).position);
        setReady(position() >= target);
        goesOn();
        if (performance.now() - asked > askEveryMs) {
          if (await leads()) return;
          asked = performance.now();
        }
        await next();
      }
    },
  };
};
