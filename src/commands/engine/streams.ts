import { LRUCache } from 'lru-cache';
import { same } from '../../domain/engine/changes.ts';
import { type Aggregate, fold } from '../../domain/engine/core.ts';
import { Refusal } from '../../domain/engine/refusal.ts';
import { project, projectChildren, type Projection } from '../../projections/engine/define.ts';
import { BadEvent, decode, splitStream, type Recorded } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import type { TouchedStreams } from '../../store/touched.ts';

/** A stream as far as it has been read: what a decision starts from. */
export type Loaded = {
  readonly state: any; // its shape is the aggregate's affair
  /** The documents that the projections of its aggregate give. */
  readonly docs: readonly unknown[];
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

/** What an append to a stream must know. */
export type End = Pick<Loaded, 'revision' | 'hash'>;

/** What an Idempotency-Key stands for in a stream: the keyed digest of its request and the events it stored. */
type KeyUse = { readonly request: string; readonly first: number; readonly last: number; readonly at: string };

const keptHours = 24;

/**
 * Reads streams into states and documents, and keeps the last ones used: a stale one is mended by `refresh`. One that
 * somebody else has touched is read anew each time, which refuses it for as long as it is so.
 */
export const streams = (
  store: EventStore,
  aggregates: readonly Aggregate[],
  projections: readonly Projection[],
  touched: Pick<TouchedStreams, 'has'> = { has: () => false },
  maxBytes = 64 * 1024 * 1024,
) => {
  const byCategory = new Map(
    aggregates.map((a) => [a.category, { aggregate: a, projections: projections.filter((p) => p.of === a) }]),
  );
  const kept = new LRUCache<string, Loaded & { size: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ size }) => size,
  });

  const known = (stream: string): Loaded | undefined => (touched.has(stream) ? undefined : kept.get(stream));

  const kindOf = (stream: string) => {
    const kind = byCategory.get(splitStream(stream).category);
    if (!kind) throw new Error(`No aggregate has the category of stream ${stream}`);
    return kind;
  };

  /** What all projections of a stream make of an event, each of its own document, as when the read models are made. */
  const shown = (
    stream: string,
    concerned: readonly Projection[],
    docs: readonly unknown[],
    event: Recorded,
  ): readonly unknown[] =>
    concerned.map((projection, n) => {
      if (projection.children) projectChildren(projection.children, splitStream(stream).id, event);
      return project(projection, docs[n], event);
    });

  /** What the loaded stream becomes with further events of its own, once they are stored. */
  const extend = (stream: string, loaded: Loaded, events: readonly Recorded[]): Loaded => {
    if (events.length === 0) return loaded;
    const { aggregate, projections: concerned } = kindOf(stream);
    const last = events.at(-1)!;
    return {
      state: fold(
        aggregate,
        events.map(({ topic, data }) => ({ type: topic, data })),
        loaded.state,
      ),
      docs: events.reduce((docs, event) => shown(stream, concerned, docs, event), loaded.docs),
      revision: last.revision,
      position: last.position,
      // A tool that writes to the log may have left it out.
      hash: last.metadata.hash ?? '',
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

  /** The stream as extended by events that the store has; `whole`: there are no others, so it is kept. */
  const withStored = (stream: string, loaded: Loaded, stored: readonly StoredEvent[], whole: boolean): Loaded => {
    const events = stored.map(decode);
    const grown = extend(stream, loaded, events);
    return whole
      ? keep(
          stream,
          grown,
          events,
          stored.reduce((sum, { data }) => sum + data.length, 0),
        )
      : grown;
  };

  /** The same; an event that cannot be read or folded makes its stream unusable, whoever asks for it. */
  const withReadable = (stream: string, loaded: Loaded, stored: readonly StoredEvent[], whole: boolean): Loaded => {
    try {
      return withStored(stream, loaded, stored, whole);
    } catch (error) {
      let before = loaded;
      for (const event of stored) {
        try {
          before = withStored(stream, before, [event], false);
        } catch (cause) {
          throw unusable(event, cause);
        }
      }
      throw error;
    }
  };

  const readOn = async (stream: string, from: Loaded, to = Infinity): Promise<Loaded> => {
    let loaded = from;
    for await (const events of store.read(stream, from.revision + 1)) {
      const wanted = events.filter(({ revision }) => revision <= to);
      loaded = withReadable(stream, loaded, wanted, to === Infinity);
      if (wanted.length < events.length) break;
    }
    return loaded;
  };

  const nothing = (stream: string): Loaded => ({
    state: kindOf(stream).aggregate.initial,
    docs: [],
    revision: -1,
    position: 0,
    hash: '',
    promisedAt: -1,
    keys: new Map(),
  });

  /** As the store has it now. */
  const refresh = (stream: string): Promise<Loaded> => readOn(stream, known(stream) ?? nothing(stream));

  const lastOf = async (stream: string): Promise<StoredEvent | undefined> => {
    let last: StoredEvent | undefined;
    for await (const events of store.read(stream)) last = events.at(-1) ?? last;
    return last;
  };

  return {
    extend,
    keep,
    /** Where a stream ends now, also one that cannot be folded. */
    end: async (stream: string): Promise<End> => {
      try {
        return await refresh(stream);
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'internal')) throw error;
        const last = await lastOf(stream);
        return { revision: last?.revision ?? -1, hash: last ? hashOf(last) : '' };
      }
    },
    /** As last seen by this node: perhaps stale, which an append at its revision finds out. */
    load: async (stream: string): Promise<Loaded> => known(stream) ?? readOn(stream, nothing(stream)),
    refresh,
    /** As it was just after a revision (-1: before the first). */
    asOf: (stream: string, revision: number): Promise<Loaded> =>
      revision < 0 ? Promise.resolve(nothing(stream)) : readOn(stream, nothing(stream), revision),
    /** The events of some revisions, both included. */
    events: async (stream: string, first: number, last: number): Promise<readonly Recorded[]> => {
      const found: Recorded[] = [];
      for await (const events of store.read(stream, first)) {
        for (const event of events) if (event.revision <= last) found.push(decoded(event));
        if (events.at(-1)!.revision >= last) break;
      }
      return found;
    },
    forget: (stream: string): void => void kept.delete(stream),
    kindOf,
  };
};

export type Streams = ReturnType<typeof streams>;

/** What whoever needs a stream is told when one of its events cannot be used. */
const unusable = ({ stream, revision }: StoredEvent, cause: unknown): Refusal =>
  new Refusal(
    'internal',
    cause instanceof BadEvent ? cause.message : `Event ${revision} of ${stream} cannot be folded`,
    { cause },
  );

/** The hash of an event that others follow; '' if it has none that can be read. */
const hashOf = (event: StoredEvent): string => {
  try {
    return decode({ ...event, data: 'null' }).metadata.hash ?? '';
  } catch {
    return '';
  }
};

const decoded = (event: StoredEvent): Recorded => {
  try {
    return decode(event);
  } catch (error) {
    throw unusable(event, error);
  }
};

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
  for (const {
    revision,
    metadata: { at, idempotency },
  } of events) {
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
