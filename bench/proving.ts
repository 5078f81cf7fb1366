import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { keysOrNew } from '../src/store/proof/keys.ts';
import { signAll } from '../src/store/proof/signAll.ts';
import { openSqliteStore } from '../src/store/sqlite.ts';
import { megabytes, type Run, runCommand } from './commands.ts';
import { type Findings, inTurn, perSecond, progress, scale } from './compare.ts';
import { longLog } from './logs.ts';
import { startProgram, temporary } from './processes.ts';
import type { Appending } from './programs/appends.ts';

/** Signs the long log as the service would have. */
const sign = async (folder: string): Promise<void> => {
  progress('u: signing the long log');
  const store = await openSqliteStore({ file: join(folder, 'events.db') });
  const keys = keysOrNew({ fromSetting: undefined, file: join(folder, 'audit.key') });
  await signAll({ store, keys, now: Date.now, newId: randomUUID });
  await store.close();
};

/** (u) Verifying the long log and an export of it, and what signatures cost those who append. */
export const proving = async (): Promise<Findings> => {
  const folder = await longLog();
  await sign(folder);
  const file = join(await temporary(), 'export.ndjson');
  await runCommand(['export'], folder, file);

  const runs: Record<'log' | 'export', Run[]> = { log: [], export: [] };
  const verify = (what: 'log' | 'export', words: readonly string[]) => async (): Promise<number> => {
    const done = await runCommand(['audit', 'verify', ...words], folder);
    runs[what].push(done);
    return done.rate;
  };
  const rates = await inTurn('u', { log: verify('log', []), export: verify('export', [file]) });

  const append = (by: Appending['by']) => async (): Promise<number> => {
    const program = startProgram('appends');
    const order: Appending = { by, file: join(await temporary(), 'events.db'), count: 40_000, inFlight: 64 };
    const rate = await program.ask<number>(order);
    await program.stop();
    return rate;
  };
  // The disk makes rates of appends vary more than what is to be shown. So each is compared with those beside it.
  const appends = await inTurn(
    'u',
    { before: append('store'), signed: append('signing store'), after: append('store') },
    { rounds: 2 * scale.rounds },
  );
  const unsigned = appends.before.map((before, n) => (before + (appends.after[n] ?? before)) / 2);

  const events = scale.events.toLocaleString('en');
  const verified = (what: 'log' | 'export', named: string) => [
    {
      what: `(u) audit verify of ${named} of ${events} events`,
      comparedWith: 'the goal',
      ours: rates[what],
      theirs: rates[what].map(() => 100_000),
      shown: perSecond,
      goal: { least: 1 },
    },
    {
      what: `(u) audit verify of ${named} of ${events} events: memory`,
      comparedWith: 'the goal',
      ours: runs[what].map(({ peak }) => peak),
      theirs: runs[what].map(() => 300),
      shown: megabytes,
      goal: { most: 1 },
    },
  ];
  return {
    comparisons: [
      ...verified('log', 'a log'),
      ...verified('export', 'an export'),
      {
        what: '(u) durable appends, 64 in flight, while the log is signed',
        comparedWith: 'the same without signatures',
        ours: appends.signed,
        theirs: unsigned,
        shown: perSecond,
        goal: { least: 0.97 },
      },
    ],
  };
};
