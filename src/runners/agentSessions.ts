import {
  abortable,
  type GuardedClock,
  type Leadership,
  type Log,
  leaderWork,
  semaphore,
  spans,
  supervise,
} from '@automation-platform/concurrency';
import { endSession, noteMessage, postSession } from '../commands/agent-session-manager/agentSessions.ts';
import type { Tools } from '../commands/engine/define.ts';
import type { Handle } from '../commands/engine/handle.ts';
import { requestFor } from '../commands/engine/reactions.ts';
import type { Streams } from '../commands/engine/streams.ts';
import { queryAll } from '../commands/engine/tools.ts';
import { templateText } from '../commands/template-builder/templates.ts';
import { asMessage } from '../domain/agent-session-manager/agentSessionSchemas.ts';
import { agentSession, type SessionStarted } from '../domain/agent-session-manager/agentSessions.ts';
import { agent } from '../domain/agent-session-manager/agents.ts';
import type { Actor } from '../domain/engine/core.ts';
import { defined } from '../domain/engine/defined.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { maskSecrets } from '../domain/engine/secretFields.ts';
import { agentSessions } from '../projections/agent-session-manager/agentSessions.ts';
import type { AgentAnswer, Renderer, Webhook } from '../southbound/port.ts';
import { type EventNotice, type Recorded, splitStream } from '../store/event.ts';
import { isUnusable } from '../store/tampered.ts';

type Needs = StepNeeds & {
  readonly events: Streams['events'];
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
export const sessionRunner = (needs: Needs) => {
  const { tools, events, leadership, clock, log } = needs;
  const followedSessions = new Map<string, { readonly abort: (why: Why) => void; readonly done: Promise<void> }>();
  const limits = spans(clock);
  const carryOn = sessionSteps(needs);
  let looking: NodeJS.Timeout | undefined;

  const endLate = (): void => {
    for (const id of limits.take()) followedSessions.get(id)?.abort('late');
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
    if (stopping.aborted || !leadership.held() || followedSessions.has(id)) return;
    looking ??= setInterval(endLate, lookEveryMs).unref();
    const aborting = new AbortController();
    const attempt = retryUntilDone(id, aborting).finally(() => followedSessions.delete(id));
    followedSessions.set(id, {
      abort: (why) => {
        aborting.abort(why);
      },
      done: attempt,
    });
  };

  const takeRunning = async (): Promise<void> => {
    const running = await queryAll(tools, agentSessions, { field: 'status', op: 'equals', value: 'RUNNING' });
    for (const { sessionId } of running) take(sessionId);
  };

  const leaveAll = async (): Promise<void> => {
    for (const { abort } of followedSessions.values()) abort('stopping');
    await Promise.all([...followedSessions.values()].map(({ done }) => done));
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
        followedSessions.get(id)?.abort('ended');
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

type StepNeeds = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly webhook: Webhook;
  readonly renderer: Pick<Renderer, 'render'>;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<{ readonly actor: Actor } | undefined>;
};

const perAgent = 16;

/** Never resolves. Rejects when the signal aborts: another request has ended the session, or its time is up. */
const report = (signal: AbortSignal): Promise<never> => abortable(new Promise<never>(() => undefined), signal);

/**
 * Renders the template in a turn of the account that started the session. The template gets secrets masked, because its
 * output is stored in clear.
 */
const render = async (
  { renderer, tools, viewerOf }: StepNeeds,
  template: string,
  { data: { inputs }, metadata: { actor } }: Recorded<SessionStarted>,
  signal: AbortSignal,
): Promise<AgentAnswer> => {
  try {
    const text = await renderer.render(template, maskSecrets(inputs) as typeof inputs, {
      account: actor.id,
      signal,
      find: async (name) => {
        const viewer = await viewerOf(actor.id);
        return viewer && templateText(name, viewer.actor, tools);
      },
    });
    return { status: 'COMPLETE', lastMessage: asMessage(text) };
  } catch (error) {
    if (error instanceof RequestError && error.code === 'unprocessable')
      return { status: 'FAILED', lastMessage: asMessage(error.message) };
    throw error;
  }
};

/** Why a session has failed whose time is up. A webhook that was called may have acted all the same. */
const lateMessage = ({ data: { timeout } }: Recorded<SessionStarted>, posted: boolean): string =>
  posted
    ? `It has not ended within ${timeout} seconds: its outcome is unknown`
    : `It has not ended within ${timeout} seconds`;

/**
 * Carries one session out until it has ended: posts or renders it, then waits for the agent's report. The signal breaks
 * that off; with the reason `late` the session fails. Sessions of one agent share a limit.
 */
const sessionSteps = (needs: StepNeeds) => {
  const { handle, tools, webhook } = needs;
  const places = semaphore(perAgent, Infinity);

  /** The outcome of a running session; undefined if it has ended. */
  const outcomeOf = async (
    sessionId: string,
    started: Recorded<SessionStarted>,
    signal: AbortSignal,
  ): Promise<AgentAnswer | undefined> => {
    const {
      data: {
        agent: { id, name },
        inputs,
      },
      metadata: { traceparent },
    } = started;
    const { status, posted } = await tools.state(agentSession, sessionId);
    if (status !== 'RUNNING') return undefined;
    if (posted) return report(signal);
    return places(id, signal, async () => {
      const { content } = await tools.state(agent, id);
      if (content?.template !== undefined) return abortable(render(needs, content.template, started, signal), signal);
      if (content?.url === undefined) return { status: 'FAILED', lastMessage: 'The agent has been deleted' };
      const { changed } = await handle(postSession, { ...requestFor(started), id: sessionId, input: {} });
      if (!changed) return {};
      const { url, headers } = content;
      return webhook({ ...defined({ url, headers }), sessionId, agent: name, inputs, traceparent }, signal);
    });
  };

  const carryOn = async (id: string, started: Recorded<SessionStarted>, signal: AbortSignal): Promise<void> => {
    const about = { ...requestFor(started), id };
    const answer = await outcomeOf(id, started, signal).catch(async (error: unknown): Promise<AgentAnswer> => {
      if (signal.reason !== 'late') throw error;
      const { posted } = await tools.state(agentSession, id);
      return { status: 'FAILED', lastMessage: lateMessage(started, posted) };
    });
    if (!answer) return;
    if (answer.status) return void (await handle(endSession, { ...about, input: answer }));
    if (answer.lastMessage !== undefined) await handle(noteMessage, { ...about, input: answer });
    // The session is posted now. As after a restart, it waits for the agent's report.
    return carryOn(id, started, signal);
  };

  return carryOn;
};
