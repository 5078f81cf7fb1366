import type { Principal } from '../authentication/principal.ts';
import { keyOf, type Wanted, wants } from './asked.ts';
import type { Reader, Readers } from './readers.ts';
import { streamEvents } from './streamEvents.ts';

/** What a reader of events has asked for, and how it gets it. */
type Asked = {
  readonly wanted: Wanted;
  /** Readers with the same key want the same events. */
  readonly wantedKey: string;
  readonly isWanted: ReturnType<typeof wants>;
  /** True if it is told of events as they arrive. Otherwise it catches up. */
  isLive: boolean;
};

export type EventReader = Reader & Asked;
export type EventReaders = Readers<Asked>;

export const askedFor = (wanted: Wanted): Asked => ({
  wanted,
  wantedKey: keyOf(wanted),
  isWanted: wants(wanted),
  isLive: false,
});

export const mayStream = (principal: Principal | undefined): principal is Principal =>
  principal?.may(streamEvents.area, streamEvents.row) === true;
