import type { Actor } from '../../domain/engine/core.ts';
import { jobIdsSchema } from '../../domain/operations-manager/jobMoves.ts';
import { unwatch, type WatchRefs, watch, watching } from '../../domain/operations-manager/watchings.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { namedJobs } from './jobMoves.ts';

const command = commandsOf(watching);

const prepare = async (
  {
    id,
    input,
    actor,
  }: { readonly id: string; readonly input: { readonly jobIds: readonly string[] }; readonly actor: Actor },
  tools: Tools,
): Promise<WatchRefs> => {
  const { states, missing } = await namedJobs(input.jobIds, actor, tools);
  return {
    missing,
    began: new Set([...states].filter(([, { started }]) => started?.watchers.includes(id)).map(([jobId]) => jobId)),
  };
};

/** The id of both commands is that of the account. */
export const watchJobs = command({ name: 'watchJobs', input: jobIdsSchema, on: 'any', prepare, decide: watch });
export const unwatchJobs = command({ name: 'unwatchJobs', input: jobIdsSchema, on: 'any', prepare, decide: unwatch });
