import { Refusal } from '../domain/engine/refusal.ts';
import { checkSize, WrongRevision, type Appended, type NewEvent } from './port.ts';
import { emptyRequest, type Entry, notStored, put, unknownOutcome } from './sqliteEntries.ts';
import type { Newest } from './sqliteFollow.ts';
import type { AsLeft, WriterOptions } from './sqliteTransactions.ts';
import type { Failure, Reply, Told } from './sqliteWriter.ts';
import { writerThread } from './sqliteWriterThread.ts';

/** What has been committed since the store was opened. */
export type Stats = { readonly commits: number; readonly appends: number; readonly events: number };

type Needs = {
  readonly options: WriterOptions;
  /** The log's id. */
  readonly id: string;
  /** The log's last event. */
  readonly last: AsLeft['acknowledged'];
  readonly news: Newest;
  /** Position of the event at a place, if it is that event. */
  readonly find: (stream: string, revision: number, id: string) => number | undefined;
  readonly log: (message: string, about: Record<string, unknown>) => void;
  readonly anySize: boolean;
};

const maxRequest = 256 * 1024;

/**
 * Hands appends to the writer's thread: those of one turn of the event loop together, up to a size. When the thread has
 * failed, the next one is given once more what waits: ids tell what was stored after all. What comes meanwhile is
 * refused.
 */
export const sqliteAppends = ({ options, id, last, news, find, log, anySize }: Needs) => {
  const stats = { commits: 0, appends: 0, events: 0 };
  let acknowledged = last;
  let waiting: Entry[] = [];
  let request = emptyRequest();
  let fault: string | undefined;
  let lastFault = '';
  let ready = false;
  let noteFault: string | undefined;
  let closed: (() => void) | undefined;
  let started: (error?: Error) => void = () => undefined;
  const start = new Promise<void>((resolve, reject) => {
    started = (error) => (error ? reject(error) : resolve());
  });

  const send = (): void => {
    if (request.streams.length === 0) return;
    writer.send(request);
    request = emptyRequest();
  };

  const enqueue = (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> =>
    new Promise((resolve, reject) => {
      if (closed) throw new Refusal('unavailable', 'The log is closed');
      if (fault !== undefined) throw notStored(fault);
      if (request.streams.length === 0) setImmediate(send);
      const entry: Entry = { stream, expected, events, resolve, reject, failures: 0, unsure: false };
      waiting.push(entry);
      put(request, entry);
      if (request.size >= maxRequest) send();
    });

  const stored = ({ stream, expected, events }: Entry, position: number): void => {
    stats.appends++;
    stats.events += events.length;
    const before = position - events.length;
    news.add(
      events.map(({ id, type, data, metadata }, n) => ({
        stream,
        revision: expected + 1 + n,
        position: before + 1 + n,
        id,
        type,
        data,
        metadata,
      })),
    );
    acknowledged = { position, id: events.at(-1)!.id };
  };

  const settle = (entry: Entry, revision: number, position: number): void => {
    const { stream, expected, events, resolve, reject } = entry;
    if (position < 0) return reject(notStored('another program is writing to its file'));
    if (position === 0) return reject(new WrongRevision(stream, expected, revision));
    // Not so for a checkpoint, and for a repeated append.
    if (events.length > 0 && position > news.head()) stored(entry, position);
    resolve({ revision, position });
  };

  const finishWhenIdle = (): void => {
    if (closed && waiting.length === 0) void writer.finish().then(closed);
  };

  const onSettled = (reply: Reply): void => {
    stats.commits++;
    const settled = waiting.splice(0, reply.length / 2);
    for (const [n, entry] of settled.entries()) settle(entry, reply[2 * n]!, reply[2 * n + 1]!);
    news.wake();
    finishWhenIdle();
  };

  /** Answers what has failed twice: now that the log was opened again, it is known what became of it. */
  const findOut = ({ stream, expected, events, resolve, reject }: Entry): void => {
    const revision = expected + events.length;
    try {
      const position = events.length > 0 ? find(stream, revision, events.at(-1)!.id) : undefined;
      if (position === undefined) reject(notStored(lastFault));
      else resolve({ revision, position });
    } catch {
      reject(unknownOutcome(lastFault));
    }
  };

  const onReady = (head: number): void => {
    if (fault !== undefined) log('The log takes changes again', {});
    fault = undefined;
    ready = true;
    news.reached(head);
    for (const entry of waiting.filter(({ failures }) => failures > 1)) findOut(entry);
    waiting = waiting.filter(({ failures }) => failures <= 1);
    for (const entry of waiting) put(request, entry);
    send();
    news.wake();
    started();
    finishWhenIdle();
  };

  const onFailed = ({ reason, full, forGood, unsure }: Failure): void => {
    if (fault === undefined) log('The log takes no changes', { reason });
    fault = lastFault = reason;
    request = emptyRequest();
    const left: Entry[] = [];
    for (const [n, entry] of waiting.entries()) {
      entry.failures++;
      entry.unsure ||= n < unsure;
      // Without room the log may stay closed for long, and nobody should wait for that.
      const again = ready && !full && !forGood && (entry.unsure || entry.failures === 1);
      if (again) left.push(entry);
      else entry.reject(entry.unsure ? unknownOutcome(reason) : notStored(reason));
    }
    waiting = left;
    ready = false;
    started(forGood ? new Error(reason) : undefined);
    finishWhenIdle();
  };

  const onNote = (reason: string | null): void => {
    noteFault = reason ?? undefined;
    log(reason === null ? 'The note of the log is written again' : 'The note of the log cannot be written', { reason });
  };

  const told = (message: Told): void => {
    if ('settled' in message) onSettled(message.settled);
    else if ('ready' in message) onReady(message.ready.head);
    else if ('failed' in message) onFailed(message.failed);
    else onNote(message.note);
  };

  const writer = writerThread({ options, log: id, acknowledged: () => acknowledged, told });

  return {
    /**
     * Resolves when the first writer is ready, or has failed: then `fault` says why. Rejects when there can be no
     * other.
     */
    started: start,
    append: async (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> => {
      if (!anySize) checkSize(events);
      return enqueue(stream, expected, events);
    },
    setCheckpoint: async (name: string, position: number): Promise<void> => {
      await enqueue(name, position, []);
    },
    fault: () => fault,
    noteFault: () => noteFault,
    stats: (): Stats => ({ ...stats }),
    /** Waits for what is under way, refuses what comes later, and ends the thread. */
    close: (): Promise<void> =>
      new Promise((resolve) => {
        closed = resolve;
        send();
        finishWhenIdle();
      }),
  };
};
