import { randomUUID } from 'node:crypto';
import type { Event } from '../../domain/engine/core.ts';
import { encode, type Metadata } from '../../store/event.ts';
import type { EventStore } from '../../store/port.ts';
import type { End } from './loaded.ts';

/** What an event says of its cause; its hash is made when it is encoded. */
export type About = Omit<Metadata, 'hash'>;

/** An event, and the end of the stream that it goes to. */
export type One = {
  readonly stream: string;
  readonly at: End;
  readonly source: string;
  readonly event: Event;
  readonly about: About;
};

/** Appends an event that serves a command but does not carry it out: it does not bear the command's idempotency key. */
export const appendOne = async (store: EventStore, { stream, at, source, event, about }: One): Promise<void> => {
  const { idempotency: _, ...cause } = about;
  await store.append(stream, at.revision, [
    encode({ stream, revision: at.revision + 1, id: randomUUID(), source }, event, cause, at.hash),
  ]);
};
