import type { AreaRoutes } from '../engine/route.ts';
import { automationRoutes } from './automations.ts';
import { eventRoutes, eventStreamRoutes } from './events.ts';
import { jobClaimRoutes } from './jobClaims.ts';
import { jobRoutes, jobStreamRoutes } from './jobs.ts';
import { jobTaskRoutes } from './jobTasks.ts';
import { parkedRunRoutes } from './parkedRuns.ts';
import { simulationRoutes } from './simulations.ts';
import { taskRoutes } from './tasks.ts';
import { triggerRunRoutes } from './triggerRuns.ts';
import { triggerRoutes } from './triggers.ts';
import { triggerTestRoutes } from './triggerTests.ts';
import { workflowRoutes } from './workflows.ts';

/** `areas` gives all routes once the table is complete. */
export const operationsManagerRoutes = (areas: () => readonly AreaRoutes[]): AreaRoutes => ({
  area: 'operations-manager',
  prefix: '/operations-manager',
  routes: [
    ...automationRoutes,
    ...eventRoutes,
    ...eventStreamRoutes,
    ...jobClaimRoutes,
    ...jobStreamRoutes,
    ...jobRoutes,
    ...jobTaskRoutes,
    ...taskRoutes,
    ...parkedRunRoutes,
    ...triggerRunRoutes,
    ...triggerTestRoutes,
    ...triggerRoutes,
    ...workflowRoutes(areas),
    ...simulationRoutes,
  ],
});
