import { version } from '../version.ts';
import { agentSessionManagerRows } from './agentSessionManager.ts';
import { authorizationRows } from './authorization.ts';
import { configurationManagerRows } from './configurationManager.ts';
import { docsRows, openapiRows } from './docs.ts';
import { groupMappingRows } from './groupMappings.ts';
import { rootLoginRows } from './login.ts';
import { monitoringRows } from './monitoring.ts';
import { operationsManagerRows } from './operationsManager.ts';
import type { AreaRows } from './route.ts';

/** All rows of the API. */
export const areas: readonly AreaRows[] = [
  agentSessionManagerRows,
  authorizationRows(() => areas),
  configurationManagerRows,
  docsRows,
  groupMappingRows,
  monitoringRows,
  openapiRows(() => areas, { version }),
  operationsManagerRows,
  rootLoginRows,
];
