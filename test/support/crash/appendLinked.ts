import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { encode } from '../../../src/store/event.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';

// Appends linked events to some streams at once, and goes on as a client would whose appends are refused. It prints a
// line for each outcome, and at the end how many events it can read. Arguments: file, events for each stream, how to
// end.
const [file, count, end] = process.argv.slice(2) as [string, string, 'close' | 'kill'];
const streams = 4;
const mostTries = 40;
// A disk that fails again and again must not keep it for ever.
const mostPauses = 1000;
const pauseMs = 20;
const longText = 450_000;

const say = (...words: unknown[]): boolean => process.stdout.write(`${words.join(' ')}\n`);

const codeOf = (error: unknown): string => (error instanceof RequestError ? error.code : 'bug');

const read = async (): Promise<void> => {
  try {
    let events = 0;
    for await (const batch of store.readAll(0)) events += batch.events.length;
    say('read', events);
  } catch (error) {
    say('failed', codeOf(error), (error as Error).message);
  }
};

/** Looks whether a reader that knows the stream up to this revision is shown the event that was acknowledged after it. */
const checkShown = async (stream: string, revision: number, id: string): Promise<void> => {
  try {
    const ids: string[] = [];
    for await (const events of store.read(stream, revision)) ids.push(...events.map((event) => event.id));
    if (ids.join() !== id) say('failed', 'bug', `${stream} shows ${ids} from revision ${revision} on, not ${id}`);
  } catch (error) {
    say('failed', codeOf(error), (error as Error).message);
  }
};

const appendTo = async (stream: string): Promise<void> => {
  const about = {
    $correlationId: 'c',
    $causationId: 'c',
    at: '2026-01-01T00:00:00.000Z',
    actor: { id: 'a', username: 'a', provenance: 'local' },
    operation: 'o',
    requestId: 'r',
    schemaVersion: 1,
  };
  let hash = '';
  let id: string = randomUUID();
  for (
    let revision = 0, tries = 0, pauses = 0;
    revision < Number(count) && tries < mostTries && pauses < mostPauses;
  ) {
    const fact = { topic: 'appended', data: 'x'.repeat(revision % 2 ? longText : 10) };
    const event = encode({ stream, revision, id, source: 'test' }, fact, about, hash);
    try {
      await store.append(stream, revision - 1, [event]);
      say('stored', stream, revision, id);
      await checkShown(stream, revision, id);
      hash = event.hash;
      id = randomUUID();
      revision++;
    } catch (error) {
      tries++;
      const { message } = error as Error;
      // Sent again under the same id, as a retry does, unless it is certain that it was not stored.
      if (/Nothing was stored$/.test(message)) {
        say('refused', stream, revision, id);
        id = randomUUID();
      } else say('failed', codeOf(error), message);
      for (; pauses < mostPauses && store.fault() !== undefined; pauses++) await pause(pauseMs);
    }
  }
};

const store = await openSqliteStore({ file });
say('opened');
await read();
const run = randomUUID();
await Promise.all(Array.from({ length: streams }, (_, n) => appendTo(`crash-${run}-${n}`)));
await store.setCheckpoint('reactions', 1).catch(() => undefined);
await read();
if (end === 'kill') process.kill(process.pid, 'SIGKILL');
await store.close();
say('closed');
