import { existsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hashIn, sumOf } from '@automation-platform/event-log';
import {
  BadLine,
  type ExportEnd,
  type ExportedEvent,
  type ExportHead,
  isSignedBy,
  readExport,
  signedText,
} from '@automation-platform/log-proof';
import { makeFolder } from '../folders.ts';
import { checker, type Kept } from '../integrity.ts';
import { openRemoteToCopy } from '../open.ts';
import type { StoredEvent } from '../port.ts';
import { importingCheckpoint, movedPlaces } from '../readers.ts';
import { type Connection, connect, createTables, lockFolder, value } from '../sqlite/log.ts';
import { columns, keptIn, type Row, toEvent } from '../sqlite/reads.ts';
import { openSqliteReader } from '../sqlite/store.ts';
import { inserter } from '../sqlite/transactions.ts';
import type { LogUrl } from '../url.ts';
import { standsAlone } from './appends.ts';
import { content, unfitEvents } from './content.ts';
import { copyLog } from './copyLog.ts';
import { bringBack, logAt, replaceLog, stages } from './replaceLog.ts';

type Needs = {
  /** The export. */
  readonly from: string;
  /** The log to make, and the folder in which one for EventStoreDB is made first. */
  readonly at: LogUrl;
  readonly folder: string;
  /** Begins the schedules in the log of a file at this time. */
  readonly beginSchedules: (file: string) => Promise<void>;
  readonly signal: AbortSignal;
  /** Gets messages about lost connections. */
  readonly log: (message: string) => void;
  /** Gets how far the import has come, in words. */
  readonly report: (words: string) => void;
};

type Work = Needs & { readonly fresh: string };

const refuseFull = (file: string): void => {
  const there = logAt(file);
  if (there && there.events > 0)
    throw new Error(
      `There is a log with ${there.events} events at ${file}; move it away, or name another EVENTSTORE_URL`,
    );
};

const hasEvents = async (log: Parameters<typeof content>[0]): Promise<boolean> => {
  for await (const _ of content(log, { skipped: new Set() })) return true;
  return false;
};

/**
 * Makes the log of an export beside the target. A second run goes on where the first one stopped. Returns undefined if
 * an earlier run has made it.
 */
const make = async ({ from, fresh, beginSchedules, signal, report }: Work): Promise<Imported | undefined> => {
  makeFolder(dirname(fresh));
  const stage = stages(fresh);
  stage.dropUnfinished();
  const importResult = await importLog({ from, to: fresh, signal, report: (events) => report(`${events} events`) });
  if (stage.isDone()) return undefined;
  stage.imported();
  await bringBack(fresh, importResult.places);
  await beginSchedules(fresh);
  stage.done();
  return importResult;
};

type Remote = Awaited<ReturnType<typeof openRemoteToCopy>>;

const onServer = async (url: string, log: Needs['log'], work: (to: Remote) => Promise<void>): Promise<void> => {
  const to = await openRemoteToCopy({ url, log });
  try {
    await work(to);
  } finally {
    await to.close();
  }
};

/** Throws when EventStoreDB has events, unless an import of them was cut short. */
const refuseFullServer = async (to: Remote): Promise<void> => {
  const isBegun = (await to.checkpoint(importingCheckpoint)) !== undefined;
  if (!isBegun && (await hasEvents(to))) throw new Error('EVENTSTORE_URL names a log that has events already');
};

/** Copies the log that was made into EventStoreDB. No service starts there before the copy is complete. */
const copyToServer = async (to: Remote, { fresh, signal, report }: Work): Promise<void> => {
  const from = await openSqliteReader(fresh);
  try {
    await refuseFullServer(to);
    await to.setCheckpoint(importingCheckpoint, 0);
    await copyLog({ from, to, signal, report: ({ step, events }) => report(`${step}: ${events} events`) });
    await to.removeCheckpoint(importingCheckpoint);
  } finally {
    await from.close();
  }
};

/**
 * Makes a log from an export. It brings back a past: nothing of it fires. Returns what was imported; undefined if an
 * earlier run has done that, and this one has put the log in its place. Throws an Error that names the first line that
 * is wrong.
 */
export const importInto = async (needs: Needs): Promise<Imported | undefined> => {
  const { from, at, folder, log } = needs;
  if (!existsSync(from) || !statSync(from).isFile()) throw new Error(`There is no file ${from}`);
  const target = 'file' in at ? at.file : join(folder, 'events.db');
  const importing = join(dirname(target), 'importing');
  const work = { ...needs, fresh: join(importing, 'events.db') };
  const unlock = lockFolder(target);
  try {
    if ('file' in at) refuseFull(at.file);
    else await onServer(at.url, log, refuseFullServer);
    const workResult = await make(work);
    if ('url' in at) await onServer(at.url, log, (to) => copyToServer(to, work));
    else {
      stages(work.fresh).forget();
      replaceLog(work.fresh, at.file);
    }
    await rm(importing, { recursive: true });
    return workResult;
  } finally {
    unlock();
  }
};

const rememberedStreams = 200_000;

const contentOf = ({ stream, revision, id, type, data, metadata }: StoredEvent): string =>
  JSON.stringify([stream, revision, id, type, data, metadata]);

/**
 * Adds events to a log in a file, in order, from position 1 on. Events that an earlier run has added are compared. Each
 * function that takes an event returns the reason why the event is wrong, or undefined.
 */
