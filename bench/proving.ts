import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { megabytes, type Run, runCommand } from './commands.ts';
import { type Findings, inTurn, perSecond, progress, scale } from './compare.ts';
import { signedLongLog } from './logs.ts';
import { startProgram, temporary } from './processes.ts';
import type { SignedAppended, SignedAppending } from './programs/signedAppends.ts';

const inFlight = 64;

/**
 * Appends to a log that is signed and to one that is not, in memory if there is such a folder: a disk makes rates vary
 * far more than what is to be shown, and hides some of it.
 */
const signedAppends = async (): Promise<SignedAppended> => {
  const inMemory = '/dev/shm';
  const scratch = await temporary(existsSync(inMemory) ? inMemory : undefined);
  const folders = { signed: join(scratch, 'signed'), unsigned: join(scratch, 'unsigned') };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  progress('u: appending while the log is signed');
  const program = startProgram('signedAppends');
  const order: SignedAppending = { folders, parts: 40 * scale.rounds, eventsEach: 1000, inFlight };
  const rates = await program.ask<SignedAppended>(order);
  await program.stop();
  return rates;
};

/** (u) Verifying the long log and an export of it, and what signatures cost those who append. */
export const proving = async (): Promise<Findings> => {
  const folder = await signedLongLog();
  const file = join(await temporary(), 'export.ndjson');
  await runCommand(['export'], folder, file);

  const runs: Record<'log' | 'export', Run[]> = { log: [], export: [] };
  const verify = (what: 'log' | 'export', words: readonly string[]) => async (): Promise<number> => {
    const done = await runCommand(['audit', 'verify', ...words], folder);
    runs[what].push(done);
    return done.rate;
  };
  const rates = await inTurn('u', { log: verify('log', []), export: verify('export', [file]) });

  const appends = await signedAppends();

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
        what: `(u) appends, ${inFlight} in flight, while the log is signed`,
        comparedWith: 'the same without signatures',
        ours: appends.signed,
        theirs: appends.unsigned,
        shown: perSecond,
        goal: { least: 0.97 },
      },
    ],
  };
};
