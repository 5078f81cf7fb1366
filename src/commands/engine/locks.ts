import { mutex } from '../../concurrency/mutex.ts';
import type { Event } from '../../domain/engine/core.ts';
import { lock as aggregate, lockPassed } from '../../domain/engine/locks.ts';
import { type EventStore, WrongRevision } from '../../store/port.ts';
import { Tampered } from '../../store/tampered.ts';
import { type About, appendOne } from './appendOne.ts';
import type { End, LoadedStream } from './loaded.ts';
import type { Streams } from './streams.ts';

/** A decision about a stream as loaded, and what its events say of their cause. */
type Deciding = { readonly stream: string; readonly past: LoadedStream; readonly about: About };

/**
 * Decisions that rest on several streams (does an admin remain? does anybody refer to this?) are made one at a time,
 * over all nodes: what a decision has seen is still so when it is stored. A decision writes down that it has the lock
 * before it looks; the next one first makes sure that the former has stored or never will, by taking the revision that
 * it wants to write (`turnPassed`). No clocks, and nothing that a stopped process leaves behind.
 */
export const locksOf = (store: EventStore, streams: Streams) => {
  const exclusively = mutex();

  const append = async (stream: string, at: End, event: Event, about: About): Promise<void> => {
    const source = `@platform/${streams.kindOf(stream).aggregate.area}`;
    await appendOne(store, { stream, at, source, event, about });
  };

  /**
   * Of a stream that somebody else has touched the end is not known; whatever is there, nothing else comes to the
   * revision.
   */
  const closeTampered = (name: string, by: string, revision: number, about: About): Promise<void> =>
    append(by, { revision: revision - 1, hash: '' }, lockPassed(name), about).catch((error: unknown) => {
      if (!(error instanceof WrongRevision || error instanceof Tampered)) throw error;
    });

  /** Makes sure that the stream has an event at the revision: that of the former decision, or another one. */
  const close = async (name: string, by: string, revision: number, about: About): Promise<void> => {
    try {
      const former = await streams.end(by);
      if (former.revision < revision) await append(by, former, lockPassed(name), about);
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

  /** Does the work in turn: it decides about the stream as loaded and stores there. `WrongRevision`: start over. */
  return <T>(name: string, deciding: Deciding, work: () => Promise<T>): Promise<T> =>
    exclusively(name, async () => {
      await take(name, deciding);
      return work();
    });
};
