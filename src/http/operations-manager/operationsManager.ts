import type { AreaRows } from '../engine/route.ts';
import { automationRows } from './automations.ts';
import { jobRows } from './jobs.ts';
import { triggerRows } from './triggers.ts';

export const operationsManagerRows: AreaRows = {
  area: 'operations-manager',
  prefix: '/operations-manager',
  rows: [...automationRows, ...jobRows, ...triggerRows],
};
