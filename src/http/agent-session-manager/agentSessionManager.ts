import type { AreaRows } from '../engine/route.ts';
import { agentSessionRows } from './agentSessions.ts';
import { agentRows } from './agents.ts';

export const agentSessionManagerRows: AreaRows = {
  area: 'agent-session-manager',
  prefix: '/agent-session-manager',
  rows: [...agentRows, ...agentSessionRows],
};
