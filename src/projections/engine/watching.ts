import type { EventStore } from '../../store/port.ts';
import { leaseMs, type ReadStore } from './port.ts';
import type { Progress } from './progress.ts';

type Needs = {
  readonly store: EventStore;
  readonly model: ReadStore;
  readonly progress: Progress;
  /** Takes the leadership if nobody has it. Resolves to true if this process leads. */
  readonly leads: () => Promise<boolean>;
};

export const renewEveryMs = leaseMs / 3;
const askEveryMs = leaseMs / 15;

/** The work of processes that do not lead: they take over the leader's changes, until one of them can become leader. */
export const watching = ({ store, model, progress, leads }: Needs) => {
  const { move, position, setReady } = progress;
  let moved = false;
  let wake = (): void => undefined;

  /** Resolves when another process may have written something. */
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
    /** Ends the wait, so that an aborted signal is seen at once. */
    wake: (): void => wake(),
    /** Ends the wait and looks at once, because another process may have written something. */
    onMoved: (): void => {
      moved = true;
      wake();
    },
    /** Runs until this process leads or the signal aborts. Calls `goesOn` at each step. */
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
