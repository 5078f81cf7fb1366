import { type GuardedClock, guardedClock } from '../concurrency/guardedClock.ts';
import type { Log } from '../concurrency/log.ts';
import { isOwnStream } from '../events/ownStreams.ts';
import { indexed, timeOf } from '../store/auditIndex/indexer.ts';
import type { OpenedLog } from '../store/open.ts';
import type { EventStore, StoredEvent } from '../store/port.ts';
import { doubtedCheckpoint } from '../store/readers.ts';
import type { Patiently } from './patience.ts';

/** After so many events without a time, such as those of other programs, the log counts as one without events. */
const mostRead = 10_000;

const isTimed = (event: StoredEvent): boolean => isOwnStream(event.stream) && timeOf(indexed(event)) !== undefined;

type Backwards = { readonly readAllBack: (before: number) => AsyncIterable<readonly StoredEvent[]> };

/** The newest of the platform's events that shows a time. */
const newestTimed = async (log: Backwards): Promise<StoredEvent | undefined> => {
  let read = 0;
  for await (const events of log.readAllBack(Infinity)) {
    const found = events.find(isTimed);
    read += events.length;
    if (found || read >= mostRead) return found;
  }
  return undefined;
};

type Needs = { readonly opened: OpenedLog; readonly patiently: Patiently; readonly warn: Log };

/**
 * The clock of a node, compared with the log, before anything is stored. A clock that is not believed at a start is noted
 * in the log until it is: what this process stores meanwhile proves nothing to the next one.
 */
export const openNodeClock = async ({ opened, patiently, warn }: Needs): Promise<GuardedClock> => {
  const log: EventStore & Backwards = 'embedded' in opened ? opened.embedded : opened.remote;
  const doubted = await patiently(() => log.checkpoint(doubtedCheckpoint));
  const newest = await patiently(async () => (doubted && (await log.at(doubted))) || (await newestTimed(log)));
  const clock = guardedClock({
    now: Date.now,
    monotonic: () => performance.now(),
    newest: newest && timeOf(indexed(newest)),
    onJump: ({ by, until, why }) => warn(why, { by, until: new Date(until).toISOString() }),
  });
  const stopping = new AbortController();
  const failed = (error: unknown): void => warn('That the clock is doubtful cannot be noted in the log', { error });
  const isDoubtful = clock.time() === undefined;
  if (newest && isDoubtful && doubted === undefined)
    await patiently(() => log.setCheckpoint(doubtedCheckpoint, newest.position)).catch(failed);
  const noteBelief = async (): Promise<void> => {
    await clock.believed(stopping.signal);
    if (!stopping.signal.aborted) await log.removeCheckpoint(doubtedCheckpoint);
  };
  if (isDoubtful || doubted !== undefined) void noteBelief().catch(failed);
  return {
    ...clock,
    stop: () => {
      stopping.abort();
      clock.stop();
    },
  };
};
