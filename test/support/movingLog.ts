import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { wrapForeign } from '@automation-platform/event-log';
import { encode } from '../../src/store/event.ts';
import { connect, createTables } from '../../src/store/sqlite/log.ts';
import { inserter } from '../../src/store/sqlite/transactions.ts';

const actor = { id: 'a1b2c3d4e5f60718293a4b5c', username: 'nora', provenance: 'local' };

/**
 * Writes a log of so many events: those of group mappings, and every tenth one of another tool. `groupsOf`: what the
 * event at a position says of its groups.
 */
export const writeLog = (
  file: string,
  events: number,
  groupsOf: (position: number) => unknown = (position) => [`g${position}`],
): void => {
  const db = connect(file);
  createTables(db, file);
  const rows = inserter(db);
  const streams = new Map<string, { revision: number; hash: string }>();
  const last = (stream: string) => streams.get(stream) ?? { revision: -1, hash: '' };
  db.exec('BEGIN');
  for (let position = 1; position <= events; position++) {
    const isForeign = position % 10 === 0;
    const stream = isForeign ? 'orders-1' : `groupMapping-ldap m${position % 97}`;
    const { revision: before, hash } = last(stream);
    const revision = before + 1;
    const id = randomUUID();
    if (isForeign) {
      const event = wrapForeign({
        id,
        type: 'ordered',
        data: Buffer.from(JSON.stringify({ position })),
        metadata: new Uint8Array(),
        contentType: 'application/json',
        created: new Date(position),
      });
      rows.add(position, stream, revision, id, event.type, event.data, event.metadata);
      streams.set(stream, { revision, hash: '' });
      continue;
    }
    const about = {
      $correlationId: id,
      $causationId: id,
      at: new Date(1_767_225_600_000 + position).toISOString(),
      actor,
      operation: 'tests',
      requestId: id,
      schemaVersion: 1,
    };
    const topic = revision === 0 ? 'groupMappingCreated' : 'groupMappingUpdated';
    const platformGroups = groupsOf(position);
    const created = { provenance: 'ldap', externalGroup: `m${position % 97}`, platformGroups };
    const data = revision === 0 ? created : { platformGroups };
    const event = encode({ stream, revision, id, source: '@platform/group-mappings' }, { topic, data }, about, hash);
    rows.add(position, stream, revision, id, event.type, event.data, event.metadata);
    streams.set(stream, { revision, hash: event.hash });
  }
  rows.flush();
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
};

/** An output whose text can be read. */
export const heard = () => {
  const output = new PassThrough();
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  return { output, text: () => text };
};
