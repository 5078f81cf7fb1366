import { type AgentContent, agent } from '../../domain/agent-session-manager/agents.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';

export type AgentDoc = { readonly _id: string } & AgentContent & Authored;

/** Agents. The values of their headers are sealed; authors are ids of accounts. */
export const agents = projection<AgentDoc>()(agent, {
  collection: 'agents',
  on: {
    agentCreated: (_, event) => ({ _id: idOf(event), ...event.data, ...authorship(event) }),
    agentReplaced: (doc, event) =>
      doc && { _id: doc._id, ...event.data, created: doc.created, createdBy: doc.createdBy, ...touched(event) },
    agentDeleted: () => undefined,
  },
  component: 'agent',
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created },
  filters: { name: (doc) => doc.name, runner: (doc) => doc.runner },
});
