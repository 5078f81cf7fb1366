import { createHash } from 'node:crypto';
import { content, contentKind, differences, incompleteStreams, type Kind, shown } from './copyContent.ts';
import { comeBack, lacking, moreThan, type Settings, settingsOf } from './copySettings.ts';
import { metadataType, tombstoneType } from './grpc/foreignStream.ts';
import { type Appended, type EventStore, maxAppend, type StoredEvent, WrongRevision } from './port.ts';

/** How far a copy is: positions are those of the source. */
export type Progress = { readonly step: 'comparing' | 'copying' | 'verifying'; readonly position: number; readonly head: number; readonly events: number };

/** Number of events, and SHA-256 in hex over one line per event in order, as `shown`: JSON of [stream, revision, id, type, data, metadata]. */
export type Content = { readonly events: number; readonly digest: string };

/** What a copy did: events that the target had already, events that were copied, and what both logs hold now. */
export type Copied = {
  readonly found: number;
  readonly copied: number;
  readonly source: Content;
  readonly target: Content;
  /** What stayed behind, in words, and how often. */
  readonly leftOut: ReadonlyMap<string, number>;
};

/** A log as one end of a copy. Events of tools are in it as `wrapForeign` writes them, whatever the log is. */
export type CopyEnd = Pick<EventStore, 'head' | 'read' | 'readAll' | 'append' | 'checkpoint' | 'setCheckpoint'> & {
  /**
   * Deletes a stream for ever. A log that has it is a server, which writes metadata and ends of streams by itself as well:
   * there the newest metadata of each stream is copied, after all events. To others everything goes in its order.
   */
  readonly end?: (stream: string) => Promise<unknown>;
};

type Needs = {
  readonly from: CopyEnd;
  readonly to: CopyEnd;
  /** Which streams are the platform's own. */
  readonly own: (stream: string) => boolean;
  /** Leaves out streams of tools that have lost events; without it they end the copy. */
  readonly skipIncomplete?: boolean;
  /** Stops the copy between two appends: it ends with the signal's reason. */
  readonly signal: AbortSignal;
  readonly told: (progress: Progress) => void;
};

const reactions = 'reactions';
const mostEvents = 500;

const place = ({ position, stream, revision, type }: StoredEvent): string =>
  `position ${position} (${type === tombstoneType ? 'the end' : `event ${revision}`} of stream ${stream})`;

type About = Parameters<typeof contentKind>[1];

