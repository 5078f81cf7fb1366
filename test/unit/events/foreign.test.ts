import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isForeign, unwrapForeign, wrapForeign } from '@automation-platform/event-log';
import fc from 'fast-check';
import { splitStream } from '../../../src/store/event.ts';
import { withPayloads } from '../../../src/store/payloads.ts';
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/store.ts';
import { anyCharacter } from '../../support/anyText.ts';
import { gather, newEvent } from '../../support/store.contract.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text);

describe('events of strangers', () => {
  let folder: string;
  let store: SqliteStore;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'foreign-'));
    store = await openSqliteStore({ file: join(folder, 'events.db') });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string({ unit: anyCharacter, maxLength: 50 }).map(bytesOf),
    fc.constantFrom('', '\0', 'a\0b', '\ufeff', '{"$payload":{"sha256":"x"}}').map(bytesOf),
  );
  it('come out of the log as they went in, byte for byte', () =>
    fc.assert(
      fc.asyncProperty(
        bytes,
        bytes,
        fc.string({ unit: anyCharacter, maxLength: 30 }),
        fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2200-01-01') }),
        async (data, metadata, contentType, created) => {
          const stream = `notes-${randomUUID()}`;
          await store.append(stream, -1, [
            wrapForeign({ id: randomUUID(), type: 'noteTaken', data, metadata, contentType, created }),
          ]);
          const [stored] = await gather(withPayloads(store, () => true).read(stream));
          assert.ok(isForeign(stored!));
          const unwrapped = unwrapForeign(stored!)!;
          assert.deepEqual(
            { ...unwrapped, data: [...unwrapped.data], metadata: [...unwrapped.metadata] },
            { data: [...data], metadata: [...metadata], contentType, created },
          );
        },
      ),
      { numRuns: 100 },
    ));
  it('are text in the log where they are text', () => {
    const text = wrapForeign({
      id: randomUUID(),
      type: 'noteTaken',
      data: bytesOf('{"text": "Zoë"}'),
      metadata: bytesOf(''),
      contentType: 'application/json',
      created: new Date(0),
    });
    assert.equal(text.data, '{"text": "Zoë"}');
    assert.deepEqual(JSON.parse(text.metadata), {
      $foreign: {
        created: '1970-01-01T00:00:00.000Z',
        contentType: 'application/json',
        encoding: 'text',
        metadata: '',
        metadataEncoding: 'text',
      },
    });
  });
  it("are not the platform's own", () => assert.equal(unwrapForeign(newEvent()), undefined));
  it('may be in streams without a category, which is not that of a similar name', () =>
    assert.deepEqual(splitStream('jobs'), { category: '', id: 'jobs' }));
});
