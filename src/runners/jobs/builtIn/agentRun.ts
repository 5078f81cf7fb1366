import { endSession, startSessionOfJob } from '../../../commands/agent-session-manager/agentSessions.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import { sessionOf } from '../../../commands/operations-manager/jobSessions.ts';
import { agentSession } from '../../../domain/agent-session-manager/agentSessions.ts';
import { job } from '../../../domain/operations-manager/jobs.ts';
import { endings } from './endings.ts';
import { type Operation, type Run, RunEnded } from './run.ts';

type Needs = { readonly handle: Handle; readonly tools: Pick<Tools, 'state'> };

/**
 * Runs an agent: starts a session and follows it. The session is started once, also after a crash; what carries it out
 * is agentSessions.ts.
 */
export const agentRun = ({ handle, tools }: Needs) => {
  const { ended, onEvent, categories } = endings({
    tools,
    of: agentSession,
    topics: ['sessionCompleted', 'sessionFailed', 'sessionCanceled'],
    hasEnded: ({ status }) => status !== 'RUNNING',
  });

  const begin = async (session: string, run: Run): Promise<void> => {
    const { job: id, inputs, started, step, isOver } = run;
    const { agent, inputs: given } = inputs;
    const actor = await step();
    const { automation, groups } = started.data;
    const { inventories } = await tools.state(job, id);
    const ofJob = { id, automation, groups, ...(inventories && { inventories: [...inventories] }) };
    const input = { agent, inputs: given, job: ofJob };
    const about = {
      ...requestFor(started),
      traceparent: started.metadata.traceparent,
      depth: started.data.depth,
      id: session,
    };
    await handle(startSessionOfJob, { ...about, actor: { ...actor, admin: true }, input });
    // The run may have ended meanwhile, before there was a session to cancel.
    if (!(await isOver())) return;
    await handle(endSession, { ...about, input: { status: 'CANCELED', lastMessage: 'The job has ended' } });
  };

  const run: Operation = async (one) => {
    const session = sessionOf(one.key);
    if (!agentSession.exists(await tools.state(agentSession, session))) await begin(session, one);
    const { status, lastMessage } = await ended(session, one.signal);
    if (status === 'FAILED') throw new RunEnded(`Session ${session} has failed: ${lastMessage}`);
    if (status === 'CANCELED') throw new RunEnded(`Session ${session} was canceled: ${lastMessage}`);
    return { sessionId: session, status, lastMessage };
  };

  return {
    run,
    /** To be called with events of sessions. */
    onEvent,
    /** The categories of the streams whose events `onEvent` needs. */
    categories,
  };
};
