import { same } from '../../domain/engine/changes.ts';
import { type Aggregate, fold } from '../../domain/engine/core.ts';
import { type Projection, project, projectChildren } from '../../projections/engine/define.ts';
import { type Recorded, splitStream } from '../../store/event.ts';

/** A stream as far as it has been read: what a decision starts from. */
export type LoadedStream = {
  /** Its shape is the aggregate's affair. */
  readonly state: unknown;
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
export type End = Pick<LoadedStream, 'revision' | 'hash'>;

/** What an Idempotency-Key stands for in a stream: the keyed digest of its request and the events it stored. */
export type KeyUse = {
  readonly request: string;
  readonly first: number;
  readonly last: number;
  readonly at: string;
};

/** Makes states and documents of the events of a stream, whatever its category. */
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
      revision: -1,
      position: 0,
      hash: '',
      promisedAt: -1,
      keys: new Map(),
    }),
    /** What the loaded stream becomes with further events of its own, once they are stored. */
    extend: (stream: string, loaded: LoadedStream, events: readonly Recorded[]): LoadedStream => {
      const last = events.at(-1);
      if (!last) return loaded;
      const { aggregate, projections: concerned } = kindOf(stream);
      return {
        state: fold(
          aggregate,
          events.map(({ topic, data }) => ({ topic, data })),
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
    },
  };
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

/** Where the promises that hold after the events were made: a stream may make several, one after the other. */
const promisedAt = (aggregate: Aggregate, loaded: LoadedStream, events: readonly Recorded[]): number => {
  const { reservations } = aggregate;
  if (!reservations) return -1;
  let { state, promisedAt } = loaded;
  for (const { topic, data, revision } of events) {
    const before = reservations(state);
    state = fold(aggregate, [{ topic: topic, data }], state);
    if (!same(before, reservations(state))) promisedAt = revision;
  }
  return promisedAt;
};
