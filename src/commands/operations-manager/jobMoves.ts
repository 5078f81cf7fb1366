import { Type } from 'typebox';
import type { Actor } from '../../domain/engine/core.ts';
import {
  decideMoves,
  type JobMovesInput,
  jobIdsSchema,
  jobMove,
  jobMoveDecision,
} from '../../domain/operations-manager/jobMoves.ts';
import { type JobState, job } from '../../domain/operations-manager/jobs.ts';
import type { JobWork } from '../../domain/operations-manager/jobWorkflows.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import type { Reaction } from '../engine/reactions.ts';
import { moveJob, whyNotMoved } from './jobs.ts';
import { workOf } from './jobWorkflows.ts';

/**
 * The states of the jobs in the request. `missing`: the ids of jobs that do not exist, are retired, or that the actor
 * may not see. `closed`: those that it may see and not change.
 */
export const namedJobs = async (jobIds: readonly string[], actor: Actor, tools: Tools) => {
  const states = new Map<string, JobState>();
  const missing: string[] = [];
  const closed: string[] = [];
  for (const id of new Set(jobIds)) {
    const state = await tools.state(job, id);
    const isThere = job.exists(state) && !(await tools.isRetired(job, id));
    const denied = isThere ? await whyNotMoved(actor, state, tools) : 'hidden';
    if (denied === 'hidden') missing.push(id);
    else states.set(id, state);
    if (denied === 'closed') closed.push(id);
  }
  return { states, missing, closed };
};

export const moveJobs = commandsOf(jobMoveDecision)({
  name: 'moveJobs',
  input: Type.Object({ move: jobMove, ...jobIdsSchema.properties }),
  on: 'new',
  decide: decideMoves,
  prepare: async ({ input: { jobIds, move }, actor, now }, tools) => {
    const named = await namedJobs(jobIds, actor, tools);
    const works = new Map<string, JobWork>();
    if (move === 'retry')
      for (const [id, state] of named.states) {
        const work = await workOf({ id, state, now }, tools);
        if (work) works.set(id, work);
      }
    return { ...named, works };
  },
});

export const jobReactions: readonly Reaction[] = [
  {
    of: jobMoveDecision,
    on: {
      jobsMoved: async ({ data: { move, jobIds } }: { readonly data: JobMovesInput }) =>
        jobIds.map((id) => ({ command: moveJob, id, input: { move } })),
    },
  },
];
