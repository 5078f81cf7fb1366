import { mutex } from '../../concurrency/mutex.ts';
import type { Event } from '../../domain/engine/core.ts';
import { lock as aggregate, turnPassed } from '../../domain/engine/locks.ts';
import { type EventStore, WrongRevision } from '../../store/port.ts';
import { Tampered } from '../../store/tampered.ts';
import { type About, appendOne } from './appendOne.ts';
import type { End, LoadedStream } from './loaded.ts';
import type { Streams } from './streams.ts';

/** The stream that a decision changes, as it was read, and the metadata of its events. */
type Deciding = { readonly stream: string; readonly past: LoadedStream; readonly about: About };

/**
 * Locks for decisions that read several streams, such as "does an admin remain?" or "does anything refer to this?". On
 * all nodes together, only one decision under a lock runs at a time. So what it has read is still true when its events
 * are stored.
 * A command appends `turnTaken` to the stream of the lock before it decides. The next command first makes sure that the
 * former one has stored its events or never will. To do so, it appends `turnPassed` to the former stream, at the
 * revision that the former command wants. This needs no clock, and a stopped process leaves nothing behind.
 */
export const lockTaker = (store: EventStore, streams: Streams) => {
  const exclusively = mutex();

  const append = async (stream: string, at: End, event: Event, about: About): Promise<void> => {
    const source = `@platform/${streams.kindOf(stream).aggregate.area}`;
    await appendOne(store, { stream, at, source, event, about });
  };

  /**
   * Makes sure that the former command cannot append to a tampered stream. The end of the stream cannot be read, so the
   * event has no hash of a predecessor. If this append succeeds, the revision is taken. If it fails, the append of the
   * former command at the same revision fails as well.
   */
  const closeTampered = (name: string, by: string, revision: number, about: About): Promise<void> =>
    append(by, { revision: revision - 1, hash: '' }, turnPassed(name), about).catch((error: unknown) => {
      if (!(error instanceof WrongRevision || error instanceof Tampered)) throw error;
    });

  /** Makes sure that the stream has an event at the revision: the former command's event, or `turnPassed`. */
  const close = async (name: string, by: string, revision: number, about: About): Promise<void> => {
    try {
      const former = await streams.end(by);
      if (former.revision < revision) await append(by, former, turnPassed(name), about);
    } catch (error) {
      if (!(error instanceof Tampered)) throw error;
      await closeTampered(name, by, revision, about);
    }
  };

  const take = async (name: string, { stream, past, about }: Deciding): Promise<void> => {
    const turn = `${aggregate.category}-${name}`;
    const last = await streams.refresh(turn);
    const { by, revision } = last.state as { by?: string; revision: number };
    if (by !== undefined && by !== stream) await close(name, by, revision, about);
    await append(turn, last, { topic: 'turnTaken', data: { by: stream, revision: past.revision + 1 } }, about);
  };

  /**
   * Takes the lock and does the work, which decides on the stream as loaded and stores there. Throws `WrongRevision` if
   * the command must start over.
   */
  return <T>(name: string, deciding: Deciding, work: () => Promise<T>): Promise<T> =>
    exclusively(name, async () => {
      await take(name, deciding);
      return work();
    });
};
