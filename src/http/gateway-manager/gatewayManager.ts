import type { AreaRows } from '../engine/route.ts';
import { certificateRows } from './certificates.ts';
import { serviceGroupRows } from './serviceGroups.ts';

export const gatewayManagerRows: AreaRows = {
  area: 'gateway-manager',
  prefix: '/gateway_manager/v1',
  rows: [...serviceGroupRows, ...certificateRows],
};
