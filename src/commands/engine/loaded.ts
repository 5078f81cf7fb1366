import { same } from '../../domain/engine/changes.ts';
import { type Aggregate, fold } from '../../domain/engine/core.ts';
import { endedAt, type Projection, project, projectChildren } from '../../projections/engine/define.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { KeyUses } from './keyUses.ts';

/** A stream as far as it was read. Decisions start from it. */
export type LoadedStream = {
  /** Its type is known to the aggregate only. */
  readonly state: unknown;
  /** One document for each projection of the aggregate. */
  readonly docs: readonly unknown[];
  /** When the resource ended, epoch milliseconds; undefined: it has not, or it is of a kind that is not retired. */
  readonly endedAt: number | undefined;
  /** The revision of the last event; -1 if the stream does not exist. */
  readonly revision: number;
  /** Of the last event. It is not known before the events are stored; then it is set, once. */
  position: number;
  /** The hash of the last event; empty if there is none. */
  readonly hash: string;
  /** The revision of the event that made the present reservations; -1 if there were never any. */
  readonly promisedAt: number;
  /** That of the first event: what began on behalf of a job goes on so, whoever changes it. */
  readonly depth: number;
  /** Shared by all later versions of this stream and changed in place. Only stored events add to it. */
  readonly keys: KeyUses;
  /** About how many bytes the data of the events have that are cached with this stream. */
  dataBytes: number;
};

/** The end of a stream, which an append needs. */
export type End = Pick<LoadedStream, 'revision' | 'hash'>;

/** Turns the events of any stream into states and documents. */
export const loading = (aggregates: readonly Aggregate[], projections: readonly Projection[]) => {
  const byCategory = new Map(
    aggregates.map((a) => [a.category, { aggregate: a, projections: projections.filter((p) => p.of === a) }]),
  );

  const kindOf = (stream: string) => {
    const kind = byCategory.get(splitStream(stream).category);
    if (!kind) throw new Error(`No aggregate has the category of stream ${stream}`);
    return kind;
  };

  return {
    kindOf,
    /** A stream before its first event. */
    nothing: (stream: string): LoadedStream => ({
      state: kindOf(stream).aggregate.initial,
      docs: [],
      endedAt: undefined,
      revision: -1,
      position: 0,
      hash: '',
      promisedAt: -1,
      depth: 0,
      keys: new KeyUses(),
      dataBytes: 0,
    }),
    /** The loaded stream with further events. */
    extend: (stream: string, loaded: LoadedStream, events: readonly Recorded[]): LoadedStream => {
      const [first, last] = [events[0], events.at(-1)];
      if (!first || !last) return loaded;
      const { aggregate, projections: concerned } = kindOf(stream);
      const docs = events.reduce((before, event) => withEvent(stream, concerned, before, event), loaded.docs);
      const retired = concerned.findIndex(({ retires }) => retires);
      return {
        state: fold(aggregate, events, loaded.state),
        docs,
        endedAt: concerned[retired] && endedAt(concerned[retired], docs[retired]),
        revision: last.revision,
        position: last.position,
        // Events of other programs that write to the log may lack the hash.
        hash: last.metadata.hash ?? '',
        promisedAt: promisedAt(aggregate, loaded, events),
        depth: loaded.revision < 0 ? (first.metadata.depth ?? 0) : loaded.depth,
        keys: loaded.keys,
        dataBytes: loaded.dataBytes,
      };
    },
  };
};

/**
 * Applies an event to all documents of a stream, exactly as the read models do. So a new event that cannot be projected
 * fails before it is stored.
 */
const withEvent = (
  stream: string,
  concerned: readonly Projection[],
  docs: readonly unknown[],
  event: Recorded,
): readonly unknown[] =>
  concerned.map((projection, n) => {
    if (projection.children) projectChildren(projection.children, splitStream(stream).id, event);
    return project(projection, docs[n], event);
  });

/** The revision at which the present reservations were made. A stream may make several, one after the other. */
const promisedAt = (aggregate: Aggregate, loaded: LoadedStream, events: readonly Recorded[]): number => {
  const { reservations } = aggregate;
  if (!reservations) return -1;
  let { state, promisedAt } = loaded;
  for (const { topic, data, revision } of events) {
    const before = reservations(state);
    state = fold(aggregate, [{ topic, data }], state);
    if (!same(before, reservations(state))) promisedAt = revision;
  }
  return promisedAt;
};
