import { setTimeout as pause } from 'node:timers/promises';
import { supervise } from '../../concurrency/supervise.ts';
import { type Leadership, whileLeading } from '../../projections/engine/leadership.ts';
import type { Metadata } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { type AnchorLine, rewrittenLine, signedLine } from '../../store/proof/anchor.ts';
import { proofIn } from '../../store/proof/digestLog.ts';
import { digestStream } from '../../store/proof/lines.ts';

type Needs = {
  readonly store: Pick<EventStore, 'id' | 'read' | 'checkpoint' | 'setCheckpoint'>;
  readonly leadership: Leadership;
  /** Resolves once the anchor has the line. */
  readonly tell: (line: AnchorLine, signal: AbortSignal) => Promise<void>;
  readonly log: (message: string, about: Record<string, unknown>) => void;
  /** How long a failed try is waited for at most. */
  readonly longestPauseMs?: number;
};

/** What health says of the anchor. `lag`: how many signatures it has not been told yet; null before that is known. */
export type AnchorStatus = { readonly lag: number | null; readonly fault: string | null };

/** The checkpoint that says how many events of the stream of signatures the anchor was told. */
const checkpoint = 'anchor';

const lineOf = (log: string, event: StoredEvent): AnchorLine | undefined => {
  const proof = proofIn(event);
  if (!proof || proof.topic === 'signingKeyChanged') return undefined;
  const { at } = JSON.parse(event.metadata) as Metadata;
  return proof.topic === 'digestSigned' ? signedLine({ log, at }, proof.data) : rewrittenLine({ log, at }, proof.data);
};

/**
 * Tells the anchor each signature, in order, on the node that leads. One that does not answer is tried again. Signing
 * does not wait for it. After a stop the last line may be told again.
 */
export const anchoring = ({ store, leadership, tell, log, longestPauseMs = 60_000 }: Needs) => {
  const stop = new AbortController();
  let wake: () => void = () => undefined;
  let status: AnchorStatus = { lag: null, fault: null };
  let done = Promise.resolve();

  const tellAll = async (term: AbortSignal, goesOn: () => void): Promise<void> => {
    const told = (await store.checkpoint(checkpoint)) ?? 0;
    const waiting: StoredEvent[] = [];
    for await (const events of store.read(digestStream, told)) waiting.push(...events);
    status = { ...status, lag: waiting.length };
    for (const [n, event] of waiting.entries()) {
      const line = lineOf(store.id, event);
      if (line) await tell(line, term);
      await store.setCheckpoint(checkpoint, event.revision + 1);
      status = { lag: waiting.length - n - 1, fault: null };
      goesOn();
    }
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

  const work = async (term: AbortSignal): Promise<void> => {
    await supervise((goesOn) => follow(term, goesOn), {
      signal: term,
      pauseMs: 500,
      longestPauseMs,
      onFailure: (error, isNew) => {
        const fault = error instanceof Error ? error.message : String(error);
        status = { ...status, fault };
        if (isNew) log('The anchor of the log was not told; it is tried again', { fault });
      },
    });
    status = { lag: null, fault: null };
  };

  return {
    start: (): void => {
      done = whileLeading(leadership, stop.signal, work);
    },
    /** There is something to tell. */
    wake: (): void => wake(),
    stop: (): Promise<void> => {
      stop.abort();
      return done;
    },
    status: (): AnchorStatus => status,
  };
};
