import { type Static, Type } from 'typebox';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { type Fault, RequestError } from '../engine/requestError.ts';
import { anyMembers, nothing, text, textOrNull, texts, topicsOf } from '../engine/topics.ts';
import { refuseReserved } from '../operations-manager/publishedEvents.ts';
import type { Outcome, runAgentSchema, SessionStatus } from './agentSessionSchemas.ts';

/** The job that runs the agent, and what says who may see it. That never changes. */
const job = Type.Object({ id: text, automation: textOrNull, groups: texts, inventories: Type.Optional(texts) });
export type SessionJob = SchemaData<typeof job>;

const started = Type.Object({
  agent: Type.Object({ id: text, name: text }),
  /** With sealed secrets. */
  inputs: anyMembers,
  /** Counted from this event. */
  timeout: Type.Number({ description: 'Seconds' }),
  callback: Type.Optional(Type.Object({ location: text, serviceName: text, methodName: text, identifier: text })),
  lastMessage: text,
  /** Missing in sessions that no job has started, and in those of earlier versions. */
  job: Type.Optional(job),
});
export type SessionStarted = SchemaData<typeof started>;

const message = Type.Object({ lastMessage: text });
type Message = SchemaData<typeof message>;

const topics = topicsOf({
  sessionStarted: ['A session of an agent began', started],
  /** Stored before the webhook is called, so that it is called once at most. */
  sessionPosted: ['The webhook of an agent is about to be called', nothing],
  sessionMessageReceived: ['An agent sent a message, and its session goes on', message],
  sessionCompleted: ['A session of an agent ended well', message],
  sessionFailed: ['A session of an agent failed', message],
  sessionCanceled: ['A session of an agent was canceled', message],
});
export type SessionEvent = EventOf<typeof topics>;

export type SessionState = {
  readonly status?: SessionStatus;
  readonly posted: boolean;
  readonly lastMessage: string;
  readonly callback?: SessionStarted['callback'];
  readonly job?: SessionJob;
};

const become =
  (status: Outcome) =>
  (state: SessionState, { lastMessage }: Message): SessionState => ({
    ...state,
    status,
    lastMessage,
  });

/** One run of an agent (docs/agents.md). */
export const agentSession = aggregate<SessionState, SessionEvent>({
  area: 'agent-session-manager',
  category: 'agentSession',
  topics,
  ids: 'uuid',
  initial: { posted: false, lastMessage: '' },
  evolve: {
    sessionStarted: (_, { lastMessage, callback, job }) => ({
      status: 'RUNNING',
      posted: false,
      lastMessage,
      ...defined({ callback, job }),
    }),
    sessionPosted: (state) => ({ ...state, posted: true }),
    sessionMessageReceived: (state, { lastMessage }) => ({ ...state, lastMessage }),
    sessionCompleted: become('COMPLETE'),
    sessionFailed: become('FAILED'),
    sessionCanceled: become('CANCELED'),
  },
  exists: ({ status }) => status !== undefined,
});

/** The agent if it exists, the faults of the inputs, and the inputs with sealed secrets. */
export type StartRefs = {
  readonly agent: (SessionStarted['agent'] & { readonly timeout: number }) | undefined;
  readonly faults: readonly Fault[];
  readonly inputs: SessionStarted['inputs'];
  /** The job that runs the agent, if one does. */
  readonly job?: SessionJob;
};

const callbackPath = '/terminationCallbackSignature';

export const start = (
  _: SessionState,
  { terminationCallbackSignature: callback }: Static<typeof runAgentSchema>,
  { refs }: Context<StartRefs>,
): readonly SessionEvent[] => {
  if (callback)
    refuseReserved(callback.serviceName, callback.methodName, {
      source: `${callbackPath}/serviceName`,
      topic: `${callbackPath}/methodName`,
    });
  if (!refs.agent) throw new RequestError('not_found', 'No such agent', { path: '/agent' });
  if (refs.faults.length > 0)
    throw new RequestError('unprocessable', "The inputs do not fit the agent's input schema", { faults: refs.faults });
  const { id, name, timeout } = refs.agent;
  return [
    {
      topic: 'sessionStarted',
      data: {
        agent: { id, name },
        inputs: refs.inputs,
        timeout,
        ...defined({ callback, job: refs.job }),
        lastMessage: 'Started',
      },
    },
  ];
};

/** No event if the session was posted or has ended: then nobody may post it. */
export const post = ({ status, posted }: SessionState): readonly SessionEvent[] =>
  status === 'RUNNING' && !posted ? [{ topic: 'sessionPosted', data: {} }] : [];

export const note = ({ status }: SessionState, { lastMessage }: Message): readonly SessionEvent[] =>
  status === 'RUNNING' ? [{ topic: 'sessionMessageReceived', data: { lastMessage } }] : [];

const topicOf = { COMPLETE: 'sessionCompleted', FAILED: 'sessionFailed', CANCELED: 'sessionCanceled' } as const;

export type EndInput = { readonly status: Outcome; readonly lastMessage?: string };

/** Without a new message, the former one stays the last. */
export const end = (
  state: SessionState,
  { status, lastMessage = state.lastMessage }: EndInput,
  { id }: Context,
): readonly SessionEvent[] => {
  if (state.status === status && state.lastMessage === lastMessage) return [];
  if (state.status !== 'RUNNING')
    throw new RequestError('conflict', `Session ${id} has ended: ${state.status}`, {
      faults: [{ message: `It is ${state.status}`, id }],
    });
  return [{ topic: topicOf[status], data: { lastMessage } }];
};