const rowImport = (db: Connection) => {
  const insert = inserter(db);
  const addSum = db.prepare('INSERT OR REPLACE INTO sums (position, sum) VALUES (?, ?)');
  const at = db.prepare(`SELECT ${columns} FROM events WHERE position = ?`);
  const lastRevision = db.prepare('SELECT max(revision) FROM events WHERE stream = ?');
  const found = Number(value(db, 'SELECT coalesce(max(position), 0) FROM events'));
  const stored = keptIn(db);
  let sum: string | undefined;
  let position = 0;

  // The sum is that of the event in hand. Events without a link must have one.
  const kept: Kept = {
    find: (stream, revision) => {
      insert.flush();
      return stored.find(stream, revision);
    },
    sumAt: () => sum,
    sumsSince: 0,
    arePartsRight: () => false,
  };
  const check = checker(kept, rememberedStreams);

  const nextRevision = (stream: string): number => {
    insert.flush();
    return ((lastRevision.get(stream) as [number | null])[0] ?? -1) + 1;
  };

  /** The event at its place in this log. The settings of streams have no revision that all logs share. */
  const placed = (event: ExportedEvent): StoredEvent => {
    const { stream, revision, id, type, data, metadata } = event;
    const there = position > found && standsAlone(event) ? nextRevision(stream) : revision;
    return { position, stream, revision: there, id, type, data, metadata };
  };

  const store = (event: StoredEvent): void => {
    const { stream, revision, id, type, data, metadata } = event;
    insert.add(position, stream, revision, id, type, data, metadata);
    const isAccepted = sum !== undefined && hashIn(metadata) !== undefined;
    if (isAccepted) addSum.run(position, sum ?? '');
  };

  const compare = (event: StoredEvent): string | undefined => {
    const there = toEvent(at.get(position) as Row);
    const same = standsAlone(event) ? { ...event, revision: there.revision } : event;
    return contentOf(there) === contentOf(same) ? undefined : 'an earlier import has stored another event here';
  };

  return {
    /** How many events the log had already. */
    found,
    /** The position of the last event. */
    position: (): number => position,
    add(event: ExportedEvent): string | undefined {
      position++;
      if (event.sum !== undefined && event.sum !== sumOf(event)) return 'the event is not what was written';
      const here = placed(event);
      sum = event.sum === undefined ? undefined : sumOf(here);
      const wrong = check.next(here);
      if (wrong !== undefined) return wrong;
      if (position <= found) return compare(here);
      store(here);
      return undefined;
    },
    flush: insert.flush,
  };
};

type FillNeeds = {
  /** The export. */
  readonly from: string;
  /** The file of the log to fill. It may have a part of the export already. */
  readonly to: string;
  readonly signal: AbortSignal;
  readonly report: (events: number) => void;
};

export type Imported = {
  readonly head: ExportHead;
  readonly end: ExportEnd;
  /** How many events the file had already. */
  readonly found: number;
  /** The places of the readers in the new log. */
  readonly places: ReadonlyMap<string, number>;
  /** A line about events that the platform would not write so; none if there are none. */
  readonly unfit: readonly string[];
};

/**
 * Nobody uses the log before it is complete, and then it is synced: so a commit need not be durable at once. Pages that
 * events of many streams share are written once for many events.
 */
const settings = 'PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32000; PRAGMA wal_autocheckpoint = 20000';

/**
 * Fills a log in a file with the events of an export. Each event is checked, and events are stored when the checksum
 * over them is right, so a run that was stopped or killed is continued by the next one. Throws `BadLine` at the first
 * line that is wrong.
 */
const importLog = async ({ from, to, signal, report }: FillNeeds): Promise<Imported> => {
  const db = connect(to);
  try {
    db.exec(settings);
    createTables(db, to);
    const rows = rowImport(db);
    let head: ExportHead | undefined;
    let end: ExportEnd | undefined;
    let places = movedPlaces(new Map());
    const unfit = unfitEvents();
    for await (const part of readExport(from)) {
      signal.throwIfAborted();
      if ('head' in part) {
        ({ head } = part);
        places = movedPlaces(new Map(Object.entries(head.readers)));
      } else if ('event' in part) {
        if (!db.isTransaction) db.exec('BEGIN IMMEDIATE');
        const wrong = rows.add(part.event);
        if (wrong !== undefined) throw new BadLine(part.line, wrong);
        unfit.add(part.event);
        places.passed(part.event.position, rows.position());
      } else {
        rows.flush();
        if (db.isTransaction) db.exec('COMMIT');
        report(rows.position());
        if ('end' in part) ({ end } = part);
      }
    }
    if (!head || !end) throw new BadLine(1, 'this is no export of a log');
    const { key, signature, events, digest } = end;
    if (key !== null && signature !== null && !isSignedBy(key, signedText(events, digest), signature))
      throw new Error(`The last line: the signature is not by its key`);
    if (rows.found > rows.position()) throw new Error('An earlier import has stored more events than this export has');
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    return { head, end, found: rows.found, places: places.moved(), unfit: unfit.lines() };
  } finally {
    // On a full disk SQLite has ended the transaction by itself.
    if (db.isTransaction) db.exec('ROLLBACK');
    db.close();
  }
};
