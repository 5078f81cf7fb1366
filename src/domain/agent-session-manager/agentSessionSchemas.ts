import { type Static, Type } from 'typebox';
import { time } from '../engine/authors.ts';
import { name } from '../engine/schemas.ts';

/** The states of a session. Only a running session changes. */
const sessionStatus = Type.Enum(['RUNNING', 'COMPLETE', 'FAILED', 'CANCELED'], { description: 'Where it is' });
export type SessionStatus = Static<typeof sessionStatus>;
export type Outcome = Exclude<SessionStatus, 'RUNNING'>;

/** The longest message, in UTF-16 units. */
export const mostMessage = 65_536;

/** Makes a text fit for a message: cuts a long text and replaces lone surrogates. */
export const asMessage = (text: string): string =>
  (text.length > mostMessage ? `${text.slice(0, mostMessage - 1)}…` : text).replace(/\p{Surrogate}/gu, '\ufffd');

const inputs = Type.Unsafe<Readonly<Record<string, unknown>>>(
  Type.Object(
    {},
    {
      additionalProperties: true,
      description: 'The input of the agent; members named like secrets are kept sealed and shown as ********',
    },
  ),
);
const text = (description: string) => Type.String({ description, maxLength: 4096 });

/** The event to publish when a session ends (docs/agents.md). */
const callbackSchema = Type.Object(
  {
    location: text('Where the hook is'),
    serviceName: name('Source of the event that tells of the end; must not begin with @platform/ or $'),
    methodName: name('Its topic; must not have a colon'),
    identifier: text('The name of the session at the hook'),
  },
  {
    additionalProperties: false,
    title: 'TerminationCallback',
    description: 'The event that tells of the end: serviceName is its source, methodName its topic',
  },
);

/** The body of `runAgent`. */
export const runAgentSchema = Type.Object(
  {
    agent: name('Id or name of the agent'),
    inputs: Type.Optional(inputs),
    terminationCallbackSignature: Type.Optional(callbackSchema),
  },
  { additionalProperties: false, title: 'RunAgent', description: 'Which agent to run, and with what' },
);

const lastMessage = Type.String({ description: 'The last message of it', maxLength: mostMessage });

/** The body of an agent's report at the end. */
export const sessionReportSchema = Type.Object(
  { lastMessage: Type.Optional(lastMessage) },
  { additionalProperties: false, title: 'SessionReport', description: 'The report at the end' },
);

const sessionId = Type.String({ description: 'Id, a UUID' });

/** The answer of `runAgent`. */
export const startedSessionSchema = Type.Object(
  { status: sessionStatus, sessionId, lastMessage },
  { title: 'StartedSession', description: 'Agent session that has begun' },
);

/** A session in answers. */
export const sessionSchema = Type.Object(
  {
    sessionId,
    agent: name('Name that the agent had at the start'),
    status: sessionStatus,
    inputs,
    lastMessage,
    created: time('When it was started'),
    ended: Type.Optional(time('When it ended')),
  },
  { title: 'AgentSession', description: 'Run of an agent' },
);

/** One message of a session. They are listed in order. */
export const sessionMessageSchema = Type.Object(
  {
    at: time('When'),
    status: Type.Optional(sessionStatus),
    message: Type.String({ description: 'The text of the message' }),
  },
  { title: 'SessionMessage', description: 'Something that happened in a session; status where that changed' },
);
export type SessionMessage = Static<typeof sessionMessageSchema>;
