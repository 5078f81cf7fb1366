import { standsAlone } from '../copyAppends.ts';
import { checker, hashIn, type Kept, sumOf } from '../integrity.ts';
import type { StoredEvent } from '../port.ts';
import { inserter } from '../sqlite/insert.ts';
import { type Connection, value } from '../sqlite/log.ts';
import { keptIn } from '../sqlite/reads.ts';
import { columns, type Row, toEvent } from '../sqlite/rows.ts';
import type { ExportedEvent } from './exportFormat.ts';

const rememberedStreams = 200_000;

const contentOf = ({ stream, revision, id, type, data, metadata }: StoredEvent): string =>
  JSON.stringify([stream, revision, id, type, data, metadata]);

/**
 * Adds events to a log in a file, in order, from position 1 on. Events that an earlier run has added are compared. Each
 * function that takes an event returns the reason why the event is wrong, or undefined.
 */
export const rowImport = (db: Connection) => {
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
