import { unwrapForeign, wrapForeign } from '@automation-platform/event-log';
import { derivedUuid } from '../derivedIds.ts';
import type { StoredEvent } from '../port.ts';
import { appender, type CopyEnd, place, stoppedAt } from './appends.ts';
import { type Choice, content, differences, shown } from './content.ts';

/**
 * The settings of a log's streams, by stream: the newest metadata, and the ends of streams that were deleted for ever.
 */
type Settings = {
  readonly metadata: ReadonlyMap<string, StoredEvent>;
  readonly ends: ReadonlyMap<string, StoredEvent>;
};

/** The two logs of a copy. The target is a server, which acts on settings and writes some of them itself. */
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
 * a server uses no others.
 */
export const settingsOfStreams = ({ from, to, signal }: Ends, choice: Choice) => {
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
        return !there || differences(shown(event), shown(there)).length > 0;
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
      let left = metadata;
      for (let round = 0; left.length > 0 && round < 2; round++) {
        for (const event of left) {
          signal.throwIfAborted();
          await append(event);
        }
        left = (await compare()).metadata;
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
