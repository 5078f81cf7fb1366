import { randomUUID } from 'node:crypto';
import { mutex } from '@automation-platform/concurrency';
import { type EventStore, type StoredEvent, WrongRevision } from '../port.ts';
import type { EventStoreDbReads } from './reads.ts';

const mostCheckpoints = 10;
const askEvery = 100;
const readAtOnce = 50;

const set = '@platform/log:checkpointSet';
const removed = '@platform/log:checkpointRemoved';
const named = '@platform/log:checkpointNamed';
// The names with a colon that were ever set, one event for each. Nothing else could list them without a search through
// the whole log.
const namesStream = 'checkpoint-names';

/** A member of an event's data; undefined if the data are not readable. */
export const memberOf = ({ data }: StoredEvent, member: string): unknown => {
  try {
    return (Object(JSON.parse(data)) as Readonly<Record<string, unknown>>)[member];
  } catch {
    return undefined;
  }
};

/**
 * The position in a checkpoint event. It is 0 if it cannot be read: there a reader begins again and finds its work
 * done, which is harmless. Undefined if the event removes the checkpoint.
 */
const positionIn = (event: StoredEvent): number | undefined => {
  if (event.type === removed) return undefined;
  const position = memberOf(event, 'position');
  return typeof position === 'number' && Number.isSafeInteger(position) ? Math.max(0, position) : 0;
};

type Stored = { readonly revision: number; readonly position: number | undefined };

/** Writes one event to a stream; returns its revision. */
const writing =
  (append: EventStore['append']) =>
  async (stream: string, before: number, type: string, data: object): Promise<number> => {
    const event = { id: randomUUID(), type, data: JSON.stringify(data), metadata: '{}' };
    return (await append(stream, before, [event])).revision;
  };

/**
 * Writes to a stream of which only the newest event counts. EventStoreDB is asked to remove old events with the first one
 * and now and then again, because it may have failed. Until it does, they do no harm.
 */
export const writingNewest = (append: EventStore['append']): ReturnType<typeof writing> => {
  const write = writing(append);
  return async (stream, before, type, data) => {
    const revision = await write(stream, before, type, data);
    if (revision % askEvery === 0)
      await write(`$$${stream}`, -1, '$metadata', { $maxCount: mostCheckpoints }).catch(() => undefined);
    return revision;
  };
};

/** The checkpoints of readers. A checkpoint is the position in the newest event of `checkpoint-<name>`. */
export const eventStoreDbCheckpoints = (reads: EventStoreDbReads, append: EventStore['append']) => {
  // The last known revision of each checkpoint stream, by the reader's name.
  const revisions = new Map<string, number>();
  const write = writing(append);
  const writeNewest = writingNewest(append);
  const exclusively = mutex();
  const listing = mutex();

  const stored = async (name: string): Promise<Stored> => {
    const event = await reads.newest(`checkpoint-${name}`);
    return event ? { revision: event.revision, position: positionIn(event) } : { revision: -1, position: undefined };
  };

  /** Adds a name to the list of names. A name may be there twice. */
  const list = async (name: string): Promise<void> => {
    for (;;) {
      try {
        await write(namesStream, (await reads.newest(namesStream))?.revision ?? -1, named, { name });
        return;
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error;
      }
    }
  };

  const setTo = async (name: string, wanted: number): Promise<void> => {
    const stream = `checkpoint-${name}`;
    let before = revisions.get(name) ?? (await stored(name)).revision;
    // The name is listed first. After a crash it is listed without a checkpoint, which is harmless.
    if (before === -1 && name.includes(':')) await listing(namesStream, () => list(name));
    for (let position = wanted; ; ) {
      try {
        revisions.set(name, await writeNewest(stream, before, set, { position }));
        return;
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error;
        // Another node has set the checkpoint. The larger position is kept.
        const other = await stored(name);
        before = other.revision;
        position = Math.max(wanted, other.position ?? 0);
      }
    }
  };

  const remove = async (name: string): Promise<void> => {
    for (;;) {
      const { revision, position } = await stored(name);
      if (position === undefined) return;
      try {
        revisions.set(name, await writeNewest(`checkpoint-${name}`, revision, removed, {}));
        return;
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error;
      }
    }
  };

  // The revisions of the checkpoint streams as this process has taken or kept them last.
  const checkpointPositions = new Map<string, number>();

  /** Reads a checkpoint and writes it again, so that its stream has another revision. */
  const take = async (name: string): Promise<number | undefined> => {
    for (;;) {
      const { revision, position } = await stored(name);
      try {
        checkpointPositions.set(
          name,
          position === undefined ? revision : await writeNewest(`checkpoint-${name}`, revision, set, { position }),
        );
        return position;
      } catch (error) {
        if (!(error instanceof WrongRevision)) throw error;
      }
    }
  };

  const keepTaken = async (name: string, position: number | undefined): Promise<void> => {
    const before = checkpointPositions.get(name) ?? (await stored(name)).revision;
    if (before === -1 && position === undefined) return;
    if (before === -1 && name.includes(':')) await listing(namesStream, () => list(name));
    const [type, data] = position === undefined ? [removed, {}] : [set, { position }];
    checkpointPositions.set(name, await writeNewest(`checkpoint-${name}`, before, type, data));
  };

  const namesOf = async (reader: string): Promise<readonly string[]> => {
    const names = new Set<string>();
    for await (const events of reads.read(namesStream)) {
      for (const event of events) {
        const name = memberOf(event, 'name');
        if (typeof name === 'string' && name.startsWith(`${reader}:`)) names.add(name);
      }
    }
    return [...names].sort();
  };

  return {
    checkpoint: async (name: string): Promise<number | undefined> => (await stored(name)).position,
    checkpointsOf: async (reader: string): Promise<ReadonlyMap<string, number>> => {
      const names = await namesOf(reader);
      const found = new Map<string, number>();
      for (let at = 0; at < names.length; at += readAtOnce) {
        const some = names.slice(at, at + readAtOnce);
        const positions = await Promise.all(some.map(async (name) => (await stored(name)).position));
        for (const [n, name] of some.entries()) {
          const position = positions[n];
          if (position !== undefined) found.set(name, position);
        }
      }
      return found;
    },
    setCheckpoint: (name: string, position: number): Promise<void> => exclusively(name, () => setTo(name, position)),
    removeCheckpoint: (name: string): Promise<void> => exclusively(name, () => remove(name)),
    takeCheckpoint: (name: string): Promise<number | undefined> => exclusively(name, () => take(name)),
    keepCheckpoint: (name: string, position: number | undefined): Promise<void> =>
      exclusively(name, () => keepTaken(name, position)),
  };
};
