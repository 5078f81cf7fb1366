import { join } from 'node:path';
import { type Findings, inTurn, perSecond, scale } from './compare.ts';
import { longLog } from './logs.ts';
import { startProgram } from './processes.ts';
import type { Replaying } from './programs/replays.ts';

/** (d) A replay of the long log into read models in memory, compared with reading and parsing it. */
export const replaying = async (): Promise<Findings> => {
  const file = join(await longLog(), 'events.db');
  const measure = (by: Replaying['by']) => async (): Promise<number> => {
    const program = startProgram('replays');
    const rate = await program.ask<number>({ by, file } satisfies Replaying);
    await program.stop();
    return rate;
  };
  const { projections, driver } = await inTurn('d', { projections: measure('projections'), driver: measure('driver') });
  return {
    comparisons: [
      {
        what: `(d) replay of ${scale.events.toLocaleString('en')} events, ${(scale.events / 10).toLocaleString('en')} documents`,
        comparedWith: 'libsql, all rows read, JSON.parse of data and metadata',
        ours: projections,
        theirs: driver,
        shown: perSecond,
        goal: { least: 0.6 },
      },
    ],
  };
};
