import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode, encode, type Recorded } from '../../src/store/event.ts';
import type { EventStore, StoredEvent } from '../../src/store/port.ts';
import { openSqliteReader, openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { TestService } from './service.ts';

/** Which of the texts lie in a file of the service's folder, or in what it has logged. */
export const textsKept = (
  { folder, lines }: Pick<TestService, 'folder' | 'lines'>,
  texts: readonly string[],
): readonly string[] => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = [
    ...files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))),
    Buffer.from(lines.join('\n')),
  ];
  return texts.filter((text) => contents.some((bytes) => bytes.includes(text)));
};

type Fact = { readonly stream: string; readonly source: string; readonly topic: string; readonly data: unknown };

/** Puts events into new streams of the log of a stopped service: as earlier versions have stored them. */
export const storedEarlier = async (folder: string, facts: readonly Fact[]): Promise<void> => {
  const store = await openSqliteStore({ file: join(folder, 'events.db') });
  const about = {
    $correlationId: 'earlier',
    $causationId: 'earlier',
    at: '2026-01-01T00:00:00.000Z',
    operation: 'earlier',
    requestId: 'earlier',
    schemaVersion: 1,
    actor: { id: 'a'.repeat(24), username: 'earlier', provenance: 'local' },
  };
  const last = new Map<string, { readonly revision: number; readonly hash: string }>();
  for (const { stream, source, topic, data } of facts) {
    const { revision, hash } = last.get(stream) ?? { revision: -1, hash: '' };
    const place = { stream, revision: revision + 1, id: randomUUID(), source: `@platform/${source}` };
    const event = encode(place, { topic, data }, about, hash);
    await store.append(stream, revision, [event]);
    last.set(stream, { revision: revision + 1, hash: event.hash });
  }
  await store.close();
};

/** Does something with the log in a file, which only reads it, and closes it. */
export const withLog = async <Result>(file: string, work: (log: EventStore) => Promise<Result>): Promise<Result> => {
  const log = await openSqliteReader(file);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
};

/** All events of a log as they are stored. */
export const storedIn = async (log: Pick<EventStore, 'readAll'>): Promise<readonly StoredEvent[]> => {
  const found: StoredEvent[] = [];
  for await (const { events } of log.readAll(0)) found.push(...events);
  return found;
};

/** All events of a log. */
export const eventsIn = async (log: Pick<EventStore, 'readAll'>): Promise<readonly Recorded<any>[]> =>
  (await storedIn(log)).map(decode);

/** The events of one stream. */
export const eventsOf = async (log: Pick<EventStore, 'read'>, stream: string): Promise<readonly Recorded<any>[]> => {
  const found: Recorded<any>[] = [];
  for await (const events of log.read(stream)) found.push(...events.map(decode));
  return found;
};

/** The streams with an event that holds the text. */
export const streamsWith = async (folder: string, text: string): Promise<readonly string[]> => {
  const events = await withLog(join(folder, 'events.db'), storedIn);
  return [...new Set(events.filter(({ data }) => data.includes(text)).map(({ stream }) => stream))];
};
