import { LRUCache } from 'lru-cache';
import { same } from '../domain/changes.ts';
import { type Aggregate, fold } from '../domain/core.ts';
import { project, type Projection } from '../projections/define.ts';
import { decode, splitStream, type Recorded } from '../store/event.ts';
import type { EventStore } from '../store/port.ts';

/** A stream as far as it has been read: what a decision starts from. */
export type Loaded = {
  readonly state: any; // its shape is the aggregate's affair
  /** The document that the resource's projection gives. */
  readonly doc: unknown;
  /** -1: the stream does not exist. */
  readonly revision: number;
  readonly position: number;
  /** Of the last event; '' when there is none. */
  readonly hash: string;
  /** Of the event that made what the stream promises now; -1: nothing was ever promised. */
  readonly promisedAt: number;
  /** Grows in place, by what is stored only. */
  readonly keys: Map<string, KeyUse>;
};

/** What an Idempotency-Key stands for in a stream: the keyed digest of its request and the events it stored. */
export type KeyUse = { readonly request: string; readonly first: number; readonly last: number; readonly at: string };

const keptHours = 24;

/** Reads streams into states and documents, and keeps the last ones used: a stale one is mended by `refresh`. */
export const streams = (store: EventStore, aggregates: readonly Aggregate[], projections: readonly Projection[], maxBytes = 64 * 1024 * 1024) => {
  const byCategory = new Map(aggregates.map((a) => [a.category, { aggregate: a, projection: projections.find((p) => p.of === a) }]));
  const kept = new LRUCache<string, Loaded & { size: number }>({ maxSize: maxBytes, sizeCalculation: ({ size }) => size });

  const kindOf = (stream: string) => {
    const kind = byCategory.get(splitStream(stream).category);
    if (!kind) throw new Error(`No aggregate has the category of stream ${stream}`);
    return kind;
  };

  /** What the loaded stream becomes with further events of its own, once they are stored. */
  const extend = (stream: string, loaded: Loaded, events: readonly Recorded[]): Loaded => {
    if (events.length === 0) return loaded;
    const { aggregate, projection } = kindOf(stream);
    const last = events.at(-1)!;
    return {
      state: fold(aggregate, events.map(({ topic, data }) => ({ type: topic, data })), loaded.state),
      doc: projection ? events.reduce((doc, event) => project(projection, doc, event), loaded.doc) : undefined,
      revision: last.revision,
      position: last.position,
      hash: last.metadata.hash,
      promisedAt: promisedAt(aggregate, loaded, events),
      keys: loaded.keys,
    };
  };

  /** The stream as extended by events that are stored now. */
  const keep = (stream: string, loaded: Loaded, events: readonly Recorded[], bytes: number): Loaded => {
    remember(loaded.keys, events);
    // To read a long stream anew for every command would cost more than the memory it is not counted for.
    kept.set(stream, { ...loaded, size: Math.min((kept.peek(stream)?.size ?? 500) + bytes, maxBytes / 2) });
    return loaded;
  };

  const readOn = async (stream: string, from: Loaded, to = Infinity): Promise<Loaded> => {
    let loaded = from;
    for await (const events of store.read(stream, from.revision + 1)) {
      const wanted = events.filter(({ revision }) => revision <= to).map(decode);
      loaded = extend(stream, loaded, wanted);
      if (to === Infinity) keep(stream, loaded, wanted, events.reduce((sum, { data }) => sum + data.length, 0));
      if (wanted.length < events.length) break;
    }
    return loaded;
  };

  const nothing = (stream: string): Loaded => ({ state: kindOf(stream).aggregate.initial, doc: undefined, revision: -1, position: 0, hash: '', promisedAt: -1, keys: new Map() });

  return {
    extend,
    keep,
    /** As last seen by this node: perhaps stale, which an append at its revision finds out. */
    load: async (stream: string): Promise<Loaded> => kept.get(stream) ?? readOn(stream, nothing(stream)),
    /** As the store has it now. */
    refresh: (stream: string): Promise<Loaded> => readOn(stream, kept.get(stream) ?? nothing(stream)),
    /** As it was just after a revision (-1: before the first). */
    asOf: (stream: string, revision: number): Promise<Loaded> => (revision < 0 ? Promise.resolve(nothing(stream)) : readOn(stream, nothing(stream), revision)),
    /** The events of some revisions, both included. */
    events: async (stream: string, first: number, last: number): Promise<readonly Recorded[]> => {
      const found: Recorded[] = [];
      for await (const events of store.read(stream, first)) {
        for (const event of events) if (event.revision <= last) found.push(decode(event));
        if (events.at(-1)!.revision >= last) break;
      }
      return found;
    },
    forget: (stream: string): void => void kept.delete(stream),
    kindOf,
  };
};

export type Streams = ReturnType<typeof streams>;

/** Where the promises that hold after the events were made: a stream may make several, one after the other. */
const promisedAt = (aggregate: Aggregate, loaded: Loaded, events: readonly Recorded[]): number => {
  const { promises } = aggregate;
  if (!promises) return -1;
  let { state, promisedAt } = loaded;
  for (const { topic, data, revision } of events) {
    const before = promises(state);
    state = fold(aggregate, [{ type: topic, data }], state);
    if (!same(before, promises(state))) promisedAt = revision;
  }
  return promisedAt;
};

/** Keys of creates and of parts of a larger change are kept for good, others at least 24 h. */
const remember = (keys: Map<string, KeyUse>, events: readonly Recorded[]): void => {
  for (const { revision, metadata: { at, idempotency } } of events) {
    if (!idempotency) continue;
    const { key, request } = idempotency;
    keys.set(key, { request, first: keys.get(key)?.first ?? revision, last: revision, at });
    const oldest = new Date(Date.parse(at) - keptHours * 3_600_000).toISOString();
    for (const [old, use] of keys) {
      if (use.first === 0 || old.startsWith('part:')) continue;
      if (use.at >= oldest) break;
      keys.delete(old);
    }
  }
};
