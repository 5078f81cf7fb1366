import '../../process/soundJson.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { openLogToRead } from '../open.ts';
import { inWords, isForGood } from '../sqlite/errors.ts';
import type { LogUrl } from '../url.ts';
import { found } from './found.ts';
import { type Indexer, indexed } from './indexer.ts';
import { openIndex, removeIndex } from './indexFile.ts';
import { times } from './times.ts';

export type AuditIndexWork = { readonly file: string; readonly log: LogUrl };

/** Messages of the worker: how far the index has come, or why the worker ends. */
export type AuditIndexNews =
  | { readonly reached: number }
  /** `unwritable`: the file is the reason, and another place may help. */
  | { readonly failed: string; readonly unwritable: boolean };

const { file, log: url } = workerData as AuditIndexWork;
const port = parentPort as MessagePort;
const tell = (news: AuditIndexNews): void => port.postMessage(news);
// A log in a file is read without a check of its events: one that is damaged must not hide the rest.
const filter = 'file' in url ? [''] : undefined;
const behindMs = 50;
// Parts of the log that are written together. Rows lie all over the file: the more there are, the fewer pages each one writes.
const partsAtOnce = 8;

let ended = false;
// True if the work under way is at the index, not at the log.
let writing = false;

/** Opens log and index. `take` takes in events until the index holds a position, or the thread is to end. */
const opened = async () => {
  const log = await openLogToRead(url, () => undefined);
  writing = true;
  const { db, ...index } = await openIndex(file, log, indexers);
  writing = false;
  const writers = indexers.map(({ writer }) => writer(db));
  let lastPosition = index.lastPlace()?.position ?? 0;

  const begin = (): void => {
    for (const writer of writers) writer.begin(lastPosition);
  };

  /** Writes what was collected up to an event. False if another process has written: then the events are read again. */
  const write = (position: number, event: string): boolean => {
    db.exec('BEGIN IMMEDIATE');
    const others = index.lastPlace()?.position ?? 0;
    // A command of the operator may fill the same file meanwhile.
    const isOurs = others === lastPosition;
    if (isOurs) {
      for (const writer of writers) writer.write();
      index.setReached({ position, event });
    }
    db.exec(isOurs ? 'COMMIT' : 'ROLLBACK');
    lastPosition = isOurs ? position : others;
    return isOurs;
  };

  const take = async (target: number): Promise<void> => {
    while (lastPosition < target) {
      begin();
      let parts = 0;
      for await (const { events, position } of log.readAll(lastPosition, filter)) {
        if (ended) return;
        for (const event of events) {
          const one = indexed(event);
          for (const writer of writers) writer.take(one);
        }
        if (++parts < partsAtOnce && position < target) continue;
        const last = events.at(-1);
        writing = true;
        const isWritten = write(position, last?.position === position ? last.id : '');
        writing = false;
        if (!isWritten) break;
        parts = 0;
        tell({ reached: lastPosition });
        begin();
      }
      // A reader of EventStoreDB may be behind the writer for a moment.
      if (lastPosition < target) await pause(behindMs);
    }
    tell({ reached: lastPosition });
  };
  const close = async (): Promise<void> => {
    db.close();
    await log.close();
  };
  return { take, close };
};

const parts = opened();
let work: Promise<void> = parts.then(() => undefined);

const fail = (error: unknown): void => {
  if (isForGood(error)) removeIndex(file);
  tell({ failed: inWords(error), unwritable: writing && !isForGood(error) });
  port.close();
};

const end = async (): Promise<void> => {
  ended = true;
  await work.catch(() => undefined);
  const { close } = await parts;
  await close();
};

port.on('message', (order: number | 'end') => {
  if (order === 'end') {
    end()
      .catch(() => undefined)
      .finally(() => port.close());
    return;
  }
  work = work.then(async () => (await parts).take(order));
  work.catch(fail);
});
work.catch(fail);

/** All tables of the audit index. */
export const indexers: readonly Indexer[] = [times, found];
