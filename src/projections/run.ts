import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../domain/refusal.ts';
import { decode, type Recorded } from '../store/event.ts';
import type { EventStore } from '../store/port.ts';
import type { Projection } from './define.ts';
import type { ReadStore } from './port.ts';
import { projector } from './projector.ts';
import { resume } from './resume.ts';

type Needs = {
  readonly store: EventStore;
  readonly model: ReadStore;
  readonly projections: readonly Projection[];
  /** Told every event of the platform once its documents are readable; must not throw. */
  readonly onEvent?: (event: Recorded) => void;
  /** How many events are put into one batch while catching up. */
  readonly catchUp: number;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/** Feeds every event of the log, in order and once, to the projections and what comes of it to the read store: the only writer of read models. */
export const runProjections = ({ store, model, projections, onEvent, catchUp, log }: Needs) => {
  const documents = projector(projections, (collection, id) => model.get(collection, id), log);
  const waiting = new Set<{ readonly position: number; readonly wake: () => void }>();
  const stop = new AbortController();
  let position = 0;
  let ready = false;
  let fault: string | undefined;
  let lost = new AbortController();
  model.onLost(() => lost.abort());

  const move = (to: number): void => {
    position = to;
    for (const waiter of waiting) if (waiter.position <= to) waiter.wake();
  };

  const feed = async (): Promise<void> => {
    lost = new AbortController();
    move((await resume(store, model, documents, log)).position);
    const target = await store.head();
    ready = position >= target;
    let pending = 0;
    for await (const { events, position: to } of store.follow(position, undefined, AbortSignal.any([stop.signal, lost.signal]))) {
      await documents.take(events);
      pending += events.length;
      if (to < target && pending < catchUp) continue;
      pending = 0;
      if (!(await model.apply(documents.drain(), position, { position: to, event: events.at(-1)?.id ?? '' }))) throw new Refusal('unavailable', 'The read models are not where they were left');
      move(to);
      ready ||= to >= target;
      fault = undefined;
      if (onEvent && ready) for (const event of events) if (event.type.startsWith('@platform/')) onEvent(decode(event));
    }
  };

  const done = (async () => {
    for (let wait = 50; !stop.signal.aborted; wait = fault === undefined ? 50 : Math.min(wait * 2, 5000)) {
      try {
        await feed();
      } catch (error) {
        fault = error instanceof Error ? error.message : String(error);
        log('Projecting stopped; it will go on', { position, error });
      }
      if (!stop.signal.aborted) await pause(wait, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();

  return {
    position: (): number => position,
    /** Whether the read models have reached the head that the log had when following began. */
    ready: (): boolean => ready,
    /** Why projecting does not go on just now. */
    fault: (): string | undefined => fault,
    /** Documents whose projection threw, with the reason. */
    parked: documents.parked,
    /** Waits until the read models hold everything up to the position; `unavailable` after `ms`. */
    reached: (target: number, ms: number): Promise<void> => new Promise((resolve, reject) => {
      if (target <= position) return resolve();
      const waiter = { position: target, wake: () => { clearTimeout(timer); waiting.delete(waiter); resolve(); } };
      const timer = setTimeout(() => {
        waiting.delete(waiter);
        reject(new Refusal('unavailable', 'The read models are behind; try again', { retryAfterSeconds: 1, cause: fault }));
      }, ms);
      waiting.add(waiter);
    }),
    stop: (): Promise<void> => { stop.abort(); return done; },
  };
};

export type Projections = ReturnType<typeof runProjections>;
