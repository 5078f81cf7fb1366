import type { Log } from '@automation-platform/concurrency';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type Appended, checkSize, type NewEvent, type StoredEvent, WrongRevision } from '../port.ts';
import type { Newest } from './follow.ts';
import { element, type StreamEnds } from './reads.ts';
import type { AsLeft, WriterOptions } from './transactions.ts';
import type { Failure, Reply, Request, Told } from './writer.ts';
import { writerThread } from './writerThread.ts';

/** Counts of commits since the store was opened. */
export type Stats = { readonly commits: number; readonly appends: number; readonly events: number };

type Needs = {
  readonly options: WriterOptions;
  /** The log's id. */
  readonly id: string;
  /** The log's last event. */
  readonly last: AsLeft['acknowledged'];
  readonly news: Newest;
  readonly ends: StreamEnds;
  /** Position of the event at a revision of a stream, if it has that id. */
  readonly find: (stream: string, revision: number, id: string) => number | undefined;
  readonly log: Log;
  readonly anySize: boolean;
};

// While the writer is busy, appends wait for one another: a message costs more than what it carries.
const fullRequest = 16;
const maxRequest = 256 * 1024;

// Removes a checkpoint.
const noPosition = -1;

/** The events of an entry as they are stored. `position` is the position of the last one. */
const storedEvents = ({ stream, expected, events }: Entry, position: number): StoredEvent[] => {
  const before = position - events.length;
  return events.map(({ id, type, data, metadata }, n) => ({
    stream,
    revision: expected + 1 + n,
    position: before + 1 + n,
    id,
    type,
    data,
    metadata,
  }));
};

/** The error for an entry with a position of 0 or -1 in the writer's reply. */
const requestErrorIn = ({ stream, expected }: Entry, revision: number, position: number): Error =>
  position < 0 ? notStored('another program is writing to its file') : new WrongRevision(stream, expected, revision);

/** Settles an entry after two failed writers. The log was opened again, so it shows whether the events are stored. */
const findOut = ({ stream, expected, events, resolve, reject }: Entry, find: Needs['find'], fault: string): void => {
  const revision = expected + events.length;
  const last = events.at(-1);
  try {
    const position = last && find(stream, revision, last.id);
    if (position === undefined) reject(notStored(fault));
    else resolve({ revision, position });
  } catch {
    reject(unknownOutcome(fault));
  }
};

/**
 * Returns the entries that wait for the next writer after a failure, and rejects the rest. `ready`: whether the
 * failed writer had started.
 */
const leftAfter = (waiting: readonly Entry[], failure: Failure, ready: boolean): Entry[] => {
  const { reason, full, forGood, unsure } = failure;
  const remaining: Entry[] = [];
  for (const [n, entry] of waiting.entries()) {
    entry.failures++;
    entry.unsure ||= n < unsure;
    // With a full disk the log may refuse appends for long. No caller should wait for that.
    const again = ready && !full && !forGood && (entry.unsure || entry.failures === 1);
    if (again) remaining.push(entry);
    else entry.reject(entry.unsure ? unknownOutcome(reason) : notStored(reason));
  }
  return remaining;
};

/** Keeps the reason why the note beside the log cannot be written. */
const noteFaults = (log: Needs['log']) => {
  let fault: string | undefined;
  return {
    fault: () => fault,
    told: (reason: string | null): void => {
      fault = reason ?? undefined;
      log(reason === null ? 'The note of the log is written again' : 'The note of the log cannot be written', {
        reason,
      });
    },
  };
};

/** A promise that can be settled from outside. Only the first call counts. */
const startSignal = () => {
  let settle: (error?: Error) => void = () => undefined;
  const ending = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });
  return { done: ending, settle };
};

/**
 * Hands appends to the writer's thread. The appends of one turn of the event loop are sent together, and while the thread
 * is busy those of several turns, up to a number and a size. When
 * the thread has failed, the next thread gets the waiting appends once more: their ids show whether they were stored.
 * New appends are refused meanwhile.
 */
