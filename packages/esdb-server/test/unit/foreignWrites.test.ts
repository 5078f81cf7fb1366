import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type NewEvent, type StoredEvent, WrongRevision, wrapForeign } from '@automation-platform/event-log';
import { foreignState, foreignWrites, type LogToServe } from '../../src/index.ts';

/** A log in memory, with what writes need. */
const memoryLog = () => {
  const events: StoredEvent[] = [];
  const of = (stream: string) => events.filter((event) => event.stream === stream);
  const log: Pick<LogToServe, 'append' | 'newest' | 'at'> = {
    append: async (stream, expected, news) => {
      const last = of(stream).length - 1;
      const stored = of(stream)[expected + news.length];
      if (stored && stored.id === news.at(-1)?.id) return stored;
      if (last !== expected) throw new WrongRevision(stream, expected, last);
      for (const [n, event] of news.entries())
        events.push({ ...event, stream, revision: expected + 1 + n, position: events.length + 1 });
      return { revision: expected + news.length, position: events.length };
    },
    newest: async (stream, count) => of(stream).reverse().slice(0, count),
    at: async (position) => events[position - 1],
  };
  return { of, log: log as LogToServe };
};

const note = (text: string): NewEvent =>
  wrapForeign({
    id: randomUUID(),
    type: 'noteTaken',
    data: Buffer.from(JSON.stringify(text)),
    metadata: Buffer.from(''),
    contentType: 'application/json',
    created: new Date(0),
  });

describe('streams as EventStoreDB has them', () => {
  it('take appends at the revision that is expected, and a repetition once', async () => {
    const { of, log } = memoryLog();
    const writes = foreignWrites(log);
    const first = note('a');
    assert.equal((await writes.append('notes-1', 'no_stream', [first])).revision, 0);
    assert.equal((await writes.append('notes-1', 'any', [first])).revision, 0);
    await assert.rejects(writes.append('notes-1', 5, [note('b')]), /WrongExpectedVersion/);
    assert.equal(of('notes-1').length, 1);
  });

  it('come back after a delete, and never after an end', async () => {
    const { log } = memoryLog();
    const writes = foreignWrites(log);
    await writes.append('notes-1', 'any', [note('old')]);
    await writes.remove('notes-1', 'any');
    assert.equal((await foreignState(log, 'notes-1', 0)).deleted, true);
    assert.equal((await writes.append('notes-1', 'any', [note('new')])).revision, 1);
    assert.equal((await foreignState(log, 'notes-1', 0)).first, 1);
    await writes.end('notes-1', 'any');
    await assert.rejects(writes.append('notes-1', 'any', [note('late')]), /is deleted/);
  });
});
