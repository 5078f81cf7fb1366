import { version } from '../version.ts';
import { authorizationRows } from './authorization.ts';
import { configurationManagerRows } from './configurationManager.ts';
import { docsRows, openapiRows } from './docs.ts';
import { formRows } from './forms.ts';
import { groupMappingRows } from './groupMappings.ts';
import { rootLoginRows } from './login.ts';
import { monitoringRows } from './monitoring.ts';
import { mopRows } from './mop.ts';
import { operationsManagerRows } from './operationsManager.ts';
import { prebuiltRows } from './prebuilts.ts';
import type { AreaRows } from './route.ts';
import { templateRows } from './templates.ts';

/** All rows of the API. */
export const areas: readonly AreaRows[] = [
  authorizationRows(() => areas),
  configurationManagerRows,
  docsRows,
  formRows,
  groupMappingRows,
  monitoringRows,
  mopRows,
  openapiRows(() => areas, { version }),
  operationsManagerRows,
  prebuiltRows,
  rootLoginRows,
  templateRows,
];
