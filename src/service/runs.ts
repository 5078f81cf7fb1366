import { runNotes } from '../commands/operations-manager/runNotes.ts';
import { triggerRuns } from '../commands/operations-manager/triggerRuns.ts';
import type { Filters } from '../commands/user-schemas/filters.ts';
import type { Log } from '../concurrency/log.ts';
import type { Node } from './node.ts';
import type { WaysOut } from './waysOut.ts';

/** The runs of triggers: the function that starts their jobs, and the notes of what came of it. */
export const openRuns = ({ handle, tools }: Node, { renderer }: WaysOut, filters: Filters, log: Log) => ({
  ...triggerRuns({ handle, tools, filters, transform: renderer.evaluate }),
  ...runNotes({ handle, log }),
});

export type Runs = ReturnType<typeof openRuns>;
