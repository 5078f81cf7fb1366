import type { Log } from '../../concurrency/log.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { EventStore } from '../../store/port.ts';
import type { ReadStore } from './port.ts';
import type { Progress } from './progress.ts';
import type { Projector } from './projector.ts';
import { checkpointAt, resume } from './resume.ts';

type Needs = {
  readonly store: EventStore;
  readonly model: ReadStore;
  readonly documents: Projector;
  readonly progress: Progress;
  /** How many events one batch has while catching up. */
  readonly catchUp: number;
  readonly log: Log;
};

/** The work of the leader: it follows the log and writes the resulting changes to the read store. */
export const projecting = ({ store, model, documents, progress, catchUp, log }: Needs) => {
  const { move, position, ready, setReady } = progress;
  let taken = 0;

  return {
    /** How many events this process has projected since its start. */
    taken: (): number => taken,
    /** Runs until the signal aborts. Calls `goesOn` at each step. */
    project: async (signal: AbortSignal, goesOn: () => void): Promise<void> => {
      const before = position();
      move((await resume(store, model, documents, log)).position);
      const target = await store.head();
      // What was ready stays so, unless the read store has started over.
      setReady((ready() && position() >= before) || position() >= target);
      if (ready()) goesOn();
      let pending = 0;
      for await (const { events, position: to } of store.follow(position(), undefined, signal)) {
        await documents.take(events);
        pending += events.length;
        taken += events.length;
        if (to < target && pending < catchUp && !documents.isFull()) continue;
        pending = 0;
        if (!(await model.apply(documents.drain(), position(), checkpointAt(to, events))))
          throw new RequestError('unavailable', 'The read models are not where they were left');
        move(to);
        if (!ready()) setReady(to >= target);
        goesOn();
      }
    },
  };
};
