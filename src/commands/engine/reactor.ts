import { type Leadership, whileLeading } from '../../projections/engine/leadership.ts';
import type { Recorded } from '../../store/event.ts';
import type { EventStore } from '../../store/port.ts';
import type { Tools } from './define.ts';
import type { Handle } from './handle.ts';
import { reactionReader } from './reactionReader.ts';
import { reactionRuns } from './reactionRuns.ts';
import { type Reaction, reactionTable } from './reactions.ts';
import type { Streams } from './streams.ts';

type Needs = {
  readonly store: EventStore;
  readonly tools: Tools;
  readonly handle: Handle;
  /** Events of a stream by revision. */
  readonly events: Streams['events'];
  readonly reactions: readonly Reaction[];
  /** Waits until the read models hold everything up to the position. */
  readonly reached: (position: number) => Promise<void>;
  /** Who has it reads the log. */
  readonly leadership: Leadership;
  /** Resolves once the read models show what the log had when this process began to follow it, or the signal aborts. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** How long who has caused an event waits for what follows from it; 2 s unless given. */
  readonly patienceMs?: number;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/**
 * Carries out what follows from events: at once for the events of this node, and from the log, while this process
 * leads, for those that a stopped process left behind.
 */
export const reactor = ({ reactions, leadership, patienceMs = 2000, ...needs }: Needs) => {
  const stop = new AbortController();
  const table = reactionTable(reactions);
  const runs = reactionRuns({ ...needs, table, stop: stop.signal });
  const readWhileLeading = reactionReader({ ...needs, table, runs });
  let reading = Promise.resolve();

  /** Those of the events from which something follows that their request waits for. */
  const waitedFor = (events: readonly Recorded[]): readonly Recorded[] =>
    events.filter(({ stream, source, topic }) => {
      const following = table.following(stream, `${source}:${topic}`);
      return following.length > 0 && following.every(({ background }) => !background);
    });

  /** What follows from the events, one after the other, until nobody waits for it any more. */
  const reactToAll = async (events: readonly Recorded[], left: AbortSignal): Promise<number> => {
    let highest = 0;
    for (const event of events) if (!left.aborted) highest = Math.max(highest, await runs.react(event).catch(() => 0));
    return highest;
  };

  return {
    /**
     * Waits for what follows from the events, and tells the highest position that was reached; a part that fails is
     * left to the log reader. What takes longer than `patienceMs` goes on while nobody waits, and the log reader, here
     * or on the node that leads, sees to it that it is done; the position is 0 then. `waitForAll`: waits for all,
     * however long it takes.
     */
    follow: async (events: readonly Recorded[], waitForAll: boolean): Promise<number> => {
      const concerning = waitedFor(events);
      if (concerning.length === 0) return 0;
      const left = new AbortController();
      const all = reactToAll(concerning, left.signal);
      if (waitForAll) return all;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<number>((resolve) => {
        timer = setTimeout(() => {
          left.abort();
          resolve(0);
        }, patienceMs);
      });
      return Promise.race([all, late]).finally(() => clearTimeout(timer));
    },
    /** Begins to read the log. */
    start: (): void => {
      if (table.types.length > 0) reading = whileLeading(leadership, stop.signal, readWhileLeading);
    },
    /** Lets the parts under way end. */
    stop: async (): Promise<void> => {
      stop.abort();
      await reading;
      await runs.ended();
    },
  };
};
