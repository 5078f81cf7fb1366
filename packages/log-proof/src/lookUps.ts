import type { StoredEvent } from '@automation-platform/event-log';

/** The questions that a check may ask of the log. A log that is a stream of lines answers none. */
export type LookUps = {
  /** True if positions have no gaps, as in a file of this program. */
  readonly dense: boolean;
  /** The event at a revision of a stream. Without it, the newest event of every stream is kept in memory. */
  readonly find?:
    | ((stream: string, revision: number) => Pick<StoredEvent, 'position' | 'metadata'> | undefined)
    | undefined;
  /** The sum that was stored for an event without a link. */
  readonly sumAt?: ((position: number) => string | undefined) | undefined;
  /** True if a stream of content in parts is what its name says. */
  readonly arePartsRight?: ((stream: string) => boolean) | undefined;
};
