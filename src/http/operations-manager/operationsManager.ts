import type { AreaRoutes } from '../engine/route.ts';
import { automationRoutes } from './automations.ts';
import { eventRoutes, eventStreamRoutes } from './events.ts';
import { jobClaimRoutes } from './jobClaims.ts';
import { jobRoutes, jobStreamRoutes } from './jobs.ts';
import { parkedRunRoutes } from './parkedRuns.ts';
import { triggerRunRoutes } from './triggerRuns.ts';
import { triggerRoutes } from './triggers.ts';
import { triggerTestRoutes } from './triggerTests.ts';

export const operationsManagerRoutes: AreaRoutes = {
  area: 'operations-manager',
  prefix: '/operations-manager',
  routes: [
    ...automationRoutes,
    ...eventRoutes,
    ...eventStreamRoutes,
    ...jobClaimRoutes,
    ...jobStreamRoutes,
    ...jobRoutes,
    ...parkedRunRoutes,
    ...triggerRunRoutes,
    ...triggerTestRoutes,
    ...triggerRoutes,
  ],
};
