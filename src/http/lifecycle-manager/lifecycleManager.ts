import type { AreaRows } from '../engine/route.ts';
import { actionExecutionRows } from './actionExecutions.ts';
import { resourceGroupRows } from './resourceGroups.ts';
import { resourceInstanceRows } from './resourceInstances.ts';
import { resourceModelRows } from './resourceModels.ts';

export const lifecycleManagerRows: AreaRows = {
  area: 'lifecycle-manager',
  prefix: '/lifecycle-manager',
  rows: [...resourceModelRows, ...resourceInstanceRows, ...resourceGroupRows, ...actionExecutionRows],
};
