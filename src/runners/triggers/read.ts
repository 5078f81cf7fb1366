import { mark, plainValue } from '@automation-platform/json';
import { givenBy } from '../../commands/operations-manager/firing.ts';
import { type AnyEvent, decodeAny } from '../../store/anyEvent.ts';
import type { BadEvent } from '../../store/event.ts';
import type { StoredEvent } from '../../store/port.ts';

/** An event as it was read, or the error if it cannot be read. */
export type Read = AnyEvent | BadEvent;

/** Reads an event, or finds out why it cannot be read. */
export const readOf = (event: StoredEvent): Read => {
  try {
    return decodeAny(event);
  } catch (error) {
    return error as BadEvent; // it throws nothing else
  }
};

/** The payload as filters see it: numbers are those that JavaScript reads. */
export const payloadOf = ({ data: text }: Pick<StoredEvent, 'data'>, read: AnyEvent): unknown =>
  text.includes(`"${mark}"`) ? plainValue(givenBy(read)) : givenBy(read);
