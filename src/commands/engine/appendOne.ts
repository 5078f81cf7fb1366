import { randomUUID } from 'node:crypto';
import type { Event } from '../../domain/engine/core.ts';
import { encode, type Metadata } from '../../store/event.ts';
import type { EventStore } from '../../store/port.ts';
import type { End } from './loaded.ts';

/** The metadata of an event without its hash: `encode` adds the hash. */
export type About = Omit<Metadata, 'hash'>;

/** One event to append, with the end of its stream. */
export type One = {
  readonly stream: string;
  readonly at: End;
  readonly source: string;
  readonly event: Event;
  readonly about: About;
};

/**
 * Appends an event that a command needs on its way, such as a claim. The event does not carry the command's idempotency
 * key: only the command's own events do.
 */
export const appendOne = async (store: EventStore, { stream, at, source, event, about }: One): Promise<void> => {
  const { idempotency: _, ...cause } = about;
  await store.append(stream, at.revision, [
    encode({ stream, revision: at.revision + 1, id: randomUUID(), source }, event, cause, at.hash),
  ]);
};
