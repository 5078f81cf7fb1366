import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { newLeadership } from '@automation-platform/concurrency';
import { digestStream, keysInPem, newKey, type SigningKey } from '@automation-platform/log-proof';
import { signer } from '../../src/runners/signing/signer.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts';
import { appendAll, appendsOf } from '../sampleAppends.ts';

// Durable appends to two logs in one process, one of which is signed: some to one, some to the other, and so on. So
// whatever else the machine does holds up both alike.

export type SignedAppending = {
  /** The folders of the two logs. */
  readonly folders: { readonly signed: string; readonly unsigned: string };
  readonly parts: number;
  readonly eventsEach: number;
  readonly inFlight: number;
};

/** Rates of the parts. */
export type SignedAppended = { readonly signed: readonly number[]; readonly unsigned: readonly number[] };

const newSigningKey = (): SigningKey => {
  const [key] = keysInPem(newKey());
  if (!key) throw new Error('There is no key');
  return key;
};

const signerOf = (store: SqliteStore) => {
  const leadership = newLeadership();
  leadership.set(true);
  return signer({
    store,
    keys: { own: newSigningKey(), earlier: [] },
    leadership,
    ready: async () => undefined,
    onSigned: () => undefined,
    now: Date.now,
    newId: randomUUID,
    log: (message, about) => process.stderr.write(`${message} ${JSON.stringify(about)}\n`),
  });
};

const eventsIn = async (store: SqliteStore, stream: string): Promise<number> => {
  let count = 0;
  for await (const events of store.read(stream)) count += events.length;
  return count;
};

/** As many parts again come first, and do not count. */
const measured = async ({ folders, parts, eventsEach, inFlight }: SignedAppending): Promise<SignedAppended> => {
  const stores = {
    signed: await openSqliteStore({ file: join(folders.signed, 'events.db') }),
    unsigned: await openSqliteStore({ file: join(folders.unsigned, 'events.db') }),
  };
  const signs = signerOf(stores.signed);
  signs.start();
  const rates = { signed: [] as number[], unsigned: [] as number[] };
  const appends = appendsOf(2 * parts * eventsEach);

  const rateOf = async (to: 'signed' | 'unsigned', part: number): Promise<number> => {
    const events = appends.slice(part * eventsEach, (part + 1) * eventsEach);
    const begun = performance.now();
    await appendAll(stores[to], events, inFlight);
    return (eventsEach / (performance.now() - begun)) * 1000;
  };

  for (let part = 0; part < 2 * parts; part++) {
    // Each is as often the first.
    const order = part % 2 === 0 ? (['signed', 'unsigned'] as const) : (['unsigned', 'signed'] as const);
    for (const to of order) {
      const rate = await rateOf(to, part);
      if (part >= parts) rates[to].push(rate);
    }
  }
  await signs.stop();
  const signed = await eventsIn(stores.signed, digestStream);
  if (signed < Math.floor((2 * parts * eventsEach) / 10_000)) throw new Error('Not everything was signed');
  for (const store of Object.values(stores)) await store.close();
  return rates;
};

process.on('message', async (order: SignedAppending) => {
  process.send?.(await measured(order));
});
