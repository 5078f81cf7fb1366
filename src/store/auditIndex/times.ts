import type { LogReads } from '../port.ts';
import type { Connection } from '../sqlite/log.ts';
import { type Indexed, type Indexer, indexed, timeOf } from './indexer.ts';

/** The number of events with a time that share a row. */
const eventsInBlock = 1000;

type Block = { after: number; last: number; events: number; earliest: number; latest: number };

type BlockRow = [after: number, last: number, events: number, earliest: number, latest: number];

/**
 * The earliest and the latest time in each block of events. Clocks of nodes differ, so the order of times is not that of the log: the
 * last event up to a time lies in the last block that has one.
 */
export const times: Indexer = {
  schema: `CREATE TABLE blocks (
    after INTEGER PRIMARY KEY, last INTEGER NOT NULL, events INTEGER NOT NULL,
    earliest INTEGER NOT NULL, latest INTEGER NOT NULL
  ) STRICT;`,
  writer: (db) => {
    const newest = db.prepare('SELECT after, last, events, earliest, latest FROM blocks ORDER BY after DESC LIMIT 1');
    const put = db.prepare('INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?)');
    let blocks: Block[] = [];
    let before = 0;
    return {
      begin: (after) => {
        const row = newest.get() as BlockRow | undefined;
        blocks = row ? [{ after: row[0], last: row[1], events: row[2], earliest: row[3], latest: row[4] }] : [];
        before = after;
      },
      take: (one) => {
        const time = timeOf(one);
        const { position } = one.event;
        if (time !== undefined) {
          let block = blocks.at(-1);
          if (!block || block.events === eventsInBlock) {
            block = { after: before, last: position, events: 0, earliest: time, latest: time };
            blocks.push(block);
          }
          block.last = position;
          block.events++;
          block.earliest = Math.min(block.earliest, time);
          block.latest = Math.max(block.latest, time);
        }
        before = position;
      },
      write: () => {
        for (const { after, last, events, earliest, latest } of blocks) put.run(after, last, events, earliest, latest);
      },
    };
  },
};

/** Position of the last event in a part of the log whose time is not after the given one; 0 if there is none. */
const lastUpTo = (events: readonly Indexed[], time: number): number => {
  const found = events.findLast((one) => (timeOf(one) ?? Infinity) <= time);
  return found ? found.event.position : 0;
};

/**
 * Position of the last event whose time is not after the given one; 0 if there is none. Only the events that the index
 * holds count.
 */
export const positionAt = async (db: Connection, log: LogReads, time: number): Promise<number> => {
  const row = db.prepare('SELECT after, last FROM blocks WHERE earliest <= ? ORDER BY after DESC LIMIT 1').get(time) as
    | [after: number, last: number]
    | undefined;
  if (!row) return 0;
  const [after, last] = row;
  let found = 0;
  // A log in a file is read without a check of its events: one that is damaged must not hide the rest.
  for await (const { events, position } of log.readAll(after, log.readCategory && [''])) {
    const inBlock = events.filter((event) => event.position <= last).map(indexed);
    found = Math.max(found, lastUpTo(inBlock, time));
    if (position >= last) break;
  }
  return found;
};

/** Before this position there is no event whose time is the given one or later. */
export const firstPossible = (db: Connection, time: number): number => {
  const row = db.prepare('SELECT after FROM blocks WHERE latest >= ? ORDER BY after LIMIT 1').get(time);
  return row ? (row as [after: number])[0] + 1 : Number.MAX_SAFE_INTEGER;
};
