import { analyticTemplateRows } from './analyticTemplates.ts';
import { commandTemplateRows } from './commandTemplates.ts';
import { transferRows } from './mopTransfer.ts';
import type { AreaRows } from '../engine/route.ts';

export const mopRows: AreaRows = {
  area: 'mop',
  prefix: '/mop',
  rows: [...transferRows, ...commandTemplateRows, ...analyticTemplateRows],
};
