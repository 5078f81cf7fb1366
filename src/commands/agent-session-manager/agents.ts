import { schemaFaultOf } from '@automation-platform/bounded-schemas';
import { type NewAgent, newAgentSchema } from '../../domain/agent-session-manager/agentSchemas.ts';
import {
  type AgentState,
  agent,
  create,
  remove,
  replace,
  sealHeaders,
} from '../../domain/agent-session-manager/agents.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { by, type Kind } from '../engine/kinds.ts';
import { referrersOfComponent } from '../operations-manager/components.ts';

const command = commandsOf(agent);

type Asked = { readonly id: string; readonly input: NewAgent; readonly state: AgentState; readonly actor: Actor };

const prepare = async ({ input, state, actor }: Asked, tools: Tools) => {
  const before = state.content?.name;
  return {
    ...schemaFaultOf(input.inputSchema),
    headers: () => sealHeaders(state, input, tools.seal),
    referrers:
      before === undefined || before === input.name ? [] : await referrersOfComponent(tools, 'agent', [before], actor),
  };
};

export const createAgent = command({ name: 'createAgent', input: newAgentSchema, on: 'new', decide: create, prepare });
export const replaceAgent = command({
  name: 'replaceAgent',
  input: newAgentSchema,
  on: 'existing',
  decide: replace,
  prepare,
});
export const deleteAgent = command({
  name: 'deleteAgent',
  on: 'existing',
  decide: remove,
  prepare: async ({ id, state: { content }, actor }, tools) => ({
    referrers: await referrersOfComponent(tools, 'agent', content ? [id, content.name] : [id], actor),
  }),
});

export const agentKind: Kind = { of: agent, restore: { there: by(replaceAgent), deleted: by(createAgent) } };
