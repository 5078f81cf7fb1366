import { setTimeout as pause } from 'node:timers/promises';
import { type Leadership, type Log, leaderWork } from '@automation-platform/concurrency';
import type { AnchorLine } from '@automation-platform/log-proof';
import { type AnchorAt, tellRest } from '../../store/anchor.ts';
import type { EventStore } from '../../store/port.ts';

type Needs = {
  readonly store: EventStore;
  readonly leadership: Leadership;
  /** Where it is: each anchor is told all signatures. */
  readonly at: AnchorAt;
  /** Resolves once the anchor has the line. */
  readonly tell: (line: AnchorLine, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  /** How long a failed try is waited for at most. */
  readonly longestPauseMs?: number;
};

/** The state of the anchor, for health. `lag`: how many signatures it has not been told yet; null before that is known. */
export type AnchorStatus = { readonly lag: number | null; readonly fault: string | null };

/**
 * Tells the anchor each signature, in order, on the node that leads. One that does not answer is tried again. Signing
 * does not wait for it. After a stop the last line may be told again.
 */
export const anchoring = ({ store, leadership, at, tell, log, longestPauseMs = 60_000 }: Needs) => {
  let wake: () => void = () => undefined;
  let status: AnchorStatus = { lag: null, fault: null };

  const tellAll = (term: AbortSignal, goesOn: () => void): Promise<void> => {
    const left = (lag: number): void => {
      status = { ...status, lag };
    };
    const telling = async (line: AnchorLine, signal: AbortSignal): Promise<void> => {
      await tell(line, signal);
      status = { ...status, fault: null };
      goesOn();
    };
    return tellRest({ store, at, tell: telling, left }, term);
  };

  const follow = async (term: AbortSignal, goesOn: () => void): Promise<void> => {
    while (!term.aborted) {
      const woken = new AbortController();
      wake = () => woken.abort();
      await tellAll(term, goesOn);
      const either = AbortSignal.any([term, woken.signal]);
      await pause(longestPauseMs, undefined, { signal: either, ref: false }).catch(() => undefined);
    }
  };

  const { start, stop } = leaderWork({
    leadership,
    work: follow,
    onEnd: () => {
      status = { lag: null, fault: null };
    },
    pauseMs: 500,
    longestPauseMs,
    onFailure: (error, isNew) => {
      const fault = error instanceof Error ? error.message : String(error);
      status = { ...status, fault };
      if (isNew) log('The anchor of the log was not told; it is tried again', { fault });
    },
  });

  return {
    start,
    /** There is something to tell. */
    wake: (): void => wake(),
    stop,
    status: (): AnchorStatus => status,
  };
};