/** The events of the source, each with the target's own; an Error names the first place where the target has something else. */
const sideBySide = async function* ({ from, to, own, signal }: Needs, about: About, kind?: Kind): AsyncGenerator<readonly [StoredEvent, StoredEvent | undefined]> {
  const theirs = content(to, { own, skipped: about.skipped }, kind);
  try {
    for await (const event of content(from, about, kind)) {
      signal.throwIfAborted();
      const { value: there } = await theirs.next() as IteratorResult<StoredEvent, undefined>;
      const different = there ? differences(shown(event, own), shown(there, own)) : [];
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

/** Whether the source lacks what comes before an event: of a stream's metadata it needs no more than the newest. */
const isAlone = ({ type }: StoredEvent): boolean => type === metadataType || type === tombstoneType;

const reasonOf = (error: unknown, { stream, revision }: StoredEvent, own: About['own']): string => {
  if (!(error instanceof WrongRevision)) return error instanceof Error ? error.message : String(error);
  if (error.actual >= revision) return `the target's stream is at revision ${error.actual}`;
  const lost = `the source lacks event ${error.actual + 1}, which was scavenged or is EventStoreDB's own`;
  return own(stream) ? lost : `${lost}; --skip-incomplete leaves such streams out`;
};

/** Appends consecutive events of one stream together. */
const appender = (to: CopyEnd, own: About['own']) => {
  let pending: StoredEvent[] = [];
  let size = 0;

  const flush = async (): Promise<void> => {
    const [first] = pending;
    if (!first) return;
    const events = pending.map(({ id, type, data, metadata }) => ({ id, type, data, metadata }));
    await to.append(first.stream, first.revision - 1, events).catch((error: unknown): Promise<Appended> => {
      if (isAlone(first) && error instanceof WrongRevision && error.actual < first.revision - 1) return to.append(first.stream, error.actual, events);
      throw error;
    }).catch((error: unknown) => {
      throw new Error(`Copying stopped at the source's ${place(first)}: ${reasonOf(error, first, own)}`, { cause: error });
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
const digester = (own: About['own']) => {
  const hash = createHash('sha256');
  let events = 0;
  return {
    add: (event: StoredEvent): void => {
      const { stream, revision, id, type, data, metadata } = shown(event, own);
      hash.update(`${JSON.stringify([stream, revision, id, type, data, metadata])}\n`);
      events++;
    },
    done: (): Content => ({ events, digest: hash.digest('hex') }),
  };
};

/** The settings of streams in a server: the source's, the target's and what the target lacks, as they are now. */
const settingsOfBoth = async ({ from, to, own }: Needs, about: About) => {
  const source = await comeBack(from, await settingsOf(from, { own, skipped: about.skipped }));
  const target = await settingsOf(to, { own, skipped: about.skipped });
  const [more] = moreThan(source, target);
  if (more !== undefined) throw new Error(`The target has more than the source: ${more}`);
  return { source, target, missing: lacking(source, target, own) };
};

/** Tells a server what streams are set to; how many settings it had already and how many are new. */
const copySettings = async (needs: Needs, end: NonNullable<CopyEnd['end']>, about: About): Promise<{ found: number; copied: number }> => {
  const { source, missing } = await settingsOfBoth(needs, about);
  const copied = missing.metadata.length + missing.ends.length;
  let metadata = missing.metadata;
  // While a stream is deleted, a server answers to its metadata with metadata of its own; but only once.
  for (let round = 0; metadata.length > 0 && round < 2; round++) {
    for (const { event, after } of metadata) {
      needs.signal.throwIfAborted();
      const { add, flush } = appender(needs.to, needs.own);
      await add({ ...event, revision: after + 1 });
      await flush();
    }
    metadata = (await settingsOfBoth(needs, about)).missing.metadata;
  }
  for (const event of missing.ends) {
    needs.signal.throwIfAborted();
    await end(event.stream).catch((error: unknown) => { throw new Error(`Copying stopped at the source's ${place(event)}: ${reasonOf(error, event, needs.own)}`, { cause: error }); });
  }
  return { found: source.metadata.size + source.ends.size - copied, copied };
};

/** In an order that both logs have. */
const inOrder = ({ metadata, ends }: Settings): readonly StoredEvent[] =>
  [metadata, ends].flatMap((events) => [...events.values()].sort((one, other) => (one.stream < other.stream ? -1 : 1)));

/** Throws unless a server has all settings of the source. */
const verifiedSettings = async (needs: Needs, about: About): Promise<{ source: readonly StoredEvent[]; target: readonly StoredEvent[] }> => {
  const { source, target, missing } = await settingsOfBoth(needs, about);
  const [wrong] = [...missing.metadata.map(({ event }) => event), ...missing.ends];
  if (wrong) throw new Error(`The target lacks the source's ${place(wrong)}, or has another`);
  return { source: inOrder(source), target: inOrder(target) };
};

/**
 * Copies a log that nobody uses into another, event by event in the order of the log: streams, revisions, ids, types and
 * texts stay, and so do times and hash links. It walks both from the beginning, so it needs no notes: what the target has
 * already must be what the source begins with (else nothing is written), and a copy that was stopped or killed goes on
 * where it ended. A second walk over both verifies; only then the target is told how far reactions were carried out.
 * Ends with an Error that names the place of what is wrong.
 */
export const copyLog = async (needs: Needs): Promise<Copied> => {
  const { from, to, own, signal, told } = needs;
  const head = await from.head();
  const skipped = needs.skipIncomplete ? await incompleteStreams(from, own) : new Set<string>();
  const leftOut = new Map<string, number>([...skipped].map((stream) => [`stream ${stream}, which has lost events`, 1]));
  const about: About = { own, skipped, leftOut: (what) => leftOut.set(what, (leftOut.get(what) ?? 0) + 1) };
  const kind = to.end && 'event';
  if (to.end) await settingsOfBoth(needs, about);
  const { add, flush } = appender(to, own);
  let [found, copied] = [0, 0];
  for await (const [event, there] of sideBySide(needs, about, kind)) {
    if (there) found++;
    else {
      await add(event);
      copied++;
    }
    told({ step: there ? 'comparing' : 'copying', position: event.position, head, events: found + copied });
  }
  await flush();
  if (to.end) {
    const settings = await copySettings(needs, to.end, about);
    found += settings.found;
    copied += settings.copied;
  }

  const carriedOut = await from.checkpoint(reactions);
  const [source, target] = [digester(own), digester(own)];
  let [events, checkpoint] = [0, 0];
  for await (const [event, there] of sideBySide(needs, { own, skipped }, kind)) {
    signal.throwIfAborted();
    if (!there) throw new Error(`The target lacks the source's ${place(event)}`);
    source.add(event);
    target.add(there);
    if (event.position <= carriedOut) checkpoint = there.position;
    told({ step: 'verifying', position: event.position, head, events: ++events });
  }
  if (to.end) {
    const settings = await verifiedSettings(needs, about);
    settings.source.forEach(source.add);
    settings.target.forEach(target.add);
  }
  if (checkpoint > 0) await to.setCheckpoint(reactions, checkpoint);
  return { found, copied, source: source.done(), target: target.done(), leftOut };
};
