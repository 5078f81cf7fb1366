import type { Outcome, SessionMessage, SessionStatus } from '../../domain/agent-session-manager/agentSessionSchemas.ts';
import {
  agentSession,
  type SessionJob,
  type SessionStarted,
} from '../../domain/agent-session-manager/agentSessions.ts';
import { defined } from '../../domain/engine/defined.ts';
import type { Recorded } from '../../store/event.ts';
import { idOf, projection } from '../engine/define.ts';
import { guardOfJob } from '../operations-manager/jobs.ts';

export type SessionDoc = {
  readonly sessionId: string;
  readonly agent: SessionStarted['agent'];
  readonly status: SessionStatus;
  readonly inputs: SessionStarted['inputs'];
  readonly lastMessage: string;
  readonly created: string;
  readonly ended?: string;
  readonly job?: SessionJob;
};

type Said = Recorded<{ readonly lastMessage: string }>;

const ended =
  (status: Outcome) =>
  (doc: SessionDoc | undefined, { data: { lastMessage }, metadata: { at } }: Said): SessionDoc | undefined =>
    doc && { ...doc, status, lastMessage, ended: at };

/** Sessions of agents. Secrets in their inputs are sealed. */
export const agentSessions = projection<SessionDoc>()(agentSession, {
  collection: 'agentSessions',
  on: {
    sessionStarted: (_, event) => {
      const {
        data: { agent, inputs, lastMessage, job },
        metadata: { at },
      } = event;
      return {
        sessionId: idOf(event),
        agent,
        status: 'RUNNING',
        inputs,
        lastMessage,
        created: at,
        ...defined({ job }),
      };
    },
    sessionPosted: (doc) => doc,
    sessionMessageReceived: (doc, { data: { lastMessage } }) => doc && { ...doc, lastMessage },
    sessionCompleted: ended('COMPLETE'),
    sessionFailed: ended('FAILED'),
    sessionCanceled: ended('CANCELED'),
  },
  retires: { ended: ({ ended }) => ended, from: 'created' },
  sorts: { created: (doc) => doc.created, status: (doc) => doc.status },
  filters: { status: (doc) => doc.status, agent: ({ agent }) => [agent.id, agent.name] },
  guard: ({ job }) => job && guardOfJob(job),
});

/** The messages of a session, as the route answers them. */
export type SessionMessages = { readonly results: readonly SessionMessage[]; readonly total: number };

const appended = (doc: SessionMessages | undefined, message: SessionMessage): SessionMessages => {
  const results = [...(doc?.results ?? []), message];
  return { results, total: results.length };
};

const notice =
  (status?: SessionStatus) =>
  (doc: SessionMessages | undefined, { data: { lastMessage: message }, metadata: { at } }: Said): SessionMessages =>
    appended(doc, status ? { at, status, message } : { at, message });

/** The messages of sessions. */
export const sessionMessages = projection<SessionMessages>()(agentSession, {
  collection: 'agentSessionMessages',
  on: {
    sessionStarted: notice('RUNNING'),
    sessionPosted: (doc, { metadata: { at } }) => appended(doc, { at, message: 'Sent to the agent' }),
    sessionMessageReceived: notice(),
    sessionCompleted: notice('COMPLETE'),
    sessionFailed: notice('FAILED'),
    sessionCanceled: notice('CANCELED'),
  },
  beside: true,
  sorts: { begun: ({ results }) => results[0]?.at ?? '' },
  filters: {},
});
