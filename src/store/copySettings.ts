import { appender, type CopyEnd, place, stoppedAt } from './copyAppends.ts';
import { type Choice, content, differences, shown } from './copyContent.ts';
import { unwrapForeign, wrapForeign } from './foreign.ts';
import type { StoredEvent } from './port.ts';
import { derivedUuid } from './uuid.ts';

/** What a log says of streams: the newest metadata of each, and the ends of those that were deleted for ever. */
type Settings = {
  readonly metadata: ReadonlyMap<string, StoredEvent>;
  readonly ends: ReadonlyMap<string, StoredEvent>;
};

/** Two logs of which the target is a server, which acts on settings, and writes some by itself. */
type Ends = {
  readonly from: CopyEnd;
  readonly to: CopyEnd & Required<Pick<CopyEnd, 'end'>>;
  readonly signal: AbortSignal;
};

const settingsOf = async (store: CopyEnd, choice: Choice): Promise<Settings> => {
  const metadata = new Map<string, StoredEvent>();
  const ends = new Map<string, StoredEvent>();
  for await (const event of content(store, choice, 'metadata')) metadata.set(event.stream.slice(2), event);
  for await (const event of content(store, choice, 'tombstone')) ends.set(event.stream, event);
  // Nobody can say anything of them any more.
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
 * The embedded log says that a deleted stream is back after the event that brought it back, and may have been stopped
 * in between. EventStoreDB would hide that event: here it is said.
 */
const withReturns = async (from: CopyEnd, { metadata, ends }: Settings): Promise<Settings> => {
  const said = new Map(metadata);
  for (const [stream, event] of metadata) {
    const about = objectIn(event);
    if (!(Number(about.$tb) > Number.MAX_SAFE_INTEGER)) continue;
    const back = await firstAfter(from, stream, event.position);
    if (!back) continue;
    said.set(stream, {
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
  return { metadata: said, ends };
};

/** Words for settings of the target that the source has not. */
const moreThan = (source: Settings, target: Settings): string | undefined => {
  const metadata = [...target.metadata.keys()].find(
    (stream) => !source.metadata.has(stream) && !source.ends.has(stream),
  );
  const end = [...target.ends.keys()].find((stream) => !source.ends.has(stream));
  return metadata !== undefined
    ? `metadata of stream ${metadata}`
    : end !== undefined
      ? `the end of stream ${end}`
      : undefined;
};

/** Settings in an order that both logs have. */
const inOrder = ({ metadata, ends }: Settings): readonly StoredEvent[] =>
  [metadata, ends].flatMap((events) => [...events.values()].sort((one, other) => (one.stream < other.stream ? -1 : 1)));

/**
 * The settings of streams where the target is a server. A delete, say, must not come before the last event of its
 * stream, so they are told after all events; and of the metadata of a stream the newest alone: that is what a server
 * goes by.
 */
export const settingsOfStreams = ({ from, to, signal }: Ends, choice: Choice) => {
  /** As they are now. Throws when the target has what the source has not. */
  const compare = async () => {
    const source = await withReturns(from, await settingsOf(from, choice));
    const target = await settingsOf(to, choice);
    const more = moreThan(source, target);
    if (more !== undefined) throw new Error(`The target has more than the source: ${more}`);
    const metadata = [...source.metadata]
      .filter(([stream, event]) => {
        const there = target.metadata.get(stream);
        return !there || differences(shown(event, choice.own), shown(there, choice.own)).length > 0;
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
    const { add, flush } = appender(to, choice.own);
    await add(event);
    await flush();
  };

  return {
    compare,
    /** How many settings the target had already, and how many are new. */
    copy: async (): Promise<{ readonly found: number; readonly copied: number }> => {
      const { source, metadata, ends } = await compare();
      // Metadata of a stream that is deleted there a server answers with metadata of its own, but only once.
      for (let left = metadata, round = 0; left.length > 0 && round < 2; left = (await compare()).metadata, round++) {
        for (const event of left) {
          signal.throwIfAborted();
          await append(event);
        }
      }
      for (const event of ends) {
        signal.throwIfAborted();
        await to.end(event.stream).catch((error: unknown) => {
          throw stoppedAt(event, error, choice.own);
        });
      }
      const copied = metadata.length + ends.length;
      return { found: source.metadata.size + source.ends.size - copied, copied };
    },
    /** The settings of both, in the same order; throws unless they are the same. */
    verified: async (): Promise<readonly (readonly [StoredEvent, StoredEvent])[]> => {
      const { source, target, metadata, ends } = await compare();
      const [wrong] = [...metadata, ...ends];
      if (wrong) throw new Error(`The target lacks the source's ${place(wrong)}, or has another`);
      const there = inOrder(target);
      return inOrder(source).map((event, n) => [event, there[n]!]);
    },
  };
};
