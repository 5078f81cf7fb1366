import type { Tools } from '../commands/engine/define.ts';
import type { Handle } from '../commands/engine/handle.ts';
import type { Streams } from '../commands/engine/streams.ts';
import { queryAll } from '../commands/engine/tools.ts';
import type { GuardedClock } from '../concurrency/guardedClock.ts';
import { type Leadership, leaderWork } from '../concurrency/leadership.ts';
import type { Log } from '../concurrency/log.ts';
import { spans } from '../concurrency/spans.ts';
import { supervise } from '../concurrency/supervise.ts';
import { agentSession, type SessionStarted } from '../domain/agent-session-manager/agentSessions.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { agentSessions } from '../projections/agent-session-manager/agentSessions.ts';
import type { Renderer, Webhook } from '../southbound/port.ts';
import { type EventNotice, type Recorded, splitStream } from '../store/event.ts';
import { isUnusable } from '../store/tampered.ts';
import { sessionSteps } from './sessionSteps.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly events: Streams['events'];
  readonly webhook: Webhook;
  readonly renderer: Pick<Renderer, 'render'>;
  /** Only the leader carries sessions out. */
  readonly leadership: Leadership;
  readonly clock: Pick<GuardedClock, 'age' | 'monotonic'>;
  readonly log: Log;
};

/** Why this process stops work on a session: it has ended, its time is up, or the service stops. */
type Why = 'ended' | 'late' | 'stopping';

/** How often is looked which sessions are late. */
const lookEveryMs = 250;

const { category } = agentSession;

/**
 * Carries sessions out while this process leads: the running ones at the beginning of its term, then those that the log
 * announces. It posts what was not posted and renders templates, again if it must. Other sessions wait for the agent's
 * report.
 * A session that takes longer than its timeout, counted from its start, fails. Each agent has a limit of sessions at
 * work, so agents do not wait for each other.
 */
export const sessionRunner = ({ handle, tools, events, webhook, renderer, leadership, clock, log }: Needs) => {
  const held = new Map<string, { readonly abort: (why: Why) => void; readonly done: Promise<void> }>();
  const limits = spans(clock);
  const carryOn = sessionSteps({ handle, tools, webhook, renderer });
  let looking: NodeJS.Timeout | undefined;

  const endLate = (): void => {
    for (const id of limits.take()) held.get(id)?.abort('late');
  };

  const limit = (id: string, { data: { timeout }, metadata: { at } }: Recorded<SessionStarted>): void => {
    limits.resume(id, { since: Date.parse(at), ms: timeout * 1000 });
    // One that is late already does nothing more.
    endLate();
  };

  /** Tries again after failures, until the session has ended or the service stops. */
  const retryUntilDone = async (id: string, { signal }: AbortController): Promise<void> => {
    const over = (): boolean => stopping.aborted || (signal.aborted && signal.reason !== 'late');
    let isLimited = false;
    const attempt = async (): Promise<void> => {
      if (over()) return;
      try {
        // First of all this throws if the session's stream cannot be used.
        await tools.state(agentSession, id);
        const [started] = (await events(`${category}-${id}`, 0, 0)) as readonly Recorded<SessionStarted>[];
        if (!started) throw new Error('The log has no such session');
        if (!isLimited) limit(id, started);
        isLimited = true;
        await carryOn(id, started, signal);
      } catch (error) {
        // A conflict: another request has ended the session.
        if (over() || (error instanceof RequestError && error.code === 'conflict')) return;
        if (!isUnusable(error)) throw error;
        log('A session cannot be carried on', { session: id, error });
      }
    };
    await supervise(attempt, {
      signal: stopping,
      pauseMs: 50,
      longestPauseMs: 5000,
      onFailure: (error) => log('A session could not be carried on; it is tried again', { session: id, error }),
    });
    limits.remove(id);
  };

  const take = (id: string): void => {
    if (stopping.aborted || !leadership.held() || held.has(id)) return;
    looking ??= setInterval(endLate, lookEveryMs).unref();
    const aborting = new AbortController();
    const done = retryUntilDone(id, aborting).finally(() => held.delete(id));
    held.set(id, {
      abort: (why) => {
        aborting.abort(why);
      },
      done,
    });
  };

  const takeRunning = async (): Promise<void> => {
    const running = await queryAll(tools, agentSessions, { field: 'status', op: 'equals', value: 'RUNNING' });
    for (const { sessionId } of running) take(sessionId);
  };

  const leaveAll = async (): Promise<void> => {
    for (const { abort } of held.values()) abort('stopping');
    await Promise.all([...held.values()].map(({ done }) => done));
  };

  const { start, stop, stopping } = leaderWork({
    leadership,
    /** Takes over the running sessions as soon as the read models can list them. */
    work: takeRunning,
    onEnd: leaveAll,
    pauseMs: 1000,
    onFailure: (error, isNew) => {
      if (isNew) log('Running sessions could not be read; it is tried again', { error });
    },
  });

  return {
    /** To be called with events of sessions once their documents are readable. */
    onEvent: ({ stream, topic }: Pick<EventNotice, 'stream' | 'topic'>): void => {
      const { id } = splitStream(stream);
      if (topic === 'sessionStarted') take(id);
      else if (topic === 'sessionCompleted' || topic === 'sessionFailed' || topic === 'sessionCanceled')
        held.get(id)?.abort('ended');
    },
    /** The categories of the streams whose events `onEvent` needs. */
    categories: new Set([category]),
    /** Starts. Takes over the sessions that another process has left running. */
    start,
    /** Breaks calls off. The sessions keep running, for the next start or another process. */
    stop: async (): Promise<void> => {
      await stop();
      await leaveAll();
      clearInterval(looking);
    },
  };
};

export type SessionRunner = ReturnType<typeof sessionRunner>;
