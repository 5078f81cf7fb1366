import { Type } from 'typebox';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { refuseClosed, refuseUnknownIds } from '../engine/references.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { text, texts, topicsOf, typed } from '../engine/topics.ts';
import { type JobMove, type JobState, jobMoves, moveOutcome } from './jobs.ts';
import type { JobWork } from './jobWorkflows.ts';

/** A request for several jobs. */
export const jobIdsSchema = Type.Object(
  { jobIds: Type.Array(name('Id of a job'), { description: 'Ids of jobs: all or none', maxItems: 1000 }) },
  { additionalProperties: false, title: 'JobIds', description: 'Several jobs' },
);

export const jobMove = Type.Enum(Object.keys(jobMoves) as JobMove[], { description: 'The move' });

const decision = Type.Object({ move: typed<JobMove>()(text), jobIds: texts });
export type JobMovesInput = SchemaData<typeof decision>;

const topics = topicsOf({
  jobsMoved: ['Jobs are to be paused, resumed or canceled', decision],
});
export type JobMovesEvent = EventOf<typeof topics>;

/** The decision to pause, resume or cancel several jobs, all or none. It is carried out in the streams of the jobs. */
export const jobMoveDecision = aggregate<{ readonly decided: boolean }, JobMovesEvent>({
  area: 'operations-manager',
  category: 'jobMoveDecision',
  topics,
  initial: { decided: false },
  evolve: { jobsMoved: () => ({ decided: true }) },
  exists: ({ decided }) => decided,
});

export type JobMovesRefs = {
  readonly missing: readonly string[];
  readonly closed?: readonly string[];
  readonly states: ReadonlyMap<string, JobState>;
  /** For jobs that run a workflow. */
  readonly works?: ReadonlyMap<string, JobWork>;
};

export const decideMoves = (
  _: unknown,
  { move, jobIds }: JobMovesInput,
  { refs: { missing, closed = [], states, works } }: Context<JobMovesRefs>,
): readonly JobMovesEvent[] => {
  refuseUnknownIds(missing, 'job', '/jobIds');
  refuseClosed(closed, 'job', '/jobIds');
  const weighed = [...new Set(jobIds)].flatMap((id) => {
    const state = states.get(id);
    return state ? [{ id, state, how: moveOutcome(move, state, works?.get(id)) }] : [];
  });
  const illegal = weighed.filter(({ how }) => how === 'illegal');
  if (illegal.length > 0) {
    const jobs = illegal.map(({ id, state }) => `${id} (${state.status})`).join(', ');
    throw new RequestError('conflict', `The state of these jobs does not allow to ${move} them: ${jobs}`, {
      faults: illegal.map(({ id, state }) => ({ message: `It is ${state.status}`, path: '/jobIds', id })),
    });
  }
  const moving = weighed.filter(({ how }) => how === 'moves').map(({ id }) => id);
  return moving.length > 0 ? [{ topic: 'jobsMoved', data: { move, jobIds: moving } }] : [];
};
