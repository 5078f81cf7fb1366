import { agentSession } from '../../domain/agent-session-manager/agentSessions.ts';
import type { Claims } from '../../domain/operations-manager/claims.ts';
import { hasEnded, job } from '../../domain/operations-manager/jobs.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { derivedUuid } from '../../store/uuid.ts';
import { endSession } from '../agent-session-manager/agentSessions.ts';
import type { Tools } from '../engine/define.ts';
import type { Next, Reaction } from '../engine/reactions.ts';

/** The name of a job's run: the same for all its claims. A job that is retried has another one. */
export const runKeyOf = (id: string, { last, attempts }: Pick<Claims, 'last' | 'attempts'>): string =>
  `${id} ${last - attempts + 1}`;

/**
 * The id of the session of a run. It follows from the run, so that no second session is started, whatever stops in between.
 */
export const sessionOf = (run: string): string => derivedUuid(`session ${run}`);

/** Cancels the session of a job that has ended before it. */
const cancelSession = async ({ stream }: Recorded, { state }: Tools): Promise<readonly Next[]> => {
  const { id } = splitStream(stream);
  const now = await state(job, id);
  // A job that was retried meanwhile has another session.
  if (now.started?.component.type !== 'agent' || !hasEnded(now)) return [];
  const session = sessionOf(runKeyOf(id, now.claims));
  if ((await state(agentSession, session)).status !== 'RUNNING') return [];
  return [{ command: endSession, id: session, input: { status: 'CANCELED', lastMessage: 'The job has ended' } }];
};

export const jobSessionReactions: readonly Reaction[] = [
  { of: job, on: { jobCanceled: cancelSession, jobErrored: cancelSession } },
];
