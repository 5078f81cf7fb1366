import { isSignedBy } from '../proof/keys.ts';
import { type Connection, connect, createTables } from '../sqlite/log.ts';
import { unfitEvents } from '../unfit.ts';
import { BadLine, type ExportEnd, type ExportHead, signedText } from './exportFormat.ts';
import { rowImport } from './importRows.ts';
import { movedPlaces } from './movedPlaces.ts';
import { readExport } from './readExport.ts';

type Needs = {
  /** The export. */
  readonly from: string;
  /** The file of the log to fill. It may have a part of the export already. */
  readonly to: string;
  readonly signal: AbortSignal;
  readonly told: (events: number) => void;
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

const inTransactions = (db: Connection) => {
  let open = false;
  return {
    begin: (): void => {
      if (!open) db.exec('BEGIN IMMEDIATE');
      open = true;
    },
    commit: (): void => {
      if (open) db.exec('COMMIT');
      open = false;
    },
    rollback: (): void => {
      try {
        if (open) db.exec('ROLLBACK');
      } catch {
        // SQLite has ended the transaction by itself, as it does on a full disk.
      }
      open = false;
    },
  };
};

const cleared = (error: unknown, close: () => void): never => {
  close();
  throw error;
};

/**
 * Fills a log in a file with the events of an export. Each event is checked, and events are stored when the checksum
 * over them is right, so a run that was stopped or killed is continued by the next one. Throws `BadLine` at the first
 * line that is wrong.
 */
export const importLog = async ({ from, to, signal, told }: Needs): Promise<Imported> => {
  const db = connect(to);
  const { begin, commit, rollback } = inTransactions(db);
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
        begin();
        const wrong = rows.add(part.event);
        if (wrong !== undefined) throw new BadLine(part.line, wrong);
        unfit.add(part.event);
        places.passed(part.event.position, rows.position());
      } else {
        rows.flush();
        commit();
        told(rows.position());
        if ('end' in part) ({ end } = part);
      }
    }
    if (!head || !end) throw new BadLine(1, 'this is no export of a log');
    if (
      end.key !== null &&
      end.signature !== null &&
      !isSignedBy(end.key, signedText(end.events, end.digest), end.signature)
    )
      throw new Error(`The last line: the signature is not by its key`);
    if (rows.found > rows.position()) throw new Error('An earlier import has stored more events than this export has');
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    return { head, end, found: rows.found, places: places.moved(), unfit: unfit.lines() };
  } catch (error) {
    return cleared(error, () => {
      rollback();
      db.close();
    });
  }
};
