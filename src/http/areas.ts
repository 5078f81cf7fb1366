import { listedTopics } from '../domain/topics.ts';
import { version } from '../version.ts';
import { agentSessionManagerRoutes } from './agent-session-manager/agentSessionManager.ts';
import { auditRoutes } from './audit/audit.ts';
import { authorizationRoutes } from './authorization/authorization.ts';
import { rootLoginRoutes } from './authorization/login.ts';
import { automationCatalogRoutes } from './automation-catalog/scheduledJobs.ts';
import { projectRoutes } from './automation-studio/projects.ts';
import { configurationManagerRoutes } from './configuration-manager/configurationManager.ts';
import { consoleRoutes } from './console/console.ts';
import { bannerRoutes } from './customization/banner.ts';
import { asyncapiRoutes, docsRoutes, openapiRoutes } from './documentation/docs.ts';
import { monitoringRoutes } from './engine/monitoring.ts';
import type { AreaRoutes } from './engine/route.ts';
import { gatewayManagerRoutes } from './gateway-manager/gatewayManager.ts';
import { groupMappingRoutes } from './group-mappings/groupMappings.ts';
import { healthRoutes } from './health/health.ts';
import { inventoryManagerRoutes } from './inventory-manager/inventoryManager.ts';
import { formRoutes } from './json-forms/forms.ts';
import { lifecycleManagerRoutes } from './lifecycle-manager/lifecycleManager.ts';
import { mopRoutes } from './mop/mop.ts';
import { operationsManagerRoutes } from './operations-manager/operationsManager.ts';
import { prebuiltRoutes } from './prebuilts/prebuilts.ts';
import { profileRoutes } from './profiles/profiles.ts';
import { templateBuilderRoutes } from './template-builder/templateBuilder.ts';

export const areas: readonly AreaRoutes[] = [
  agentSessionManagerRoutes,
  asyncapiRoutes(listedTopics, { version }),
  auditRoutes(() => areas),
  authorizationRoutes(() => areas),
  automationCatalogRoutes,
  projectRoutes,
  bannerRoutes,
  configurationManagerRoutes,
  consoleRoutes,
  docsRoutes,
  formRoutes,
  gatewayManagerRoutes,
  groupMappingRoutes,
  healthRoutes,
  inventoryManagerRoutes,
  lifecycleManagerRoutes,
  monitoringRoutes,
  mopRoutes,
  openapiRoutes(() => areas, { version }),
  operationsManagerRoutes(() => areas),
  prebuiltRoutes,
  profileRoutes,
  rootLoginRoutes(() => areas),
  templateBuilderRoutes(() => areas),
];
