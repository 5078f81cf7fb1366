import { endSession, noteMessage, postSession } from '../commands/agent-session-manager/agentSessions.ts';
import type { Tools } from '../commands/engine/define.ts';
import type { Handle } from '../commands/engine/handle.ts';
import { requestFor } from '../commands/engine/reactions.ts';
import { templateText } from '../commands/template-builder/templates.ts';
import { asMessage } from '../domain/agent-session-manager/agentSessionSchemas.ts';
import { agentSession, type SessionStarted } from '../domain/agent-session-manager/agentSessions.ts';
import { agent } from '../domain/agent-session-manager/agents.ts';
import { defined } from '../domain/engine/defined.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { maskSecrets } from '../domain/engine/secretFields.ts';
import { abortable } from '../southbound/failure.ts';
import type { AgentAnswer, Renderer, Webhook } from '../southbound/port.ts';
import { semaphore } from '../southbound/semaphore.ts';
import type { Recorded } from '../store/event.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Tools;
  readonly webhook: Webhook;
  readonly renderer: Pick<Renderer, 'render'>;
};

const perAgent = 16;

/** Never resolves. Rejects when the signal aborts: another request has ended the session, or its time is up. */
const report = (signal: AbortSignal): Promise<never> => abortable(new Promise<never>(() => undefined), signal);

/**
 * Renders the template in a turn of the account that started the session. The template gets secrets masked, because its
 * output is stored in clear.
 */
const render = async (
  { renderer, tools }: Needs,
  template: string,
  { data: { inputs }, metadata: { actor } }: Recorded<SessionStarted>,
  signal: AbortSignal,
): Promise<AgentAnswer> => {
  try {
    const text = await renderer.render(template, maskSecrets(inputs) as typeof inputs, {
      account: actor.id,
      signal,
      find: (name) => templateText(name, tools),
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
export const sessionSteps = (needs: Needs) => {
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
