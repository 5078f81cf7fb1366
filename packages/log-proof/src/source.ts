import type { StoredEvent } from '@automation-platform/event-log';
import type { Noted } from './cut.ts';
import type { Finding } from './findings.ts';
import type { LookUps } from './lookUps.ts';
import type { SignedExport } from './trust.ts';

/** A log to verify. */
export type Source = {
  readonly id: string | undefined;
  /** Position of the last event, as of the opening. */
  readonly head: number;
  readonly lookUps: LookUps;
  /** The newest event that the note beside the log names. */
  readonly noted: Noted | undefined;
  /** The findings about a file as a whole. */
  readonly findings: readonly Finding[];
  /** The signature of an export as a whole, if its lines are those that were signed. */
  readonly signed: SignedExport | undefined;
  /** The events of the stream of signatures, in order. */
  readonly proofs: () => Promise<readonly StoredEvent[]>;
  readonly at: (position: number) => Promise<StoredEvent | undefined>;
  /** All events in order, some at a time. */
  readonly events: () => AsyncIterable<readonly StoredEvent[]>;
  readonly close: () => Promise<void>;
};
