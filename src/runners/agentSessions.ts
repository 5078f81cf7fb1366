import { once } from 'node:events';
import { endSession, noteMessage, postSession } from '../commands/agent-session-manager/agentSessions.ts';
import type { Tools } from '../commands/engine/define.ts';
import type { Handle } from '../commands/engine/handle.ts';
import { requestFor } from '../commands/engine/reactions.ts';
import type { Streams } from '../commands/engine/streams.ts';
import { queryAll } from '../commands/engine/tools.ts';
import { supervise } from '../concurrency/supervise.ts';
import { agent } from '../domain/agent-session-manager/agents.ts';
import { agentSession, type SessionStarted } from '../domain/agent-session-manager/agentSessions.ts';
import { asMessage } from '../domain/agent-session-manager/agentSessionSchemas.ts';
import { Refusal } from '../domain/engine/refusal.ts';
import { maskSecrets } from '../domain/engine/secretFields.ts';
import { abortable } from '../southbound/failure.ts';
import type { AgentAnswer, Renderer, Webhook } from '../southbound/port.ts';
import { slots } from '../southbound/slots.ts';
import { agentSessions } from '../projections/agent-session-manager/agentSessions.ts';
import { type Lead, whileLeading } from '../projections/engine/lead.ts';
import { type Recorded, splitStream } from '../store/event.ts';
import { isUnusable } from '../store/touched.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly events: Streams['events'];
  readonly webhook: Webhook;
  readonly renderer: Renderer;
  /** Who has it carries sessions out. */
  readonly lead: Lead;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/** Why a session is no longer carried on here: it has ended, its time is up, the service stops. */
type Why = 'ended' | 'late' | 'stopping';

const perAgent = 16;
const { area, category } = agentSession;
const source = `@platform/${area}`;

/**
 * Carries sessions out while this process leads: those that the log tells of, and at first those that are still
 * running. What has not been posted is posted, templates are rendered (again); the others wait for their report.
 * Whatever happens, a session ends with its time, counted from its start. Sessions of one agent share its places;
 * agents do not wait for each other.
 */
