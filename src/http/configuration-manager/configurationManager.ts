import type { AreaRoutes } from '../engine/route.ts';
import { adapterRoutes } from './adapters.ts';
import { deviceGroupRoutes } from './deviceGroups.ts';
import { deviceRoutes } from './devices.ts';
import { planRoutes } from './plans.ts';
import { treeRoutes, treeTransferRoutes } from './trees.ts';

export const configurationManagerRoutes: AreaRoutes = {
  area: 'configuration-manager',
  prefix: '/configuration_manager',
  routes: [
    ...treeTransferRoutes,
    ...treeRoutes,
    ...planRoutes,
    ...deviceGroupRoutes,
    ...adapterRoutes,
    ...deviceRoutes,
  ],
};
