import type { EventStore, StoredEvent } from '../port.ts';
import { memberOf, writingNewest } from './checkpoints.ts';
import type { EventStoreDbReads } from './reads.ts';

/** A process that leads, and the node that it is a process of. */
export type Leader = { readonly node: string; readonly process: string };

/** The newest event about the lead. `revision` is -1 if there is none. `leader` is undefined if the lead is free. */
export type LeadNote = { readonly revision: number; readonly leader: Leader | undefined };

/**
 * The stream that says which process leads. It is a stream of checkpoints, so it is in no copy, signature or list of
 * events.
 */
export const leadStream = 'checkpoint-leader';
const leadTakenType = '@platform/log:leadTaken';
const released = '@platform/log:leadReleased';

/** The note in an event of the stream. A node that is not named has not got the lead. */
export const leadNoteIn = (event: StoredEvent): LeadNote => {
  const [node, process] = [memberOf(event, 'node'), memberOf(event, 'process')];
  const isNamed = event.type === leadTakenType && typeof node === 'string' && typeof process === 'string';
  return { revision: event.revision, leader: isNamed ? { node, process } : undefined };
};

/** Reads and writes who leads. */
export type LeadNotes = {
  newest(): Promise<LeadNote>;
  /**
   * Notes after a revision that the process leads, or that it leads no more. Returns the new revision. Throws
   * `WrongRevision` if another process has noted something since.
   */
  note(after: number, leader: Leader, what: 'leads' | 'leaves'): Promise<number>;
};

export const eventStoreDbLead = (reads: Pick<EventStoreDbReads, 'newest'>, append: EventStore['append']): LeadNotes => {
  const write = writingNewest(append);
  return {
    newest: async () => {
      const event = await reads.newest(leadStream);
      return event ? leadNoteIn(event) : { revision: -1, leader: undefined };
    },
    note: (after, leader, what) => write(leadStream, after, what === 'leads' ? leadTakenType : released, leader),
  };
};