export const sessionRunner = ({ handle, tools, events, webhook, renderer, lead, log }: Needs) => {
  const held = new Map<string, { readonly abort: (why: Why) => void; readonly done: Promise<void> }>();
  const places = slots(perAgent, Infinity);
  const stop = new AbortController();
  let turns = Promise.resolve();

  /** Waits until somebody else ends the session, or its time is up. */
  const report = (signal: AbortSignal): Promise<never> => abortable(new Promise<never>(() => undefined), signal);

  /**
   * Takes a turn of the account that started the session. The template sees secrets masked: what it renders is kept in
   * clear.
   */
  const render = async (
    template: string,
    { data: { inputs }, metadata: { actor } }: Recorded<SessionStarted>,
    signal: AbortSignal,
  ): Promise<AgentAnswer> => {
    try {
      const text = await renderer.render(template, maskSecrets(inputs) as typeof inputs, { account: actor.id, signal });
      return { status: 'COMPLETE', lastMessage: asMessage(text) };
    } catch (error) {
      if (error instanceof Refusal && error.code === 'unprocessable')
        return { status: 'FAILED', lastMessage: asMessage(error.message) };
      throw error;
    }
  };

  /** What becomes of a session that has not ended; undefined: it has. */
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
      if (content?.template !== undefined) return abortable(render(content.template, started, signal), signal);
      if (content?.url === undefined) return { status: 'FAILED', lastMessage: 'The agent has been deleted' };
      const { changed } = await handle(postSession, { ...requestFor(started), id: sessionId, input: {} });
      return changed
        ? webhook(
            {
              url: content.url,
              ...(content.headers && { headers: content.headers }),
              sessionId,
              agent: name,
              inputs,
              traceparent,
            },
            signal,
          )
        : {};
    });
  };

  const carryOn = async (id: string, started: Recorded<SessionStarted>, signal: AbortSignal): Promise<void> => {
    const about = { ...requestFor(started), id };
    const answer = await outcomeOf(id, started, signal).catch((error: unknown): AgentAnswer => {
      if (signal.reason !== 'late') throw error;
      return { status: 'FAILED', lastMessage: `It has not ended within ${started.data.timeout} seconds` };
    });
    if (!answer) return;
    if (answer.status) return void (await handle(endSession, { ...about, input: answer }));
    if (answer.lastMessage !== undefined) await handle(noteMessage, { ...about, input: answer });
    // From here on as after a restart: it is posted, and reports.
    return carryOn(id, started, signal);
  };

  /** Until it has ended or the service stops; what fails is tried again. */
  const insist = async (id: string, aborting: AbortController): Promise<void> => {
    const { signal } = aborting;
    const over = (): boolean => stop.signal.aborted || (signal.aborted && signal.reason !== 'late');
    let timer: NodeJS.Timeout | undefined;
    const attempt = async (): Promise<void> => {
      if (over()) return;
      try {
        // First of all whether its stream can be used.
        await tools.state(agentSession, id);
        const [started] = (await events(`${category}-${id}`, 0, 0)) as readonly Recorded<SessionStarted>[];
        const left = Date.parse(started!.metadata.at) + started!.data.timeout * 1000 - Date.now();
        const late = (): void => {
          aborting.abort('late' satisfies Why);
        };
        if (left <= 0) late();
        else timer ??= setTimeout(late, left);
        await carryOn(id, started!, signal);
      } catch (error) {
        // A conflict: somebody else has ended it.
        if (over() || (error instanceof Refusal && error.code === 'conflict')) return;
        if (!isUnusable(error)) throw error;
        log('A session cannot be carried on', { session: id, error });
      }
    };
    await supervise(attempt, {
      signal: stop.signal,
      pauseMs: 50,
      longestPauseMs: 5000,
      onFailure: (error) => log('A session could not be carried on; it is tried again', { session: id, error }),
    });
    clearTimeout(timer);
  };

  const take = (id: string): void => {
    if (stop.signal.aborted || !lead.held() || held.has(id)) return;
    const aborting = new AbortController();
    const done = insist(id, aborting).finally(() => held.delete(id));
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

  /** Takes over what is running, once it can be read. */
  const resume = (signal: AbortSignal): Promise<void> =>
    supervise(takeRunning, {
      signal,
      pauseMs: 1000,
      onFailure: (error, isNew) => {
        if (isNew) log('Running sessions could not be read; it is tried again', { error });
      },
    });

  const leaveAll = async (): Promise<void> => {
    for (const { abort } of held.values()) abort('stopping');
    await Promise.all([...held.values()].map(({ done }) => done));
  };

  /** All of one turn of the lead. */
  const carryOnAll = async (turn: AbortSignal): Promise<void> => {
    await resume(turn);
    if (!turn.aborted) await once(turn, 'abort');
    await leaveAll();
  };

  return {
    /** To be told of them once their documents are readable. */
    onEvent: ({ source: from, stream, topic }: Pick<Recorded, 'source' | 'stream' | 'topic'>): void => {
      if (from !== source) return;
      const { category: kind, id } = splitStream(stream);
      if (kind !== category) return;
      if (topic === 'sessionStarted') take(id);
      else if (topic === 'sessionCompleted' || topic === 'sessionFailed' || topic === 'sessionCanceled')
        held.get(id)?.abort('ended');
    },
    /** Of the streams whose events it is told. */
    categories: new Set([category]),
    /** Begins; also with the sessions that another process has left running. */
    start: (): void => {
      turns = whileLeading(lead, stop.signal, carryOnAll);
    },
    /** Breaks calls off and leaves the sessions as they are, for the next start or another process. */
    stop: async (): Promise<void> => {
      stop.abort();
      await turns;
      await leaveAll();
    },
  };
};

export type SessionRunner = ReturnType<typeof sessionRunner>;
