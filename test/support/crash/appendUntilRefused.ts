import { randomUUID } from 'node:crypto';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';

// Appends to 32 streams at once and prints stream, revision and id of each event that was acknowledged. When an append
// is refused, prints why and how much can be read then, and ends.
const say = (...words: unknown[]): boolean => process.stdout.write(`${words.join(' ')}\n`);

const store = await openSqliteStore({ file: process.argv[2]! });

const appendTo = async (stream: string): Promise<void> => {
  for (let revision = 0; ; revision++) {
    const id = randomUUID();
    await store.append(stream, revision - 1, [
      { id, type: 'test:appended', data: JSON.stringify('x'.repeat((revision * 37) % 4000)), metadata: '{}' },
    ]);
    say('stored', stream, revision, id);
  }
};

const outcomes = await Promise.allSettled(Array.from({ length: 32 }, () => appendTo(`crash-${randomUUID()}`)));
const reasons = new Set(
  outcomes.map((outcome) => outcome.status === 'rejected' && `${outcome.reason.code} ${outcome.reason.message}`),
);
let readable = 0;
for await (const { events } of store.readAll(0)) readable += events.length;
say('ended', JSON.stringify({ reasons: [...reasons], readable }));
await store.close();
