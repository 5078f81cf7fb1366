import { hashIn, sumOf } from '@automation-platform/event-log';
import { checker } from '../integrity.ts';
import { type Connection, connect, connectToRead, createTables, value } from './log.ts';
import { columns, keptIn, type Row, toEvent } from './reads.ts';

const rowsAtOnce = 500;
const rememberedStreams = 200_000;

const rows = function* (db: Connection): Generator<readonly Row[]> {
  const select = db.prepare(`SELECT ${columns} FROM events WHERE position > ? ORDER BY position LIMIT ${rowsAtOnce}`);
  for (let after = 0; ; ) {
    const found = select.all(after) as Row[];
    const last = found.at(-1);
    if (!last) return;
    yield found;
    [after] = last;
  }
};

/**
 * Accepts every event of a log as it is now. A damaged event gets a sum of its present content. From now on the sum
 * counts in place of the event's link. Returns the damages. Throws an Error when an event is missing, because no sum
 * can replace it.
 */
export const acceptDamage = (file: string): readonly string[] => {
  const db = connect(file);
  try {
    createTables(db, file);
    const check = checker(keptIn(db), rememberedStreams);
    const addSum = db.prepare('INSERT OR REPLACE INTO sums (position, sum) VALUES (?, ?)');
    const wrong: string[] = [];
    let last = 0;
    for (const some of rows(db)) {
      for (const event of some.map(toEvent)) {
        if (event.position !== last + 1) throw new Error(`There is no event at position ${last + 1}: restore a backup`);
        last = event.position;
        const reason = check.next(event);
        if (reason === undefined) continue;
        addSum.run(event.position, sumOf(event));
        wrong.push(`position ${event.position}: ${reason}`);
      }
    }
    return wrong;
  } finally {
    db.close();
  }
};

/** The sums of linked events in a file whose damage was accepted, by position. */
export const acceptedSums = (file: string): ReadonlyMap<number, string> => {
  const db = connectToRead(file);
  try {
    const found = new Map<number, string>();
    if (value(db, "SELECT 1 FROM sqlite_schema WHERE name = 'sums'") === undefined) return found;
    const rows = db.prepare('SELECT position, sum, metadata FROM sums JOIN events USING (position)').iterate();
    for (const row of rows) {
      const [position, sum, metadata] = row as unknown as [number, string, string];
      if (hashIn(metadata) !== undefined) found.set(position, sum);
    }
    return found;
  } finally {
    db.close();
  }
};
