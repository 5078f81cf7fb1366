import { RequestError } from '../../domain/engine/requestError.ts';
import type { Appended, NewEvent } from '../port.ts';
import type { Request } from './writer.ts';

/** An append that waits for the writer's reply. Without events it sets a checkpoint or removes it. */
export type Entry = {
  readonly stream: string;
  readonly expected: number;
  readonly events: readonly NewEvent[];
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: Error) => void;
  /** How many writers have failed before they replied. */
  failures: number;
  /** Whether one of these writers may have stored the events. */
  unsure: boolean;
};

// Each append writes a page of the index to the WAL.
const pageSize = 4096;

export const emptyRequest = (): Request => ({ streams: [], expected: [], counts: [], texts: [], size: 0 });

/** Adds an entry to a request. */
export const put = (request: Request, { stream, expected, events }: Entry): void => {
  request.streams.push(stream);
  request.expected.push(expected);
  request.counts.push(events.length);
  request.size += pageSize;
  for (const { id, type, data, metadata } of events) {
    request.texts.push(id, type, data, metadata);
    request.size += data.length + metadata.length;
  }
};

/** The error when nothing of an append is in the log. */
export const notStored = (reason: string): RequestError =>
  new RequestError('unavailable', `The log takes no changes now: ${reason}. Nothing was stored`);

/** The error when an append may be in the log. */
export const unknownOutcome = (reason: string): RequestError =>
  new RequestError(
    'unavailable',
    `The log failed while this was being stored: ${reason}. ` +
      'Whether it was stored is unknown; a retry with the same Idempotency-Key settles it',
  );
