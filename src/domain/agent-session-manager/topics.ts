import { Type } from 'typebox';
import { type Described, describeTopics, members, nothing, sealed, text, textOrNull, texts } from '../engine/topics.ts';
import { agentSession } from './agentSessions.ts';
import { agent } from './agents.ts';

const agentContent = Type.Object({
  name: text,
  description: text,
  inputSchema: members,
  runner: text,
  timeout: Type.Number({ description: 'Seconds' }),
  url: Type.Optional(text),
  headers: Type.Optional(Type.Record(Type.String(), sealed)),
  template: Type.Optional(text),
});
const said = Type.Object({ lastMessage: text });

export const agentTopics: readonly Described[] = [
  describeTopics(agent, {
    agentCreated: ['An agent was created', agentContent],
    agentReplaced: ['An agent got new content', agentContent],
    agentDeleted: ['An agent was deleted', nothing],
  }),
  describeTopics(agentSession, {
    sessionStarted: [
      'A session of an agent began',
      Type.Object({
        agent: Type.Object({ id: text, name: text }),
        inputs: members,
        timeout: Type.Number({ description: 'Seconds' }),
        callback: Type.Optional(Type.Object({ location: text, serviceName: text, methodName: text, identifier: text })),
        lastMessage: text,
        job: Type.Optional(Type.Object({ id: text, automation: textOrNull, groups: texts })),
      }),
    ],
    sessionPosted: ['The webhook of an agent is about to be called', nothing],
    sessionMessageReceived: ['An agent sent a message, and its session goes on', said],
    sessionCompleted: ['A session of an agent ended well', said],
    sessionFailed: ['A session of an agent failed', said],
    sessionCanceled: ['A session of an agent was canceled', said],
  }),
];
