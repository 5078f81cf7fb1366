import { version } from '../version.ts';
import { agentSessionManagerRows } from './agentSessionManager.ts';
import { authorizationRows } from './authorization.ts';
import { bannerRows } from './banner.ts';
import { configurationManagerRows } from './configurationManager.ts';
import { docsRows, openapiRows } from './docs.ts';
import { formRows } from './forms.ts';
import { gatewayManagerRows } from './gatewayManager.ts';
import { groupMappingRows } from './groupMappings.ts';
import { inventoryManagerRows } from './inventories.ts';
import { lifecycleManagerRows } from './lifecycleManager.ts';
import { rootLoginRows } from './login.ts';
import { monitoringRows } from './monitoring.ts';
import { mopRows } from './mop.ts';
import { operationsManagerRows } from './operationsManager.ts';
import { prebuiltRows } from './prebuilts.ts';
import { profileRows } from './profiles.ts';
import type { AreaRows } from './route.ts';
import { automationCatalogRows } from './scheduledJobs.ts';
import { templateRows } from './templates.ts';

/** All rows of the API. */
export const areas: readonly AreaRows[] = [
  agentSessionManagerRows,
  authorizationRows(() => areas),
  automationCatalogRows,
  bannerRows,
  configurationManagerRows,
  docsRows,
  formRows,
  gatewayManagerRows,
  groupMappingRows,
  inventoryManagerRows,
  lifecycleManagerRows,
  monitoringRows,
  mopRows,
  openapiRows(() => areas, { version }),
  operationsManagerRows,
  prebuiltRows,
  profileRows,
  rootLoginRows(() => areas),
  templateRows,
];
