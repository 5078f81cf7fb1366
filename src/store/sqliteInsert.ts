import type { Connection } from './sqliteLog.ts';

type Row = [position: number, stream: string, revision: number, id: string, type: string, data: string, metadata: string];

const columns = 7;
const rowsAtOnce = 16;

/** Inserts events, 16 with one statement, which halves the price of a row. What was added is in the table after `flush`. */
export const inserter = (db: Connection) => {
  const statement = (rows: number) =>
    db.prepare(`INSERT INTO events (position, stream, revision, id, type, data, metadata) VALUES ${Array(rows).fill('(?, ?, ?, ?, ?, ?, ?)').join(', ')}`);
  const one = statement(1);
  const many = statement(rowsAtOnce);
  let values: (string | number)[] = [];
  return {
    add(...row: Row): void {
      values.push(...row);
      if (values.length < rowsAtOnce * columns) return;
      many.run(values);
      values = [];
    },
    flush(): void {
      for (let at = 0; at < values.length; at += columns) one.run(values.slice(at, at + columns));
      values = [];
    },
  };
};
