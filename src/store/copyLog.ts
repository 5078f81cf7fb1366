import { createHash } from 'node:crypto';
import { shown } from './foreignCopies.ts';
import { identityStream } from './identity.ts';
import { type Appended, type EventStore, maxAppend, type StoredEvent, WrongRevision } from './port.ts';

/** How far a copy is: positions are those of the source. */
export type Progress = { readonly step: 'comparing' | 'copying' | 'verifying'; readonly position: number; readonly head: number; readonly events: number };

/** Number of events, and SHA-256 in hex over one line per event in order, as `shown`: JSON of [stream, revision, id, type, data, metadata]. */
export type Content = { readonly events: number; readonly digest: string };

/** What a copy did: events that the target had already, events that were copied, and what both logs hold now. */
export type Copied = { readonly found: number; readonly copied: number; readonly source: Content; readonly target: Content };

type Needs = {
  readonly from: EventStore;
  readonly to: EventStore;
  /** Stops the copy between two appends: it ends with the signal's reason. */
  readonly signal: AbortSignal;
  readonly told: (progress: Progress) => void;
};

const reactions = 'reactions';
const mostEvents = 500;

/**
 * Whether an event is content: everything but what a store keeps for itself, and what belongs to one log only (its identity,
 * how far its readers are). `$metadata` of a stream is content as its stream is.
 */
const isContent = ({ stream, type }: Pick<StoredEvent, 'stream' | 'type'>): boolean => {
  if (stream.startsWith('$$') && type === '$metadata') return isContent({ stream: stream.slice(2), type: '' });
  return !stream.startsWith('$') && !type.startsWith('$') && stream !== identityStream && !stream.startsWith('checkpoint-');
};

const content = async function* (store: EventStore): AsyncGenerator<StoredEvent> {
  for await (const { events } of store.readAll(0)) for (const event of events) if (isContent(event)) yield event;
};

const compared = ['stream', 'revision', 'id', 'type', 'data', 'metadata'] as const;

/** The names of what two events differ in. */
const differences = (event: StoredEvent, there: StoredEvent): readonly string[] => {
  const [here, other] = [shown(event), shown(there)];
  return compared.filter((field) => here[field] !== other[field]);
};

const place = ({ position, stream, revision }: StoredEvent): string => `position ${position} (event ${revision} of stream ${stream})`;

/** The events of the source, each with the target's own; an Error names the first place where the target has something else. */
const sideBySide = async function* (from: EventStore, to: EventStore, signal: AbortSignal): AsyncGenerator<readonly [StoredEvent, StoredEvent | undefined]> {
  const theirs = content(to);
  try {
    for await (const event of content(from)) {
      signal.throwIfAborted();
      const { value: there } = await theirs.next() as IteratorResult<StoredEvent, undefined>;
      const different = there ? differences(event, there) : [];
      if (there && different.length > 0) throw new Error(`The target is not a copy of the source: at its ${place(there)}, where the source has ${place(event)}, it differs in ${different.join(', ')}`);
      yield [event, there];
    }
    const { value: more } = await theirs.next() as IteratorResult<StoredEvent, undefined>;
    if (more) throw new Error(`The target has more than the source: ${place(more)}`);
  } finally {
    await theirs.return(undefined);
  }
};

const sizeOf = ({ type, data, metadata }: StoredEvent): number => Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata);

/** Appends consecutive events of one stream together. */
const appender = (to: EventStore) => {
  let pending: StoredEvent[] = [];
  let size = 0;

  const flush = async (): Promise<void> => {
    const [first] = pending;
    if (!first) return;
    await to.append(first.stream, first.revision - 1, pending.map(({ id, type, data, metadata }) => ({ id, type, data, metadata }))).catch((error: unknown): Promise<Appended> => {
      const reason = error instanceof WrongRevision ? `the target's stream is at revision ${error.actual}` : error instanceof Error ? error.message : String(error);
      throw new Error(`Copying stopped at the source's ${place(first)}: ${reason}`, { cause: error });
    });
    pending = [];
    size = 0;
  };

  return {
    flush,
    add: async (event: StoredEvent): Promise<void> => {
      const last = pending.at(-1);
      const bytes = sizeOf(event);
      if (last && !(last.stream === event.stream && last.revision + 1 === event.revision && size + bytes <= maxAppend && pending.length < mostEvents)) await flush();
      pending.push(event);
      size += bytes;
    },
  };
};

/** Hashes events as they come. */
const digester = () => {
  const hash = createHash('sha256');
  let events = 0;
  return {
    add: (event: StoredEvent): void => {
      const seen = shown(event);
      hash.update(`${JSON.stringify(compared.map((field) => seen[field]))}\n`);
      events++;
    },
    done: (): Content => ({ events, digest: hash.digest('hex') }),
  };
};

/**
 * Copies a log that nobody uses into another, event by event in the order of the log: streams, revisions, ids, types and
 * texts stay, and so do times and hash links. It walks both from the beginning, so it needs no notes: what the target has
 * already must be what the source begins with (else nothing is written), and a copy that was stopped or killed goes on
 * where it ended. A second walk over both verifies; only then the target is told how far reactions were carried out.
 * Ends with an Error that names the place of what is wrong.
 */
export const copyLog = async ({ from, to, signal, told }: Needs): Promise<Copied> => {
  const head = await from.head();
  const { add, flush } = appender(to);
  let [found, copied] = [0, 0];
  for await (const [event, there] of sideBySide(from, to, signal)) {
    if (there) found++;
    else {
      await add(event);
      copied++;
    }
    told({ step: there ? 'comparing' : 'copying', position: event.position, head, events: found + copied });
  }
  await flush();

  const carriedOut = await from.checkpoint(reactions);
  const [source, target] = [digester(), digester()];
  let [events, checkpoint] = [0, 0];
  for await (const [event, there] of sideBySide(from, to, signal)) {
    if (!there) throw new Error(`The target lacks the source's ${place(event)}`);
    source.add(event);
    target.add(there);
    if (event.position <= carriedOut) checkpoint = there.position;
    told({ step: 'verifying', position: event.position, head, events: ++events });
  }
  if (checkpoint > 0) await to.setCheckpoint(reactions, checkpoint);
  return { found, copied, source: source.done(), target: target.done() };
};
