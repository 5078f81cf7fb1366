import type { AreaRoutes } from '../engine/route.ts';
import { automationRoutes } from './automations.ts';
import { jobRoutes } from './jobs.ts';
import { triggerRoutes } from './triggers.ts';

export const operationsManagerRoutes: AreaRoutes = {
  area: 'operations-manager',
  prefix: '/operations-manager',
  routes: [...automationRoutes, ...jobRoutes, ...triggerRoutes],
};
