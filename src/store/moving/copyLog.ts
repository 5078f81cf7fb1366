import { createHash } from 'node:crypto';
import { unwrapForeign, wrapForeign } from '@automation-platform/event-log';
import { derivedUuid } from '../derivedIds.ts';
import type { StoredEvent } from '../port.ts';
import { movedPlaces, placesOfReaders, setPlacesOfReaders } from '../readers.ts';
import { appender, type CopyEnd, place, stoppedAt } from './appends.ts';
import {
  type Choice,
  content,
  contentOfEvent,
  differences,
  incompleteStreams,
  type Kind,
  type Shown,
  unfitEvents,
} from './content.ts';

/** The progress of a copy. `position` and `head` are positions of the source. */
export type Progress = {
  readonly step: 'comparing' | 'copying' | 'verifying';
  readonly position: number;
  readonly head: number;
  readonly events: number;
};

/**
 * The number of events, and a SHA-256 in hex over one line for each event in order. A line is the JSON of [stream,
 * revision, id, type, data, metadata] as `contentOfEvent` returns them.
 */
type Content = { readonly events: number; readonly digest: string };

/** The result of a copy. */
export type Copied = {
  /** How many events the target had already, and how many were copied. */
  readonly found: number;
  readonly copied: number;
  /** The content of both logs now. */
  readonly source: Content;
  readonly target: Content;
  /** The reasons why events were left out, each with the number of events. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** A line about copied events that the platform would not write so; none if there are none. */
  readonly unfit: readonly string[];
};

type Needs = {
  readonly from: CopyEnd;
  readonly to: CopyEnd;
  /** Leaves out foreign streams that have lost events. Without this option, such a stream makes the copy fail. */
  readonly skipIncomplete?: boolean;
  /** Streams that are left out, and that the target may have by itself. */
  readonly without?: ReadonlySet<string>;
  /** Stops the copy between two appends: it ends with the signal's reason. */
  readonly signal: AbortSignal;
  readonly report: (progress: Progress) => void;
};

/**
 * An event of the source, and the target's event at the same place if there is one. `content` and `seenThere` are their
 * parts to compare.
 */
type Pair = {
  readonly event: StoredEvent;
  readonly there?: StoredEvent;
  readonly content: Shown;
  readonly seenThere?: Shown;
};

type Ends = Pick<Needs, 'from' | 'to' | 'signal'>;

/**
 * Yields the events of the source, each with the target's event at the same place. Throws an Error that names the first
 * place where the logs differ.
 */
const sideBySide = async function* ({ from, to, signal }: Ends, choice: Choice, kind?: Kind): AsyncGenerator<Pair> {
  const theirs = content(to, { skipped: choice.skipped }, kind);
  const next = async () => ((await theirs.next()) as IteratorResult<StoredEvent, undefined>).value;
  try {
    for await (const event of content(from, choice, kind)) {
      signal.throwIfAborted();
      const [there, seen] = [await next(), contentOfEvent(event)];
      if (!there) {
        yield { event, content: seen };
        continue;
      }
      const seenThere = contentOfEvent(there);
      const different = differences(seen, seenThere).join(', ');
      if (different) {
        throw new Error(
          'The target is not a copy of the source: ' +
            `at its ${place(there)}, where the source has ${place(event)}, it differs in ${different}`,
        );
      }
      yield { event, there, content: seen, seenThere };
    }
    const more = await next();
    if (more) throw new Error(`The target has more than the source: ${place(more)}`);
  } finally {
    await theirs.return(undefined);
  }
};

/** Counts and hashes events one by one. */
const digester = () => {
  const hash = createHash('sha256');
  let events = 0;
  return {
    add: ({ stream, revision, id, type, data, metadata }: Shown): void => {
      hash.update(`${JSON.stringify([stream, revision, id, type, data, metadata])}\n`);
      events++;
    },
    done: (): Content => ({ events, digest: hash.digest('hex') }),
  };
};

/**
 * Copies a log that no process uses into another, event by event in the order of the log. Streams, revisions, ids,
 * types and bytes stay the same, and with them the times and hash links of the platform's events. The copy compares
 * both logs from the beginning, so it needs no record of its progress. The events of the target must be the first
 * events of the source; otherwise nothing is written. So a copy that was stopped or killed continues where it ended. A
 * second pass over both logs verifies them. Only then does the target get the places of the readers. Throws an Error
 * that names the place of a difference.
 */
