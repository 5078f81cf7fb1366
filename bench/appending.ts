import { join } from 'node:path';
import { type Findings, inTurn, perSecond } from './compare.ts';
import { startProgram, temporary } from './processes.ts';
import type { Appending } from './programs/appends.ts';

const inFlight = 64;

/** (c) Appends straight into the store, compared with the driver alone. */
export const appending = async (): Promise<Findings> => {
  const measure = (by: Appending['by']) => async (): Promise<number> => {
    const program = startProgram('appends');
    const order: Appending = { by, file: join(await temporary(), 'events.db'), count: 40_000, inFlight };
    const rate = await program.ask<number>(order);
    await program.stop();
    return rate;
  };
  const { store, driver } = await inTurn('c', { store: measure('store'), driver: measure('driver') });
  return {
    comparisons: [
      {
        what: `(c) durable appends, ${inFlight} in flight`,
        comparedWith: `@photostructure/sqlite, same table and rows, transactions of ${inFlight}`,
        ours: store,
        theirs: driver,
        shown: perSecond,
        goal: { least: 0.8 },
      },
    ],
  };
};
