import type { AreaRoutes } from '../engine/route.ts';
import { adapterRows, processRows } from './healthRows.ts';
import { commandTemplateRows, profileRows, renderingRows } from './singleRows.ts';
import { builderTaskRows, engineRows, studioTaskRows } from './taskRows.ts';
import { templateRows } from './templateRows.ts';
import { documentRows } from './workflowRows.ts';

/** Rows at the addresses of other programs (docs/clients.md). `areas` gives all routes once the table is complete. */
export const compatibleRoutes = (areas: () => readonly AreaRoutes[]): readonly AreaRoutes[] => {
  const { studio, builder, transformations } = documentRows(areas);
  const of = { area: 'operations-manager', compatible: true } as const;
  const texts = { area: 'template-builder', compatible: true } as const;
  return [
    { ...of, prefix: '/automation-studio', routes: [...studio, ...studioTaskRows] },
    { ...of, prefix: '/workflow_builder', routes: [...builder, ...builderTaskRows] },
    { ...of, prefix: '/workflow_engine', routes: engineRows },
    { ...texts, prefix: '/automation-studio', routes: templateRows },
    { ...texts, prefix: '/transformations', routes: transformations },
    { ...texts, prefix: '/configuration_manager', routes: renderingRows },
    { area: 'mop', compatible: true, prefix: '/mop', routes: commandTemplateRows },
    { area: 'profiles', compatible: true, prefix: '/profiles', routes: profileRows },
    { area: 'service', compatible: true, prefix: '/health', routes: processRows(areas) },
    { area: 'configuration-manager', compatible: true, prefix: '/health', routes: adapterRows },
  ];
};
