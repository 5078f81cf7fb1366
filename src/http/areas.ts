import { version } from '../version.ts';
import { agentSessionManagerRows } from './agent-session-manager/agentSessionManager.ts';
import { authorizationRows } from './authorization/authorization.ts';
import { rootLoginRows } from './authorization/login.ts';
import { automationCatalogRows } from './automation-catalog/scheduledJobs.ts';
import { configurationManagerRows } from './configuration-manager/configurationManager.ts';
import { bannerRows } from './customization/banner.ts';
import { docsRows, openapiRows } from './documentation/docs.ts';
import { monitoringRows } from './engine/monitoring.ts';
import type { AreaRows } from './engine/route.ts';
import { gatewayManagerRows } from './gateway-manager/gatewayManager.ts';
import { groupMappingRows } from './group-mappings/groupMappings.ts';
import { inventoryManagerRows } from './inventory-manager/inventories.ts';
import { formRows } from './json-forms/forms.ts';
import { lifecycleManagerRows } from './lifecycle-manager/lifecycleManager.ts';
import { mopRows } from './mop/mop.ts';
import { operationsManagerRows } from './operations-manager/operationsManager.ts';
import { prebuiltRows } from './prebuilts/prebuilts.ts';
import { profileRows } from './profiles/profiles.ts';
import { templateRows } from './template-builder/templates.ts';

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
