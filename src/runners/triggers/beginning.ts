import { type EventStore, WrongRevision } from '../../store/port.ts';
import { cursorOfTrigger, triggersReader } from '../../store/readers.ts';
import type { TriggerBook } from './book.ts';
import { definitionTypes } from './definitions.ts';
import { refusedIn, refusedType, settledEarlier } from './earlier.ts';
import type { Firing } from './firing.ts';

/**
 * Where a reader begins in a log that it has never read: at the head. What happened before fires nothing. Returns the
 * stored checkpoint.
 */
export const beginning = async (store: EventStore, reader: string): Promise<number> => {
  const head = await store.head();
  try {
    await store.takeCheckpoint(reader);
    await store.keepCheckpoint(reader, head);
    return head;
  } catch (error) {
    if (!(error instanceof WrongRevision)) throw error;
    return (await store.checkpoint(reader)) ?? head;
  }
};

/** What a reader knows when it begins. */
export type Beginning = {
  /** The place of the common reader, and those of triggers that are behind it. */
  readonly from: number;
  readonly cursors: ReadonlyMap<string, number>;
  /** The event of the last refusals in the log, by trigger. */
  readonly lastRefused: Map<string, string>;
  /** Whether an earlier reader has settled a firing without a job. */
  readonly settledBefore: (firing: Pick<Firing, 'event' | 'definition'>) => boolean;
};

/**
 * Takes the places of the reader: from here on, a process that has led before and does not know better can move none of
 * them. Fills the book up to the place of the common reader.
 */
export const begin = async (
  store: EventStore,
  { learn }: Pick<TriggerBook, 'learn'>,
  { signal, breathe }: { readonly signal: AbortSignal; readonly breathe: () => Promise<void> | undefined },
): Promise<Beginning> => {
  const from = (await store.takeCheckpoint(triggersReader)) ?? (await beginning(store, triggersReader));
  const cursors = new Map<string, number>();
  for (const name of (await store.checkpointsOf(triggersReader)).keys()) {
    const position = await store.takeCheckpoint(name);
    if (position !== undefined) cursors.set(name.slice(cursorOfTrigger('').length), position);
  }
  const lastRefused = new Map<string, string>();
  for await (const { events, position } of store.readAll(0, [...definitionTypes, refusedType])) {
    for (const event of events) {
      if (event.position > from) break;
      learn(event);
      const refused = refusedIn(event);
      if (refused) lastRefused.set(refused.trigger, refused.event);
      await breathe();
    }
    signal.throwIfAborted();
    if (position >= from) break;
  }
  let least = from;
  for (const cursor of cursors.values()) least = Math.min(least, cursor);
  const settledBefore = await settledEarlier(store, least, ({ trigger, event }) => lastRefused.set(trigger, event));
  return { from, cursors, lastRefused, settledBefore };
};
