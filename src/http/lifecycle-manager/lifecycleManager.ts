import type { AreaRoutes } from '../engine/route.ts';
import { actionExecutionRoutes } from './actionExecutions.ts';
import { resourceGroupRoutes } from './resourceGroups.ts';
import { resourceInstanceRoutes } from './resourceInstances.ts';
import { resourceModelRoutes } from './resourceModels.ts';

export const lifecycleManagerRoutes: AreaRoutes = {
  area: 'lifecycle-manager',
  prefix: '/lifecycle-manager',
  routes: [...resourceModelRoutes, ...resourceInstanceRoutes, ...resourceGroupRoutes, ...actionExecutionRoutes],
};
