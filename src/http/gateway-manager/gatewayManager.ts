import type { AreaRoutes } from '../engine/route.ts';
import { certificateRoutes } from './certificates.ts';
import { serviceGroupRoutes } from './serviceGroups.ts';

export const gatewayManagerRoutes: AreaRoutes = {
  area: 'gateway-manager',
  prefix: '/gateway_manager/v1',
  routes: [...serviceGroupRoutes, ...certificateRoutes],
};
