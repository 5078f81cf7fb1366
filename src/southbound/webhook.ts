import { isObject, isWellFormed, redacted } from '@automation-platform/json';
import { asMessage, type Outcome } from '../domain/agent-session-manager/agentSessionSchemas.ts';
import { defined } from '../domain/engine/defined.ts';
import type { Sealed } from '../domain/engine/sealed.ts';
import { openSecrets } from '../domain/engine/secretFields.ts';
import { reasonOf } from './failure.ts';
import { httpCall } from './httpCall.ts';
import type { Outbound } from './outbound.ts';
import type { AgentAnswer, Webhook } from './port.ts';

const maxBytes = 256 * 1024;
const outcomes: readonly unknown[] = ['COMPLETE', 'FAILED', 'CANCELED'] satisfies readonly Outcome[];

const failed = (lastMessage: string): AgentAnswer => ({ status: 'FAILED', lastMessage });

/** The agent's answer in the body of an HTTP answer with status 2xx. An empty body has neither status nor message. */
const answerIn = (text: string): AgentAnswer => {
  if (text.trim() === '') return {};
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return failed("The agent's answer is not JSON");
  }
  if (!isObject(body)) return failed("The agent's answer is not an object");
  const { status, lastMessage } = body;
  if (lastMessage !== undefined && lastMessage !== null && typeof lastMessage !== 'string')
    return failed("The lastMessage of the agent's answer is not a text");
  if (typeof lastMessage === 'string' && !isWellFormed(lastMessage))
    return failed("The lastMessage of the agent's answer has a lone surrogate");
  return defined({
    status: outcomes.includes(status) ? (status as Outcome) : undefined,
    lastMessage: typeof lastMessage === 'string' ? lastMessage : undefined,
  });
};

/** Webhooks over HTTP. If the agent's message repeats secrets that were sent, they are removed from it. */
export const httpWebhook =
  (guard: Outbound, unseal: (sealed: Sealed) => string): Webhook =>
  async ({ url, headers = {}, sessionId, agent, inputs, traceparent }, signal) => {
    const secrets: string[] = [];
    const open = (sealed: Sealed): string => {
      const secret = unseal(sealed);
      secrets.push(secret);
      return secret;
    };
    try {
      const body = { sessionId, agent, inputs: openSecrets(inputs, open) };
      const opened = openSecrets(headers, open) as Readonly<Record<string, string>>;
      const { status, text } = await httpCall(guard, {
        method: 'POST',
        url,
        headers: opened,
        traceparent,
        body,
        signal,
        maxBytes,
      });
      if (status < 200 || status > 299) return failed(`The agent answered with status ${status}`);
      const answer = answerIn(text);
      if (answer.lastMessage === undefined) return answer;
      return { ...answer, lastMessage: asMessage(redacted(answer.lastMessage, secrets)) };
    } catch (error) {
      signal.throwIfAborted();
      return failed(`The agent could not be called: ${reasonOf(error)}`);
    }
  };
