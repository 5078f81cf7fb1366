import { existsSync } from 'node:fs';
import { type Connection, connect, createTables, value } from '../sqlite/log.ts';

// Checkpoints in a log that is being made from an export. They go before the log is put in its place.
const imported = 'stage-imported';
const done = 'stage-done';

/** How far the making of a log has come, kept in the log itself. So a later run goes on, and adds nothing twice. */
export const stages = (file: string) => {
  const inLog = <T>(work: (db: Connection) => T): T => {
    const db = connect(file);
    try {
      createTables(db, file);
      return work(db);
    } finally {
      db.close();
    }
  };
  const note = (name: string): void =>
    inLog((db) =>
      db.exec(`INSERT OR REPLACE INTO checkpoints SELECT '${name}', coalesce(max(position), 0) FROM events`),
    );
  const has = (db: Connection, name: string): boolean =>
    value(db, `SELECT 1 FROM checkpoints WHERE name = '${name}'`) !== undefined;

  return {
    /** All events of the export are there. */
    imported: (): void => note(imported),
    /** The events that begin the past anew are there too. */
    done: (): void => note(done),
    isDone: (): boolean => inLog((db) => has(db, done)),
    /** Removes the events of a beginning that was cut short. */
    dropUnfinished: (): void => {
      if (!existsSync(file)) return;
      inLog((db) => {
        if (!has(db, imported) || has(db, done)) return;
        const from = `(SELECT position FROM checkpoints WHERE name = '${imported}')`;
        db.exec(
          `BEGIN; DELETE FROM sums WHERE position > ${from}; DELETE FROM events WHERE position > ${from}; COMMIT`,
        );
      });
    },
    forget: (): void => inLog((db) => db.exec(`DELETE FROM checkpoints WHERE name IN ('${imported}', '${done}')`)),
  };
};
