import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { signAll } from '@automation-platform/log-proof';
import { encode } from '../src/store/event.ts';
import { proofEvent } from '../src/store/proofEvent.ts';
import { keysOrNew } from '../src/store/signingKeys.ts';
import { connect, connectToRead, createTables, value } from '../src/store/sqlite/log.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';
import { inserter } from '../src/store/sqlite/transactions.ts';
import { progress, scale } from './compare.ts';
import { hexId, type Kind, kinds } from './kinds.ts';
import { temporary } from './processes.ts';

/** So many documents, shared out among kinds, with so many events each. */
export type Contents = {
  readonly kinds: readonly Kind[];
  readonly documents: number;
  readonly eventsEach: number;
  /** All events of a document come together. */
  readonly oneByOne?: true;
};

/**
 * Writes a log as the service would have, in one transaction: everything is created first, then all change in turn,
 * unless they come one by one.
 */
export const writeLog = (file: string, { kinds, documents, eventsEach, oneByOne }: Contents): void => {
  const db = connect(file);
  createTables(db, file);
  db.exec('PRAGMA synchronous = OFF');
  const { add, flush } = inserter(db);
  const whole = kinds.reduce((sum, { share }) => sum + share, 0);
  const streams = kinds.flatMap((kind) =>
    Array.from({ length: Math.round((documents * kind.share) / whole) }, (_, n) => ({ kind, n, hash: '' })),
  );
  const actor = { id: hexId(0), username: 'bench', provenance: 'local' };
  let position = 0;

  const write = (one: (typeof streams)[number], revision: number): void => {
    const {
      kind: {
        aggregate: { category, area },
        id,
        created,
        changed,
      },
      n,
      hash,
    } = one;
    const stream = `${category}-${id(n)}`;
    const requestId = randomUUID();
    const at = new Date(1_767_225_600_000 + ++position).toISOString();
    const about = {
      $correlationId: requestId,
      $causationId: requestId,
      at,
      actor,
      operation: 'bench',
      requestId,
      schemaVersion: 1,
    };
    const event = encode(
      { stream, revision, id: randomUUID(), source: `@platform/${area}` },
      revision === 0 ? created(n) : changed(n, revision),
      about,
      hash,
    );
    add(position, stream, revision, event.id, event.type, event.data, event.metadata);
    one.hash = event.hash;
  };

  const revisions = Array.from({ length: eventsEach }, (_, revision) => revision);
  db.exec('BEGIN');
  if (oneByOne) for (const one of streams) for (const revision of revisions) write(one, revision);
  else for (const revision of revisions) for (const one of streams) write(one, revision);
  flush();
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
};

let written: Promise<string> | undefined;

/** The folder of the long log, written once: documents of all kinds with ten events each. */
export const longLog = (): Promise<string> =>
  (written ??= (async () => {
    progress('writing the long log');
    const folder = join(await temporary(), 'long');
    mkdirSync(folder);
    writeLog(join(folder, 'events.db'), { kinds, documents: scale.events / 10, eventsEach: 10 });
    return folder;
  })());

let signed: Promise<string> | undefined;

/** The same, signed as the service would have signed it. */
export const signedLongLog = (): Promise<string> =>
  (signed ??= (async () => {
    const folder = await longLog();
    progress('signing the long log');
    const store = await openSqliteStore({ file: join(folder, 'events.db') });
    const keys = keysOrNew({ fromSetting: undefined, file: join(folder, 'audit.key') });
    await signAll({ store, keys, now: Date.now, newId: randomUUID, write: proofEvent });
    await store.close();
    return folder;
  })());

/** Bytes of the events in the log of a folder: those of a topic, or all. */
export const bytesOf = (folder: string, topic?: string): number => {
  const db = connectToRead(join(folder, 'events.db'));
  const which = topic === undefined ? '' : ` WHERE type LIKE '%:${topic}'`;
  const bytes = value(db, `SELECT coalesce(sum(length(data) + length(metadata)), 0) FROM events${which}`);
  db.close();
  return Number(bytes);
};