export const copyLog = async ({
  from,
  to,
  skipIncomplete = false,
  without = new Set(),
  signal,
  report,
}: Needs): Promise<Copied> => {
  const head = await from.head();
  const incomplete = skipIncomplete ? await incompleteStreams(from) : new Set<string>();
  const skipped = new Set([...incomplete, ...without]);
  const leftOut = new Map([...incomplete].map((stream) => [`stream ${stream}, which has lost events`, 1]));
  const { end } = to;
  const settings = end && settingsOfStreams({ from, to: { ...to, end }, signal }, { skipped });
  await settings?.compare();
  const kind = settings && 'event';

  const { add, flush } = appender(to);
  const unfit = unfitEvents();
  let [found, copied] = [0, 0];
  const naming: Choice = { skipped, leftOut: (what) => leftOut.set(what, (leftOut.get(what) ?? 0) + 1) };
  for await (const { event, there } of sideBySide({ from, to, signal }, naming, kind)) {
    if (there) found++;
    else {
      await add(event);
      unfit.add(event);
      copied++;
    }
    report({ step: there ? 'comparing' : 'copying', position: event.position, head, events: found + copied });
  }
  await flush();
  const set = (await settings?.copy()) ?? { found: 0, copied: 0 };

  const places = movedPlaces(await placesOfReaders(from));
  const [source, target] = [digester(), digester()];
  let events = 0;
  for await (const { event, there, content, seenThere } of sideBySide({ from, to, signal }, { skipped }, kind)) {
    if (!there || !seenThere) throw new Error(`The target lacks the source's ${place(event)}`);
    source.add(content);
    target.add(seenThere);
    places.passed(event.position, there.position);
    report({ step: 'verifying', position: event.position, head, events: ++events });
  }
  for (const [event, there] of (await settings?.verified()) ?? []) {
    source.add(contentOfEvent(event));
    target.add(contentOfEvent(there));
  }
  await setPlacesOfReaders(to, places.moved());
  return {
    found: found + set.found,
    copied: copied + set.copied,
    source: source.done(),
    target: target.done(),
    leftOut,
    unfit: unfit.lines(),
  };
};

/**
 * The settings of a log's streams, by stream: the newest metadata, and the ends of streams that were deleted for ever.
 */
type Settings = {
  readonly metadata: ReadonlyMap<string, StoredEvent>;
  readonly ends: ReadonlyMap<string, StoredEvent>;
};

/** The two logs of a copy. The target is a server, which acts on settings and writes some of them itself. */
type Logs = {
  readonly from: CopyEnd;
  readonly to: CopyEnd & Required<Pick<CopyEnd, 'end'>>;
  readonly signal: AbortSignal;
};

const settingsOf = async (store: CopyEnd, choice: Choice): Promise<Settings> => {
  const metadata = new Map<string, StoredEvent>();
  const ends = new Map<string, StoredEvent>();
  for await (const event of content(store, choice, 'metadata')) metadata.set(event.stream.slice(2), event);
  for await (const event of content(store, choice, 'tombstone')) ends.set(event.stream, event);
  // A stream that was deleted for ever has no metadata any more.
  for (const stream of ends.keys()) metadata.delete(stream);
  return { metadata, ends };
};

const objectIn = (event: StoredEvent): Readonly<Record<string, unknown>> => {
  try {
    return Object(JSON.parse(Buffer.from(unwrapForeign(event)?.data ?? []).toString())) as Record<string, unknown>;
  } catch {
    return {};
  }
};

const firstAfter = async (store: CopyEnd, stream: string, position: number): Promise<StoredEvent | undefined> => {
  for await (const events of store.read(stream)) {
    const found = events.find((event) => event.position > position);
    if (found) return found;
  }
  return undefined;
};

/**
 * Adds metadata that the embedded log may lack. An append to a deleted stream brings the stream back: the embedded log
 * stores the event first, and then metadata that show the stream again. If the service was stopped in between, the
 * metadata are missing, and EventStoreDB would hide the event.
 */
