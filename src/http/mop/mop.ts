import type { AreaRoutes } from '../engine/route.ts';
import { analyticTemplateRoutes } from './analyticTemplates.ts';
import { commandTemplateRoutes } from './commandTemplates.ts';
import { transferRoutes } from './mopTransfer.ts';

export const mopRoutes: AreaRoutes = {
  area: 'mop',
  prefix: '/mop',
  routes: [...transferRoutes, ...commandTemplateRoutes, ...analyticTemplateRoutes],
};
