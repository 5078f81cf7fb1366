import type { AreaRoutes } from '../engine/route.ts';
import { templateRoutes } from './templates.ts';
import { transformationRoutes } from './transformations.ts';

/** `areas` gives all routes once the table is complete. */
export const templateBuilderRoutes = (areas: () => readonly AreaRoutes[]): AreaRoutes => ({
  area: 'template-builder',
  prefix: '/template_builder',
  routes: [...templateRoutes, ...transformationRoutes(areas)],
});
