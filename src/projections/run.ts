import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Refusal } from '../domain/refusal.ts';
import { decode, type Recorded, splitStream } from '../store/event.ts';
import type { Batch, EventStore } from '../store/port.ts';
import { entryOf, project, type Projection } from './define.ts';
import type { Change, Checkpoint, ReadStore } from './port.ts';

type Needs = {
  readonly store: EventStore;
  readonly model: ReadStore;
  readonly projections: readonly Projection[];
  /** Told every event once its documents are readable; must not throw. */
  readonly onEvent?: (event: Recorded) => void;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/** Name of the collection that keeps why a document's projection threw: id is `<collection>/<id>`. */
export const parkedCollection = { name: 'parked', sorts: ['name'], filters: [] } as const;

type Held = { doc: unknown; revision: number };

/**
 * Feeds every event of the log, in order and once, to the projections, and the read store with what comes of it: the
 * only writer of read models. A document whose projection throws is parked with the reason; the others go on.
 */
export const runProjections = ({ store, model, projections, onEvent, log }: Needs) => {
  const byCategory = new Map(projections.map(({ of }) => [of.category, projections.filter((p) => p.of.category === of.category)]));
  const docs = new LRUCache<string, Held>({ max: 200_000 });
  const parked = new Map<string, string>();
  const waiting = new Set<{ readonly position: number; readonly wake: () => void }>();
  const stop = new AbortController();
  let position = 0;
  let ready = false;
  let fault: string | undefined;
  let lost = new AbortController();
  model.onLost(() => lost.abort());

  const held = async (collection: string, id: string): Promise<Held> => {
    const key = `${collection}/${id}`;
    const known = docs.get(key);
    if (known) return known;
    const entry = await model.get(collection, id);
    const held = entry ? { doc: JSON.parse(entry.text), revision: entry.revision } : { doc: undefined, revision: -1 };
    docs.set(key, held);
    return held;
  };

  const changesOf = async ({ events }: Batch): Promise<Change[]> => {
    const touched = new Map<string, { projection: Projection; id: string; held: Held }>();
    const changes: Change[] = [];
    for (const stored of events) {
      const { category, id } = splitStream(stored.stream);
      const concerned = byCategory.get(category);
      if (!concerned) continue;
      const event = decode(stored);
      for (const projection of concerned) {
        const key = `${projection.collection}/${id}`;
        const before = touched.get(key)?.held ?? (await held(projection.collection, id));
        if (parked.has(key)) continue;
        try {
          touched.set(key, { projection, id, held: { doc: project(projection, before.doc, event), revision: event.revision } });
        } catch (error) {
          const reason = `${event.source}:${event.topic} at position ${event.position}: ${String(error)}`;
          log('A projection threw; its document is parked', { document: key, position: event.position, error });
          parked.set(key, reason);
          changes.push({ collection: parkedCollection.name, id: key, entry: { id: key, text: JSON.stringify({ document: key, reason }), revision: 0, sorts: { name: key }, filters: {} } });
        }
      }
    }
    for (const [key, { projection, id, held: { doc, revision } }] of touched) {
      docs.set(key, { doc, revision });
      changes.push({ collection: projection.collection, id, ...(doc !== undefined && { entry: entryOf(projection, id, doc, revision) }) });
    }
    return changes;
  };

  /** Where to go on from: what the read store holds, if the log still has that very event there, else the beginning. */
  const resume = async (): Promise<number> => {
    docs.clear();
    parked.clear();
    const checkpoint = await model.resume();
    const there = checkpoint.position === 0 || (await store.at(checkpoint.position))?.id === checkpoint.event;
    if (!there) {
      log('The read models do not belong to this log; they are built anew', { position: checkpoint.position });
      await model.clear();
      return 0;
    }
    const { entries } = await model.list(parkedCollection.name, { sort: 'name', order: 1, skip: 0, limit: 1000 });
    for (const { id, text } of entries) parked.set(id, (JSON.parse(text) as { reason: string }).reason);
    return checkpoint.position;
  };

  const move = (to: number): void => {
    position = to;
    for (const waiter of waiting) if (waiter.position <= to) waiter.wake();
  };

  const feed = async (): Promise<void> => {
    ready = false;
    lost = new AbortController();
    position = await resume();
    move(position);
    const target = await store.head();
    ready = position >= target;
    for await (const batch of store.follow(position, undefined, AbortSignal.any([stop.signal, lost.signal]))) {
      const to: Checkpoint = { position: batch.position, event: batch.events.at(-1)?.id ?? '' };
      if (!(await model.apply(await changesOf(batch), position, to))) throw new Refusal('unavailable', 'The read models are not where they were left');
      move(batch.position);
      ready ||= position >= target;
      fault = undefined;
      if (onEvent) for (const event of batch.events) if (event.type.startsWith('@platform/')) onEvent(decode(event));
    }
  };

  const done = (async () => {
    for (let wait = 50; !stop.signal.aborted; wait = Math.min(wait * 2, 5000)) {
      try {
        await feed();
        if (!stop.signal.aborted) wait = 50;
      } catch (error) {
        fault = error instanceof Error ? error.message : String(error);
        log('Projecting stopped; it will go on', { position, error });
      }
      if (!stop.signal.aborted) await pause(wait, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();

  return {
    position: (): number => position,
    /** False until the read models have once reached the head that the log had at the start. */
    ready: (): boolean => ready,
    /** Why projecting does not go on just now. */
    fault: (): string | undefined => fault,
    /** Documents whose projection threw, with the reason. */
    parked: (): ReadonlyMap<string, string> => parked,
    /** Waits until the read models hold everything up to the position; `unavailable` after `ms`. */
    reached: (target: number, ms: number): Promise<void> => {
      if (target <= position) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const waiter = { position: target, wake: () => { clearTimeout(timer); waiting.delete(waiter); resolve(); } };
        const timer = setTimeout(() => {
          waiting.delete(waiter);
          reject(new Refusal('unavailable', 'The read models are behind; try again', { retryAfterSeconds: 1, ...(fault !== undefined && { cause: fault }) }));
        }, ms);
        waiting.add(waiter);
      });
    },
    stop: (): Promise<void> => { stop.abort(); return done; },
  };
};

export type Projections = ReturnType<typeof runProjections>;
