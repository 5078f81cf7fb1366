import { hashIn } from '../integrity.ts';
import { connectToRead, value } from '../sqlite/log.ts';

/** The sums of linked events in a file whose damage was accepted (sqliteAccept.ts), by position. */
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
