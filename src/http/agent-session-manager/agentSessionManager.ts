import type { AreaRoutes } from '../engine/route.ts';
import { agentSessionRoutes } from './agentSessions.ts';
import { agentRoutes } from './agents.ts';

export const agentSessionManagerRoutes: AreaRoutes = {
  area: 'agent-session-manager',
  prefix: '/agent-session-manager',
  routes: [...agentRoutes, ...agentSessionRoutes],
};
