import type { AreaRoutes } from '../engine/route.ts';
import { inventoryRoutes } from './inventories.ts';

/** Inventories, their nodes and tags (docs/inventories.md). */
export const inventoryManagerRoutes: AreaRoutes = {
  area: 'inventory-manager',
  prefix: '/inventory_manager/v1',
  routes: inventoryRoutes,
};
