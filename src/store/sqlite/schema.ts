import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { NotAsLeft } from './errors.ts';

type Database = Pick<DatabaseSyncInstance, 'prepare'>;

// ANALYZE of any client of SQLite makes these. They hold numbers only.
const statistics = [
  'CREATE TABLE sqlite_stat1(tbl,idx,stat)',
  'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)',
];

/** A statement as one line, without the words that SQLite does not keep. */
const plain = (sql: string): string => sql.replace(' IF NOT EXISTS', '').replace(/\s+/g, ' ').trim();

const statementsIn = (schema: string): readonly string[] =>
  schema
    .split(';')
    .map(plain)
    .filter((sql) => sql !== '');

type Row = [type: string, name: string, sql: string | null];

// The index of a primary key has no statement.
const rowsIn = (db: Database): readonly Row[] =>
  db
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE type <> 'index' OR sql IS NOT NULL")
    .all() as unknown as Row[];

/**
 * The parts of a file that its schema does not have, by type and name. A trigger would run inside the service; a view or
 * another table in the place of a known one would answer for it.
 */
const foreignParts = (db: Database, schema: string): readonly string[] => {
  const known = new Set([...statementsIn(schema), ...statistics]);
  return rowsIn(db)
    .filter(([, , sql]) => !known.has(plain(sql ?? '')))
    .map(([type, name]) => `${type} ${JSON.stringify(name)}`);
};

/** True if a file has all that its schema has, and nothing else. */
export const hasSchema = (db: Database, schema: string): boolean => {
  const found = new Set(rowsIn(db).map(([, , sql]) => plain(sql ?? '')));
  return statementsIn(schema).every((sql) => found.has(sql)) && foreignParts(db, schema).length === 0;
};

/** Throws when a file has more than its schema, or other tables under the names of its own. */
export const refuseForeignParts = (db: Database, file: string, schema: string): void => {
  const parts = foreignParts(db, schema);
  if (parts.length === 0) return;
  throw new NotAsLeft(
    `${file} has parts that no log of this program has: ${parts.join(', ')}. Nothing was changed; ` +
      'see "Foreign parts in the file" in docs/operations.md',
  );
};
