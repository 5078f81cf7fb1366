import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Findings, inTurn, perSecond, progress, scale } from './compare.ts';
import { kinds } from './kinds.ts';
import { writeLog } from './logs.ts';
import { startProgram, temporary } from './processes.ts';
import type { Projecting } from './programs/projects.ts';
import { startRedis } from './redis.ts';

/** (k) A log projected into Redis, compared with the same batches sent as MULTI without projecting. */
export const projecting = async (): Promise<Findings> => {
  const url = await startRedis();
  if (url === undefined) return { comparisons: [], notes: ['(k) needs redis-server.'] };
  const events = scale.events / 10;
  progress('k: writing the log');
  const folder = join(await temporary(), 'projecting');
  mkdirSync(folder);
  const file = join(folder, 'events.db');
  writeLog(file, { kinds, documents: events / 10, eventsEach: 10 });
  const measure = (by: Projecting['by']) => async (): Promise<number> => {
    const program = startProgram('projects');
    const took = await program.ask<number>({ by, file, url } satisfies Projecting);
    await program.stop();
    return (events / took) * 1000;
  };
  const { projections, batches } = await inTurn('k', {
    projections: measure('projections'),
    batches: measure('batches'),
  });
  return {
    comparisons: [
      {
        what: `(k) ${events.toLocaleString('en')} events projected into Redis`,
        comparedWith: 'the same batches, each a MULTI, sent without projecting',
        ours: projections,
        theirs: batches,
        shown: perSecond,
        goal: { least: 0.5 },
      },
    ],
  };
};
