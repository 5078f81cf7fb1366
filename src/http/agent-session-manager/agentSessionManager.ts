import { agentRows } from './agents.ts';
import { agentSessionRows } from './agentSessions.ts';
import type { AreaRows } from '../engine/route.ts';

export const agentSessionManagerRows: AreaRows = {
  area: 'agent-session-manager',
  prefix: '/agent-session-manager',
  rows: [...agentRows, ...agentSessionRows],
};
