import { authorizationRows } from './authorization.ts';
import { configurationManagerRows } from './configurationManager.ts';
import { groupMappingRows } from './groupMappings.ts';
import { rootLoginRows } from './login.ts';
import { monitoringRows } from './monitoring.ts';
import { operationsManagerRows } from './operationsManager.ts';
import type { AreaRows } from './route.ts';

/** All rows of the API. */
export const areas: readonly AreaRows[] = [
  authorizationRows(() => areas),
  configurationManagerRows,
  groupMappingRows,
  monitoringRows,
  operationsManagerRows,
  rootLoginRows,
];
