import { createAgent, deleteAgent, replaceAgent } from '../../commands/agent-session-manager/agents.ts';
import { agentSchema } from '../../domain/agent-session-manager/agentSchemas.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { type AgentDoc, agents } from '../../projections/agent-session-manager/agents.ts';
import { signed } from '../authorization/people.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { Join, Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';

const join: Join<AgentDoc> = async (doc, service, call) => maskSecrets(await signed(doc, service, call));

/** Agents, with which sessions are run. */
export const agentRoutes: readonly Route[] = [
  listRoute({
    name: 'getAgents',
    method: 'get',
    path: '/agents',
    access: ['operators', 'readers'],
    summary: 'List agents',
    list: agents,
    join,
    envelope: results,
    answer: listed(agentSchema),
  }),
  commandRoute({
    name: 'createAgent',
    method: 'post',
    path: '/agents',
    access: ['operators'],
    summary: 'Create an agent',
    description: 'A webhook needs url, a template needs template.',
    command: createAgent,
    join,
    envelope: withStatus(() => 'Successfully created agent'),
    answer: changed(agentSchema),
  }),
  getRoute({
    name: 'getAgent',
    method: 'get',
    path: '/agents/:id',
    access: ['operators', 'readers'],
    summary: 'Get an agent',
    get: agents,
    join,
    envelope: plain,
    answer: agentSchema,
  }),
  commandRoute({
    name: 'updateAgent',
    method: 'put',
    path: '/agents/:id',
    access: ['operators'],
    summary: 'Replace an agent',
    description:
      'What is left out is gone. ******** keeps the value of a header, unless url changes: then it must be sent again.',
    command: replaceAgent,
    join,
    envelope: withStatus(() => 'Successfully updated agent'),
    answer: changed(agentSchema),
  }),
  commandRoute({
    name: 'deleteAgent',
    method: 'delete',
    path: '/agents/:id',
    access: ['operators'],
    summary: 'Delete an agent',
    description: 'One that an automation runs is not deleted. Sessions that wait for a report go on.',
    command: deleteAgent,
    join,
    envelope: withStatus(() => 'Successfully deleted agent'),
    answer: changed(agentSchema),
  }),
];
