import { createAgent, deleteAgent, replaceAgent } from '../../commands/agent-session-manager/agents.ts';
import { agentSchema } from '../../domain/agent-session-manager/agentSchemas.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { agents } from '../../projections/agent-session-manager/agents.ts';
import { signed } from '../authorization/people.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Route } from '../engine/route.ts';

const usual = resourceRoutes({
  noun: 'agent',
  path: '/agents',
  one: '/agents/:id',
  documents: agents,
  schema: agentSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
  join: async (doc, service, call) => maskSecrets(await signed(doc, service, call)),
});

/** Agents, with which sessions are run. */
export const agentRoutes: readonly Route[] = [
  usual.list({ name: 'getAgents', summary: 'List agents' }),
  usual.create({
    name: 'createAgent',
    summary: 'Create an agent',
    description: 'A webhook needs url, a template needs template.',
    command: createAgent,
  }),
  usual.get({ name: 'getAgent', summary: 'Get an agent' }),
  usual.update({
    name: 'updateAgent',
    method: 'put',
    summary: 'Replace an agent',
    description:
      'Members that are left out are removed. ******** keeps the value of a header, unless url changes: then it must be sent again.',
    command: replaceAgent,
  }),
  usual.remove({
    name: 'deleteAgent',
    summary: 'Delete an agent',
    description: 'One that an automation runs is not deleted. Sessions that wait for a report go on.',
    command: deleteAgent,
  }),
];
