import type { AreaRows } from '../engine/route.ts';
import { analyticTemplateRows } from './analyticTemplates.ts';
import { commandTemplateRows } from './commandTemplates.ts';
import { transferRows } from './mopTransfer.ts';

export const mopRows: AreaRows = {
  area: 'mop',
  prefix: '/mop',
  rows: [...transferRows, ...commandTemplateRows, ...analyticTemplateRows],
};
