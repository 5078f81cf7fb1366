import { endSession, startSession } from '../../commands/agent-session-manager/agentSessions.ts';
import { noInput } from '../../commands/engine/define.ts';
import {
  type Outcome,
  sessionMessageSchema,
  sessionReportSchema,
  sessionSchema,
  startedSessionSchema,
} from '../../domain/agent-session-manager/agentSessionSchemas.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import {
  agentSessions,
  type SessionDoc,
  sessionMessages,
} from '../../projections/agent-session-manager/agentSessions.ts';
import { plain, withStatus } from '../engine/envelopes.ts';
import type { CommandRoute, Join, Params, Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';

const byId = ({ id = '' }: Params): string => id;

const join: Join<SessionDoc> = async ({ job: _, ...doc }) => maskSecrets({ ...doc, agent: doc.agent.name });

const ending = (verb: string, status: Outcome, message: string, description: string): CommandRoute =>
  mappedCommandRoute({
    name: `${verb}Session`,
    method: 'post',
    path: `/sessions/:id/${verb}`,
    access: ['operators'],
    summary: `${verb.charAt(0).toUpperCase()}${verb.slice(1)} a session`,
    description,
    command: endSession,
    body: noInput,
    key: byId,
    input: (_, report) => ({ ...report, status }),
    join,
    envelope: withStatus(() => `Successfully ${message} session`),
    answer: changed(sessionSchema),
  });

/** Sessions of agents (docs/agents.md). */
export const agentSessionRoutes: readonly Route[] = [
  listRoute({
    name: 'getSessions',
    path: '/sessions',
    access: ['operators', 'readers'],
    summary: 'List sessions',
    description: 'The newest come first.',
    list: agentSessions,
    order: -1,
    join,
    answer: listed(sessionSchema),
  }),
  commandRoute({
    name: 'runAgent',
    method: 'post',
    starts: true,
    path: '/sessions/run-agent',
    access: ['operators'],
    summary: 'Run an agent',
    description:
      'Answers at once, the session runs on. Its end, of whatever kind, is told by an event if ' +
      'terminationCallbackSignature says whom to tell: source serviceName, topic methodName, data ' +
      '{identifier, location, sessionId, status, lastMessage}.',
    command: startSession,
    exact: 'inputs',
    join: async ({ status, sessionId, lastMessage }: SessionDoc) => ({ status, sessionId, lastMessage }),
    envelope: plain,
    answer: startedSessionSchema,
  }),
  getRoute({
    name: 'getSession',
    path: '/sessions/:id',
    access: ['operators', 'readers'],
    summary: 'Get a session',
    get: agentSessions,
    key: byId,
    join,
    answer: sessionSchema,
  }),
  getRoute({
    name: 'getSessionMessages',
    path: '/sessions/:id/messages',
    access: ['operators', 'readers'],
    summary: 'Get what happened in a session',
    description: 'All of it, in order.',
    get: sessionMessages,
    key: byId,
    parent: { of: agentSessions, param: 'id' },
    answer: listed(sessionMessageSchema),
  }),
  ending('cancel', 'CANCELED', 'canceled', 'A call of its webhook under way is broken off.'),
  { ...ending('complete', 'COMPLETE', 'completed', 'For agents that report later.'), body: sessionReportSchema },
  {
    ...ending('fail', 'FAILED', 'reported the failure of', 'For agents that report later.'),
    body: sessionReportSchema,
  },
];
