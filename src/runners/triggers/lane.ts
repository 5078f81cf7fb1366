import type { Backlog } from './backlog.ts';
import { type Carried, type CarryingNeeds, carrying } from './carrying.ts';
import type { Firing, Verdict } from './firing.ts';
import type { RateLimit } from './rate.ts';
import { type Refused, refusals } from './refusals.ts';
import type { Hold, ReadersWindow } from './window.ts';

/** A firing on its way. `before`: the position just before its event. */
type Run = Carried & { readonly before: number; readonly since: number; readonly hold?: Hold | undefined };

export type LaneNeeds = Omit<CarryingNeeds<Run>, 'rate' | 'refused' | 'behind' | 'leave' | 'settle'> & {
  readonly refuse: (trigger: string, refused: Refused) => Promise<void>;
  /** Keeps the trigger's own cursor; undefined removes it. Resolves when that is durable. */
  readonly keep: (trigger: string, position: number | undefined) => Promise<void>;
  readonly backlog: (trigger: string, from: number) => Backlog;
  readonly window: ReadersWindow;
  /** Called once with an error after which the reader must begin anew. */
  readonly failed: (error: unknown) => void;
  /** Milliseconds since some moment, whatever becomes of the clock. */
  readonly elapsed: () => number;
  /** Resolves at once, or after others had their turn, if this work has taken long. */
  readonly breathe: () => Promise<void> | undefined;
};

/** A run that is not settled after so many milliseconds makes its trigger leave the common reader. */
const lateMs = 3000;
const mostWaiting = 100;

/**
 * The runs of one trigger, in the order of their events, one after the other.
 *
 * A trigger that must wait (because of its rate, or a start that fails or takes long) falls behind: it gets a cursor of
 * its own. Once the cursor is stored, the common reader no longer waits for it. When the trigger has settled all that
 * it was given, it reads on by itself from where the common reader gave it no more. It gives the cursor up when it has
 * come to where the common reader is.
 */
export const lane = (trigger: string, rate: RateLimit, needs: LaneNeeds, cursor?: number) => {
  const { window, signal, elapsed } = needs;
  /** The runs that are not settled. */
  const open = new Set<Run>();
  /** Those of them that have not begun. */
  const queue: Run[] = [];
  let backlog = cursor === undefined ? undefined : needs.backlog(trigger, cursor);
  let kept = cursor;
  /** The trigger has read so far by itself. That may be further than the common reader has come. */
  let readUpTo = 0;
  let keeping = Promise.resolve();
  let working: Promise<void> | undefined;
  const refused = refusals({ store: (gathered) => needs.refuse(trigger, gathered), signal });

  const first = (): Run | undefined => open.values().next().value;

  /** All events up to here are settled for this trigger; undefined while the common reader speaks for it. */
  const place = (): number | undefined => backlog && (first()?.before ?? backlog.position());

  const settle = (run: Run): void => {
    open.delete(run);
    run.hold?.release();
  };

  /** Stores the cursor as it is when it is this call's turn. Then the common reader need not wait for the runs. */
  const keep = (): Promise<void> => {
    keeping = keeping.then(async () => {
      const wanted = place();
      const covered = wanted === undefined ? [] : [...open];
      if (wanted !== kept) await needs.keep(trigger, wanted);
      kept = wanted;
      for (const { hold } of covered) hold?.release();
    });
    const mine = keeping;
    keeping = mine.catch(() => undefined);
    return mine;
  };

  /** Leaves the common reader. If the cursor cannot be stored, the reader begins anew. */
  const leave = (): void => {
    if (backlog) return;
    backlog = needs.backlog(trigger, window.position());
    keep().catch((error: unknown) => needs.failed(error));
    begin();
  };

  const { carryOut, wake } = carrying(trigger, {
    ...needs,
    rate,
    refused,
    behind: () => backlog !== undefined,
    leave,
    settle,
  });

  /** Reads on. Returns false once there is nothing more to do: the common reader speaks for this trigger again. */
  const readOn = async (own: Backlog): Promise<boolean> => {
    await own.read(mostWaiting, (firing, before) => {
      const run = { ...firing, before, since: elapsed() };
      open.add(run);
      queue.push(run);
    });
    if (queue.length > 0) return true;
    // The cursor must not go while refusals wait.
    if (open.size > 0) await refused.stored();
    else if (own.position() >= window.position()) {
      readUpTo = own.position();
      backlog = undefined;
      return false;
    }
    return true;
  };

  const work = async (): Promise<void> => {
    for (;;) {
      await needs.breathe();
      signal.throwIfAborted();
      const run = queue.shift();
      if (run) await carryOut(run);
      else if (!backlog) return;
      else if (!(await readOn(backlog))) {
        await keep();
        return;
      }
    }
  };

  /** Works until there is nothing to do. */
  const begin = (): void => {
    working ??= work()
      .catch((error: unknown) => {
        if (!signal.aborted) needs.failed(error);
      })
      .finally(() => {
        working = undefined;
        if (!signal.aborted && (queue.length > 0 || backlog)) begin();
      });
  };

  if (backlog) begin();

  return {
    behind: (): boolean => backlog !== undefined,
    waiting: (): number => open.size,
    /** Whether nothing would be lost with this lane. */
    idle: (): boolean =>
      open.size === 0 && !backlog && kept === undefined && !working && readUpTo <= window.position() && rate.idle(),
    place,
    /** Takes a firing from the common reader. It may have carried it out before. */
    take: (firing: Firing, before: number, hold: Hold, verdict: Promise<Verdict>): void => {
      if (firing.event.position <= readUpTo) {
        hold.release();
        return;
      }
      const run: Run = { ...firing, before, since: elapsed(), hold, verdict };
      open.add(run);
      queue.push(run);
      begin();
    },
    /** Call when the trigger has changed: it may have been disabled. */
    changed: wake,
    /** Call once a second. Falls behind if a run takes long; stores the cursor. */
    tick: async (): Promise<void> => {
      if (!backlog && elapsed() - (first()?.since ?? Infinity) > lateMs) leave();
      if (place() !== kept) await keep();
    },
    ended: async (): Promise<void> => {
      await working;
      await keeping;
    },
  };
};

export type Lane = ReturnType<typeof lane>;
