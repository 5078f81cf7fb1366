import type { AreaRoutes } from '../engine/route.ts';
import { adapterRoutes } from './adapters.ts';
import { complianceReportRoutes } from './complianceReports.ts';
import { complianceRunRoutes } from './complianceRuns.ts';
import { complianceSummaryRoutes } from './complianceSummaries.ts';
import { configSpecRoutes } from './configSpecs.ts';
import { configurationChangeRoutes } from './configurationChanges.ts';
import { configurationParserRoutes } from './configurationParsers.ts';
import { credentialRoutes } from './credentials.ts';
import { deviceBackupRoutes } from './deviceBackups.ts';
import { deviceGroupRoutes } from './deviceGroups.ts';
import { deviceRoutes } from './devices.ts';
import { deviceTemplateRoutes } from './deviceTemplates.ts';
import { hostKeyRoutes } from './hostKeys.ts';
import { nodeConfigRoutes } from './nodeConfigs.ts';
import { planRoutes } from './plans.ts';
import { treeRoutes, treeTransferRoutes } from './trees.ts';
import { treeVersionRoutes } from './treeVersions.ts';

export const configurationManagerRoutes: AreaRoutes = {
  area: 'configuration-manager',
  prefix: '/configuration_manager',
  spellings: { devicegroups: 'deviceGroups' },
  routes: [
    ...treeTransferRoutes,
    ...treeRoutes,
    ...treeVersionRoutes,
    ...nodeConfigRoutes,
    ...configSpecRoutes,
    ...complianceReportRoutes,
    ...complianceRunRoutes,
    ...complianceSummaryRoutes,
    ...planRoutes,
    ...deviceGroupRoutes,
    ...adapterRoutes,
    ...credentialRoutes,
    ...deviceBackupRoutes,
    ...deviceRoutes,
    ...configurationChangeRoutes,
    ...deviceTemplateRoutes,
    ...configurationParserRoutes,
    ...hostKeyRoutes,
  ],
};
