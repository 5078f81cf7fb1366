import { setTimeout as pause } from 'node:timers/promises';
import { type Leadership, type Log, leaderWork } from '@automation-platform/concurrency';
import {
  endOfProofs,
  isLine,
  type Place,
  proofAppends,
  type SigningKeys,
  unsignedLines,
} from '@automation-platform/log-proof';
import { type EventStore, type StoredEvent, WrongRevision } from '../../store/port.ts';
import { proofEvent } from '../../store/proofEvent.ts';

/** When the log is signed: after a number of events, or a time after the first event that is not signed yet. */
export type SigningPace = { readonly events: number; readonly afterMs: number; readonly lookMs: number };

const usualPace: SigningPace = { events: 10_000, afterMs: 10 * 60_000, lookMs: 1000 };

type Needs = {
  readonly store: EventStore;
  readonly keys: SigningKeys;
  readonly leadership: Leadership;
  /** Resolves once this node shows what the log has: until then the log is read by the read models, which are more urgent. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Called after each signature is stored. */
  readonly onSigned: () => void;
  readonly now: () => number;
  readonly newId: () => string;
  readonly log: Log;
  readonly pace?: SigningPace;
};

/** The state of the signatures, for health. The numbers are null on a node that does not sign. */
export type SigningStatus = {
  /** How many events signatures cover. */
  readonly signed: number | null;
  /** How many more events this node has read. */
  readonly unsigned: number | null;
  readonly fault: string | null;
};

// After fewer events than that, more are awaited for so long: to look less often costs those who append less.
const manyEvents = 500;
const gatherMs = 10;

const idle: SigningStatus = { signed: null, unsigned: null, fault: null };

const positionOf = async (store: Needs['store'], { stream, revision, id }: Place): Promise<number> => {
  for await (const [event] of store.read(stream, revision)) {
    if (event?.id === id && event.revision === revision) return event.position;
    break;
  }
  throw new Error(`The log lacks event ${revision} of stream ${stream}, at which its last signature ends`);
};

/** When an event happened. A clock that is ahead, or an event without a time, counts as now. */
const timeOf = ({ metadata }: StoredEvent, now: number): number => {
  try {
    const { at } = JSON.parse(metadata) as { readonly at?: unknown };
    return Math.min(now, Date.parse(String(at)) || now);
  } catch {
    return now;
  }
};

/**
 * Signs the log, on the node that leads. A log that nobody has signed yet is signed from its beginning. Of two nodes
 * that sign at once, the slower one drops its signature and goes on from that of the other.
 */
export const signer = ({ store, keys, leadership, ready, onSigned, now, newId, log, pace = usualPace }: Needs) => {
  let status = idle;

  const follow = async (term: AbortSignal, goesOn: () => void): Promise<void> => {
    const end = await endOfProofs(store);
    const after = end.signed ? await positionOf(store, end.signed.upTo) : 0;
    const proofs = proofAppends({ store, keys, end, now, newId, write: proofEvent });
    let signed = end.signed?.events ?? 0;
    let pending = unsignedLines({ events: signed, digest: end.signed?.digest ?? '' });
    let since: number | undefined;
    const failed = new AbortController();

    const sign = async (): Promise<void> => {
      const lines = pending;
      const begin = lines.end();
      pending = unsignedLines(begin);
      since = undefined;
      await proofs.sign(lines);
      signed = begin.events;
      onSigned();
    };

    const look = (): void => {
      status = { signed, unsigned: pending.lines(), fault: null };
      const first = pending.first();
      if (first) since ??= timeOf(first, now());
      if (since === undefined || now() - since < pace.afterMs) return;
      sign().catch((error: unknown) => failed.abort(error));
    };

    const timer = setInterval(look, pace.lookMs).unref();
    try {
      for await (const { events } of store.follow(after, undefined, AbortSignal.any([term, failed.signal]))) {
        for (const event of events) {
          if (!isLine(event)) continue;
          pending.add(event);
          if (pending.lines() === pace.events) await sign();
        }
        goesOn();
        if (events.length < manyEvents) await pause(gatherMs, undefined, { signal: term, ref: false });
      }
      failed.signal.throwIfAborted();
    } finally {
      clearInterval(timer);
    }
  };

  const onFailure = (error: unknown, isNew: boolean): void => {
    // Another node was faster. Its signature is as good.
    if (error instanceof WrongRevision) return;
    const fault = error instanceof Error ? error.message : String(error);
    status = { ...status, fault };
    if (isNew) log('The log is not signed now; it is tried again', { fault });
  };

  const onEnd = (): void => {
    status = idle;
  };

  const patience = { pauseMs: 200, longestPauseMs: 30_000 };
  const { start, stop } = leaderWork({ leadership, ready, work: follow, onEnd, ...patience, onFailure });
  return { start, stop, status: (): SigningStatus => status };
};