export const sqliteAppends = ({ options, id, last, news, ends, find, log, anySize }: Needs) => {
  const stats = { commits: 0, appends: 0, events: 0 };
  let acknowledged = last;
  let waiting: Entry[] = [];
  let request = emptyRequest();
  let fault: string | undefined;
  let lastFault = '';
  let ready = false;
  let closed: (() => void) | undefined;
  const start = startSignal();
  const note = noteFaults(log);

  const send = (): void => {
    if (request.streams.length === 0) return;
    writer.send(request);
    request = emptyRequest();
  };

  const isFull = (): boolean => request.streams.length >= fullRequest || request.size >= maxRequest;

  /** Sends the appends of this turn of the event loop if the writer has nothing to do, or if they are many. */
  const sendUnlessBusy = (): void => {
    if (waiting.length === request.streams.length || isFull()) send();
  };

  const enqueue = (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> =>
    new Promise((resolve, reject) => {
      if (closed) throw new RequestError('unavailable', 'The log is closed');
      if (fault !== undefined) throw notStored(fault);
      if (request.streams.length === 0) setImmediate(sendUnlessBusy);
      const entry: Entry = { stream, expected, events, resolve, reject, failures: 0, unsure: false };
      waiting.push(entry);
      put(request, entry);
      if (isFull()) send();
    });

  const stored = (entry: Entry, newestEvent: NewEvent, position: number): void => {
    stats.appends++;
    stats.events += entry.events.length;
    news.add(storedEvents(entry, position));
    ends.set(entry.stream, entry.expected + entry.events.length);
    acknowledged = { position, id: newestEvent.id };
  };

  const settle = (entry: Entry, revision: number, position: number): void => {
    if (position <= 0) {
      entry.reject(requestErrorIn(entry, revision, position));
      return;
    }
    const newestEvent = entry.events.at(-1);
    // A checkpoint has no events. The events of a repeated append are known already.
    if (newestEvent && position > news.head()) stored(entry, newestEvent, position);
    entry.resolve({ revision, position });
  };

  const finishWhenIdle = (): void => {
    if (closed && waiting.length === 0) void writer.finish().then(closed);
  };

  const onSettled = (reply: Reply): void => {
    stats.commits++;
    const acknowledged = waiting.splice(0, reply.length / 2);
    for (const [n, entry] of acknowledged.entries()) settle(entry, element(reply, 2 * n), element(reply, 2 * n + 1));
    send();
    news.wake();
    finishWhenIdle();
  };

  const onReady = (head: number): void => {
    if (fault !== undefined) log('The log takes changes again', {});
    fault = undefined;
    ready = true;
    // Those of the writer before are in the file now, or not.
    ends.clear();
    news.reached(head);
    for (const entry of waiting.filter(({ failures }) => failures > 1)) findOut(entry, find, lastFault);
    waiting = waiting.filter(({ failures }) => failures <= 1);
    for (const entry of waiting) put(request, entry);
    send();
    news.wake();
    start.settle();
    finishWhenIdle();
  };

  const onFailed = (failure: Failure): void => {
    const { reason, forGood } = failure;
    if (fault === undefined) log('The log takes no changes', { reason });
    fault = reason;
    lastFault = reason;
    request = emptyRequest();
    // Appends whose outcome is unknown may be in the file.
    ends.clear();
    waiting = leftAfter(waiting, failure, ready);
    ready = false;
    start.settle(forGood ? new Error(reason) : undefined);
    finishWhenIdle();
  };

  const onMessage = (message: Told): void => {
    if ('settled' in message) onSettled(message.settled);
    else if ('ready' in message) onReady(message.ready.head);
    else if ('failed' in message) onFailed(message.failed);
    else note.told(message.note);
  };

  const writer = writerThread({ options, log: id, acknowledged: () => acknowledged, report: onMessage });

  return {
    /**
     * Resolves when the first writer is ready, or has failed and `fault` says why. Rejects when a new writer cannot
     * help.
     */
    started: start.done,
    append: async (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> => {
      if (!anySize) checkSize(events);
      return enqueue(stream, expected, events);
    },
    setCheckpoint: async (name: string, position: number): Promise<void> => {
      await enqueue(name, position, []);
    },
    removeCheckpoint: async (name: string): Promise<void> => {
      await enqueue(name, noPosition, []);
    },
    // No other process writes to the file.
    keepCheckpoint: async (name: string, position: number | undefined): Promise<void> => {
      await enqueue(name, position ?? noPosition, []);
    },
    fault: () => fault,
    noteFault: note.fault,
    stats: (): Stats => ({ ...stats }),
    /** Waits for the appends under way, refuses later ones, and ends the thread. */
    close: (): Promise<void> =>
      new Promise((resolve) => {
        closed = resolve;
        send();
        finishWhenIdle();
      }),
  };
};

/** An append that waits for the writer's reply. Without events it sets a checkpoint or removes it. */
export type Entry = {
  readonly stream: string;
  readonly expected: number;
  readonly events: readonly NewEvent[];
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: Error) => void;
  /** How many writers have failed before they replied. */
  failures: number;
  /** True if one of these writers may have stored the events. */
  unsure: boolean;
};

// Each append writes a page of the index to the WAL.
const pageSize = 4096;

const emptyRequest = (): Request => ({ streams: [], expected: [], counts: [], texts: [], size: 0 });

/** Adds an entry to a request. */
const put = (request: Request, { stream, expected, events }: Entry): void => {
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
const notStored = (reason: string): RequestError =>
  new RequestError('unavailable', `The log takes no changes now: ${reason}. Nothing was stored`);

/** The error when an append may be in the log. */
const unknownOutcome = (reason: string): RequestError =>
  new RequestError(
    'unavailable',
    `The log failed while this was being stored: ${reason}. ` +
      'Whether it was stored is unknown; a retry with the same Idempotency-Key settles it',
  );
