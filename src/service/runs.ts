import { runNotes } from '../commands/operations-manager/runNotes.ts';
import { triggerRuns } from '../commands/operations-manager/triggerRuns.ts';
import type { Filters } from '../commands/user-schemas/filters.ts';
import type { Node } from './node.ts';
import type { WaysOut } from './waysOut.ts';

type Warn = (message: string, about: Record<string, unknown>) => void;

/** The runs of triggers: the function that starts their jobs, and the notes of what came of it. */
export const openRuns = ({ handle, tools }: Node, { renderer }: WaysOut, filters: Filters, log: Warn) => ({
  ...triggerRuns({ handle, tools, filters, transform: renderer.evaluate }),
  ...runNotes({ handle, log }),
});

export type Runs = ReturnType<typeof openRuns>;
