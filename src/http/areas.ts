import { listedTopics } from '../domain/topics.ts';
import { version } from '../version.ts';
import { agentSessionRoutes } from './agent-session-manager/agentSessions.ts';
import { agentRoutes } from './agent-session-manager/agents.ts';
import { auditRoutes } from './audit/audit.ts';
import { authorizationRoutes } from './authorization/authorization.ts';
import { rootLoginRoutes } from './authorization/login.ts';
import { automationCatalogRoutes } from './automation-catalog/scheduledJobs.ts';
import { projectRoutes } from './automation-studio/projects.ts';
import { compatibleRoutes } from './compatibility/compatibility.ts';
import { configurationManagerRoutes } from './configuration-manager/configurationManager.ts';
import { consoleRoutes } from './console/console.ts';
import { bannerRoutes } from './customization/banner.ts';
import { asyncapiRoutes, docsRoutes, openapiRoutes } from './documentation/docs.ts';
import { monitoringRoutes } from './engine/monitoring.ts';
import type { AreaRoutes } from './engine/route.ts';
import { certificateRoutes } from './gateway-manager/certificates.ts';
import { serviceGroupRoutes } from './gateway-manager/serviceGroups.ts';
import { groupMappingRoutes } from './group-mappings/groupMappings.ts';
import { healthRoutes } from './health/health.ts';
import { inventoryManagerRoutes } from './inventory-manager/inventoryManager.ts';
import { formRoutes } from './json-forms/forms.ts';
import { actionExecutionRoutes } from './lifecycle-manager/actionExecutions.ts';
import { resourceGroupRoutes } from './lifecycle-manager/resourceGroups.ts';
import { resourceInstanceRoutes } from './lifecycle-manager/resourceInstances.ts';
import { resourceModelRoutes } from './lifecycle-manager/resourceModels.ts';
import { analyticTemplateRoutes } from './mop/analyticTemplates.ts';
import { commandTemplateRoutes } from './mop/commandTemplates.ts';
import { transferRoutes } from './mop/mopTransfer.ts';
import { operationsManagerRoutes } from './operations-manager/operationsManager.ts';
import { prebuiltRoutes } from './prebuilts/prebuilts.ts';
import { profileRoutes } from './profiles/profiles.ts';
import { templateRoutes } from './template-builder/templates.ts';
import { transformationRoutes } from './template-builder/transformations.ts';

export const areas: readonly AreaRoutes[] = [
  {
    area: 'agent-session-manager',
    prefix: '/agent-session-manager',
    routes: [...agentRoutes, ...agentSessionRoutes],
  },
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
  { area: 'gateway-manager', prefix: '/gateway_manager/v1', routes: [...serviceGroupRoutes, ...certificateRoutes] },
  groupMappingRoutes,
  healthRoutes,
  inventoryManagerRoutes,
  {
    area: 'lifecycle-manager',
    prefix: '/lifecycle-manager',
    routes: [...resourceModelRoutes, ...resourceInstanceRoutes, ...resourceGroupRoutes, ...actionExecutionRoutes],
  },
  monitoringRoutes,
  { area: 'mop', prefix: '/mop', routes: [...transferRoutes, ...commandTemplateRoutes, ...analyticTemplateRoutes] },
  openapiRoutes(() => areas, { version }),
  operationsManagerRoutes(() => areas),
  prebuiltRoutes,
  profileRoutes,
  rootLoginRoutes(() => areas),
  {
    area: 'template-builder',
    prefix: '/template_builder',
    routes: [...templateRoutes, ...transformationRoutes(() => areas)],
  },
  ...compatibleRoutes(() => areas),
];
