import { endSession, startSessionOfJob } from '../../../commands/agent-session-manager/agentSessions.ts';
import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import { sessionOf } from '../../../commands/operations-manager/jobSessions.ts';
import { agentSession, type SessionState } from '../../../domain/agent-session-manager/agentSessions.ts';
import { hasEnded, job } from '../../../domain/operations-manager/jobs.ts';
import { abortable } from '../../../southbound/failure.ts';
import { type EventNotice, splitStream } from '../../../store/event.ts';
import { type Operation, type Run, RunEnded } from './run.ts';

type Needs = { readonly handle: Handle; readonly tools: Pick<Tools, 'state'> };

/**
 * Runs an agent: starts a session and follows it. The session is started once, also after a crash; what carries it out
 * is agentSessions.ts.
 */
export const agentRun = ({ handle, tools }: Needs) => {
  const waiting = new Map<string, () => void>();

  const begin = async (session: string, { job: id, inputs: { agent, inputs }, started, step }: Run): Promise<void> => {
    const actor = await step();
    const { automation, groups } = started.data;
    const input = { agent, inputs, job: { id, automation, groups } };
    const about = {
      ...requestFor(started),
      traceparent: started.metadata.traceparent,
      depth: started.data.depth,
      id: session,
    };
    await handle(startSessionOfJob, { ...about, actor: { ...actor, admin: true }, input });
    // The job may have ended meanwhile, before there was a session to cancel.
    if (!hasEnded(await tools.state(job, id))) return;
    await handle(endSession, { ...about, input: { status: 'CANCELED', lastMessage: 'The job has ended' } });
  };

  const ended = async (session: string, signal: AbortSignal): Promise<SessionState> => {
    let hear = (): void => undefined;
    const end = new Promise<void>((resolve) => {
      hear = resolve;
    });
    waiting.set(session, hear);
    try {
      const now = await tools.state(agentSession, session);
      if (now.status !== 'RUNNING') return now;
      await abortable(end, signal);
      return await tools.state(agentSession, session);
    } finally {
      // A later run of the job may wait since.
      if (waiting.get(session) === hear) waiting.delete(session);
    }
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
    onEvent: ({ stream, topic }: Pick<EventNotice, 'stream' | 'topic'>): void => {
      const isEnd = topic === 'sessionCompleted' || topic === 'sessionFailed' || topic === 'sessionCanceled';
      if (isEnd) waiting.get(splitStream(stream).id)?.();
    },
    /** The categories of the streams whose events `onEvent` needs. */
    categories: new Set([agentSession.category]),
  };
};