const withReturns = async (from: CopyEnd, { metadata, ends }: Settings): Promise<Settings> => {
  const metadataByStream = new Map(metadata);
  for (const [stream, event] of metadata) {
    const about = objectIn(event);
    if (!(Number(about.$tb) > Number.MAX_SAFE_INTEGER)) continue;
    const back = await firstAfter(from, stream, event.position);
    if (!back) continue;
    metadataByStream.set(stream, {
      ...event,
      ...wrapForeign({
        id: derivedUuid(`${event.id} ${back.id}`),
        type: event.type,
        data: Buffer.from(JSON.stringify({ ...about, $tb: back.revision })),
        metadata: new Uint8Array(),
        contentType: 'application/json',
        created: new Date(0),
      }),
    });
  }
  return { metadata: metadataByStream, ends };
};

/** Names a setting of the target that the source lacks. */
const moreThan = (source: Settings, target: Settings): string | undefined => {
  const metadata = [...target.metadata.keys()].find(
    (stream) => !source.metadata.has(stream) && !source.ends.has(stream),
  );
  const end = [...target.ends.keys()].find((stream) => !source.ends.has(stream));
  if (metadata !== undefined) return `metadata of stream ${metadata}`;
  return end === undefined ? undefined : `the end of stream ${end}`;
};

/** All settings in an order that is the same for both logs: metadata, then ends, each sorted by stream. */
const inOrder = ({ metadata, ends }: Settings): readonly StoredEvent[] =>
  [metadata, ends].flatMap((events) => [...events.values()].sort((one, other) => (one.stream < other.stream ? -1 : 1)));

/**
 * Copies the settings of streams to a target that is a server. Settings are copied after all events: a delete, for
 * example, must not come before the last event of its stream. Only the newest metadata of a stream are copied, because
 * a server uses the newest alone.
 */
const settingsOfStreams = ({ from, to, signal }: Logs, choice: Choice) => {
  /**
   * Reads the settings of both logs, and finds those that the target lacks. Throws when the target has settings that
   * the source lacks.
   */
  const compare = async () => {
    const source = await withReturns(from, await settingsOf(from, choice));
    const target = await settingsOf(to, choice);
    const more = moreThan(source, target);
    if (more !== undefined) throw new Error(`The target has more than the source: ${more}`);
    const metadata = [...source.metadata]
      .filter(([stream, event]) => {
        const there = target.metadata.get(stream);
        return !there || differences(contentOfEvent(event), contentOfEvent(there)).length > 0;
      })
      .map(([stream, event]) => ({ ...event, revision: (target.metadata.get(stream)?.revision ?? -1) + 1 }));
    return {
      source,
      target,
      metadata,
      ends: [...source.ends.values()].filter(({ stream }) => !target.ends.has(stream)),
    };
  };

  const append = async (event: StoredEvent): Promise<void> => {
    const { add, flush } = appender(to);
    await add(event);
    await flush();
  };

  return {
    compare,
    /** Copies the settings. Returns how many of them the target had already, and how many were copied. */
    copy: async (): Promise<{ readonly found: number; readonly copied: number }> => {
      const { source, metadata, ends } = await compare();
      // When a deleted stream gets metadata, the server adds metadata of its own, but only once. So there is a second
      // round.
      let remainingMetadata = metadata;
      for (let round = 0; remainingMetadata.length > 0 && round < 2; round++) {
        for (const event of remainingMetadata) {
          signal.throwIfAborted();
          await append(event);
        }
        remainingMetadata = (await compare()).metadata;
      }
      for (const event of ends) {
        signal.throwIfAborted();
        await to.end(event.stream).catch((error: unknown) => {
          throw stoppedAt(event, error);
        });
      }
      const copied = metadata.length + ends.length;
      return { found: source.metadata.size + source.ends.size - copied, copied };
    },
    /**
     * Returns each setting of the source with the same setting of the target. Throws unless all settings are the same.
     */
    verified: async (): Promise<readonly (readonly [StoredEvent, StoredEvent])[]> => {
      const { source, target, metadata, ends } = await compare();
      const [wrong] = [...metadata, ...ends];
      if (wrong) throw new Error(`The target lacks the source's ${place(wrong)}, or has another`);
      const there = inOrder(target);
      // `compare` has shown that both logs have the same settings.
      return inOrder(source).map((event, n) => [event, there[n]!]);
    },
  };
};
