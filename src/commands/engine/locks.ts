import { mutex } from '@automation-platform/concurrency';
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
 * The lock of commands that make or take resources under ids that a caller has chosen, or that close access lists. An
 * import decides about several streams, and its parts follow. So a command takes this lock only once all that follows
 * from the one before is carried out.
 */
export const importing = 'importing';

type Turn = { readonly stream: string; readonly revision: number };

const isSame = (one: Turn | undefined, { stream, revision }: Turn): boolean =>
  one?.stream === stream && one.revision === revision;

/** The reactions to this event of the former command under a lock may not be carried out yet. */
export class Unfinished extends Error {
  readonly stream: string;
  readonly revision: number;

  constructor(stream: string, revision: number) {
    super(`What follows from ${stream} at revision ${revision} is not carried out yet`);
    this.stream = stream;
    this.revision = revision;
  }
}

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
  /** The last turns of `importing` that were taken here, and of which all that follows is carried out. */
  let lastTurn: Turn | undefined;
  let finished: Turn | undefined;

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

  /**
   * Makes sure that the stream has an event at the revision: the former command's event, or `turnPassed`. Returns whether
   * it may be the command's.
   */
  const close = async (name: string, by: string, revision: number, about: About): Promise<boolean> => {
    try {
      const former = await streams.end(by);
      if (former.revision >= revision) return true;
      await append(by, former, turnPassed(name), about);
    } catch (error) {
      if (!(error instanceof Tampered)) throw error;
      await closeTampered(name, by, revision, about);
    }
    return false;
  };

  const take = async (name: string, { stream, past, about }: Deciding): Promise<void> => {
    const turn = `${aggregate.category}-${name}`;
    const last = await streams.refresh(turn);
    const { by, revision } = last.state as { by?: string; revision: number };
    if (by !== undefined) {
      const isStored = by === stream ? revision <= past.revision : await close(name, by, revision, about);
      if (name === importing && isStored && !isSame(finished, { stream: by, revision }))
        throw new Unfinished(by, revision);
    }
    await append(turn, last, { topic: 'turnTaken', data: { by: stream, revision: past.revision + 1 } }, about);
    if (name === importing) lastTurn = { stream, revision: past.revision + 1 };
  };

  return {
    /**
     * Takes the lock and does the work, which decides on the stream as loaded and stores there. Throws `WrongRevision` if
     * the command must start over, and `Unfinished` if it must first carry out what follows from the former command.
     */
    withLock: <T>(name: string, deciding: Deciding, work: () => Promise<T>): Promise<T> =>
      exclusively(name, async () => {
        await take(name, deciding);
        return work();
      }),
    /** Notes that all that follows from an event is carried out. */
    finish: (turn: Turn): void => {
      finished = turn;
    },
    /** The same, if the event's command was the last one here that took `importing`. */
    finishOwn: (turn: Turn): void => {
      if (isSame(lastTurn, turn)) finished = turn;
    },
  };
};

export type LockTaker = ReturnType<typeof lockTaker>;
