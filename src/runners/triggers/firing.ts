import type { Actor } from '../../domain/engine/core.ts';
import type { AutomationContent } from '../../domain/operations-manager/automations.ts';
import type { RefusalReason } from '../../domain/operations-manager/triggerRuns.ts';
import { derivedId } from '../../store/derivedIds.ts';
import type { StoredEvent } from '../../store/port.ts';
import type { Definition } from './definitions.ts';
import type { Read } from './read.ts';

/** An event that fires a trigger: both as they were at the event's position. */
export type Firing = {
  readonly event: StoredEvent;
  /** The event as it was read; the error if it cannot be read. */
  readonly read: Read;
  readonly definition: Definition;
  /** Undefined if the trigger had no automation then. */
  readonly automation: AutomationContent | undefined;
};

/** True if an event may fire triggers at all: events that nobody may see, and what triggers themselves note, do not. */
export type MayFire = (event: Pick<StoredEvent, 'stream' | 'type'>) => boolean;

/** Why there is no job, in a word and in a sentence. */
export type Refusal = { readonly reason: RefusalReason; readonly message: string };

/**
 * The decision about a firing as of now. `unseen`: the account may not see the event, so nothing is stored. `depth`
 * is that of the event.
 */
export type Verdict =
  | { readonly kind: 'unseen' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'starts'; readonly actor: Actor; readonly depth: number };

export type Decide = (firing: Firing) => Promise<Verdict>;

/** The outcome of a start. `isNew`: there was no such job before. */
export type Started =
  | { readonly job: string; readonly at: string; readonly isNew: boolean }
  | { readonly refusal: Refusal };

/** The id of the parked run of a trigger by an event. */
export const parkedIdOf = (event: string, trigger: string): string => derivedId(`parked ${event} ${trigger}`);
