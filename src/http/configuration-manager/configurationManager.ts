import type { AreaRows } from '../engine/route.ts';
import { adapterRows } from './adapters.ts';
import { deviceGroupRows } from './deviceGroups.ts';
import { deviceRows } from './devices.ts';
import { planRows } from './plans.ts';
import { treeRows } from './trees.ts';

export const configurationManagerRows: AreaRows = {
  area: 'configuration-manager',
  prefix: '/configuration_manager',
  rows: [...treeRows, ...planRows, ...deviceGroupRows, ...adapterRows, ...deviceRows],
};
