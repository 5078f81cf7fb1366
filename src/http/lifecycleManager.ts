import { executionRows } from './actionExecutions.ts';
import { resourceGroupRows } from './resourceGroups.ts';
import { instanceRows } from './resourceInstances.ts';
import { modelRows } from './resourceModels.ts';
import type { AreaRows } from './route.ts';

export const lifecycleManagerRows: AreaRows = { area: 'lifecycle-manager', prefix: '/lifecycle-manager', rows: [...modelRows, ...instanceRows, ...resourceGroupRows, ...executionRows] };
