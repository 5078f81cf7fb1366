/** An event as it goes into the log. `data` and `metadata` are `JSON.stringify` texts: the hash is over these texts. */
export type NewEvent = {
  /** UUID. A retry of an append sends the same ids. */
  readonly id: string;
  /** `<source>:<topic>`, split at the last colon. */
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
};

/**
 * An event as the log returns it. Revisions count from 0 in each stream. Positions ascend over the whole log; they
 * begin above 0 and may have gaps.
 */
export type StoredEvent = NewEvent & {
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  /** The reason when content in another stream is missing or damaged. `data` is then as the log has it. */
  readonly incomplete?: string;
};

/** Where an append ended: revision and position of its last event. */
export type Appended = { readonly revision: number; readonly position: number };

/**
 * Some events in order. Everything up to `position` that passes the filter has now been delivered. With a filter,
 * `position` may be behind the head by some events that do not pass. Without a filter, it is the position of the last
 * event.
 */
export type Batch = { readonly events: readonly StoredEvent[]; readonly position: number };

/** Prefixes, e.g. `@platform/operations-manager:`. An event passes if its type begins with one of them. */
export type Filter = readonly string[];

/** The stream was not at the expected revision. Nothing was stored. */
export class WrongRevision extends Error {
  readonly actual: number;
  constructor(stream: string, expected: number, actual: number) {
    super(`Expected ${stream} at revision ${expected}, found ${actual}`);
    this.name = 'WrongRevision';
    this.actual = actual;
  }
}

/** How many bytes one event and one append may have. */
export const maxEvent = 512 * 1024;
export const maxAppend = 900 * 1024;

/** The limit that the events of one append exceed, together or one of them alone: in bytes, and as a message. */
export const sizeFault = (
  events: readonly NewEvent[],
): { readonly most: number; readonly message: string } | undefined => {
  let total = 0;
  for (const { type, data, metadata } of events) {
    const size = Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(metadata);
    if (size > maxEvent)
      return { most: maxEvent, message: `One event may hold ${maxEvent} bytes, this one has ${size}` };
    total += size;
  }
  return total > maxAppend
    ? { most: maxAppend, message: `One change may hold ${maxAppend} bytes, this one has ${total}` }
    : undefined;
};
