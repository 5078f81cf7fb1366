/** A task that published workflows use: the number of workflows that do, and true if people carry it out. */
type PublishedTask = {
  readonly app: string;
  readonly name: string;
  readonly workflows: number;
  readonly manual: boolean;
};

/*
 * Facts, counted over the workflows of public repositories at all their versions, each content once: `application.task
 * workflows`. `<brand>` stands for the name of another product. Of adapters: `application, workflows, different tasks`.
 */

const applications = `
WorkFlowEngine.transformation 284
WorkFlowEngine.evaluation 243
WorkFlowEngine.query 224
WorkFlowEngine.ViewData 219 manual
WorkFlowEngine.stub 168
WorkFlowEngine.childJob 105
WorkFlowEngine.merge 97
MOP.reattempt 83
WorkFlowEngine.newVariable 69
WorkFlowEngine.delay 39
WorkFlowEngine.arrayPush 33
WorkFlowEngine.setObjectKey 21
MOP.RunCommandTemplate 20
WorkFlowEngine.makeData 20
WorkFlowEngine.stringConcat 20
JsonForms.ShowJsonForm 17 manual
TemplateBuilder.renderJinjaTemplate 17
WorkFlowEngine.forEach 17
WorkFlowEngine.arrayLength 15
AGManager.<brand>_cli 13
WorkFlowEngine.getTime 12
MOP.viewTemplateResults 11 manual
WorkFlowEngine.updateJobDescription 10
AppArtifacts.componentDiscovery 9
AppArtifacts.createPublishedArtifactFromScratch 9
MOP.runTemplatesDiff 9 manual
TemplateBuilder.renderJinja2ContextWithCast 9
WorkFlowEngine.push 9
AppArtifacts.gatherInternalGET 7 manual
WorkFlowEngine.parse 6
ConfigurationManager.backUpDevice 5
ConfigurationManager.runComplianceForTree 5
WorkFlowEngine.arrayConcat 5
WorkFlowEngine.modify 5
WorkFlowEngine.numberToString 5
WorkFlowEngine.objectToString 5
AppArtifacts.replaceArtifactAdminEssentials 4
WorkFlowEngine.calculateTimeDiff 4
AppArtifacts.addArtifactToAdminEssentials 3
AppArtifacts.downloadArtifact 3 manual
ConfigurationManager.getDevice 3
ConfigurationManager.getGoldenConfigTrees 3
GatewayManager.runCode 3
JsonForms.RenderJsonSchema 3 manual
WorkFlowEngine.arrayIncludes 3
WorkFlowEngine.arrayToString 3
WorkFlowEngine.restCall 3
GatewayManager.sendConfig 2
InventoryManager.clearInventory 2
InventoryManager.createInventory 2
InventoryManager.deleteInventory 2
InventoryManager.getInventoryByIdentifier 2
InventoryManager.populateInventory 2
LifecycleManager.runAction 2
ServiceCog.ViewTestService 2 manual
TemplateBuilder.applyTemplate 2
TemplateBuilder.renderJinja2TemplateWithCast 2
WorkFlowEngine.ViewHTML 2 manual
WorkFlowEngine.convertTimeFormat 2
WorkFlowEngine.decision 2
AGManager.<brand>_netmiko_set_config 1
AppArtifacts.categorizeComponentData 1
AppArtifacts.gatherHealthcheck 1 manual
AppArtifacts.getArtifactEntrypoint 1
AppArtifacts.prepareDiscoveryReport 1
AppArtifacts.prepareExports 1
AppArtifacts.shallowRemoveArtifactFromAdminEssentials 1
AppArtifacts.updateBundle 1
AppArtifacts.updatePublishedArtifact 1
ConfigurationManager.getComplianceReportDetail 1
ConfigurationManager.getDeviceBackupById 1
ConfigurationManager.getGoldenConfigTree 1
ConfigurationManager.isAlive 1
ConfigurationManager.renderJinja2 1
FormBuilder.ShowFormByName 1 manual
GatewayManager.runService 1
LifecycleManager.getResourceInstanceByName 1
MOP.runAnalyticsTemplate 1
NSOManager.restAction 1
ServiceCog.getInstance 1
ServiceCog.saveInstances 1
ServiceCog.testInstances 1
WorkFlowEngine.ViewDiff 1 manual
WorkFlowEngine.arrayIndexOf 1
WorkFlowEngine.deepmerge 1
WorkFlowEngine.isArray 1
WorkFlowEngine.join 1
WorkFlowEngine.replace 1
WorkFlowEngine.split 1
WorkFlowEngine.stringLength 1
WorkFlowEngine.substring 1
WorkFlowEngine.toLowerCase 1
WorkFlowEngine.validateJsonSchema 1
`;

const adapters = `
Awsec2, 35, 23
Atlassian Jira Cloud, 32, 32
Infoblox, 20, 14
F5BigIQ, 18, 18
Servicenow, 18, 12
GitHub, 16, 18
KentikV5, 12, 6
Gitlab, 10, 15
Panorama, 9, 6
DBMongo, 8, 9
NetboxV33, 8, 9
AutomationGateway, 6, 6
VersaDirector, 6, 10
Alkira, 5, 10
Meraki, 5, 4
IpFabric, 4, 5
Msteams, 4, 1
NSO, 4, 8
Jira, 3, 4
NetBox, 2, 7
Awss3, 1, 2
Bitbucket, 1, 8
EmailOpensource, 1, 1
Iap, 1, 2
Kafkav2, 1, 1
`;

const linesOf = (text: string): readonly string[] => text.trim().split('\n');

export const publishedTasks: readonly PublishedTask[] = linesOf(applications).map((line) => {
  const [task = '', workflows, type] = line.split(' ');
  const [app = '', name = ''] = task.split('.');
  return { app, name, workflows: Number(workflows), manual: type === 'manual' };
});

export const publishedAdapters = linesOf(adapters).map((line) => {
  const [app = '', workflows, tasks] = line.split(', ');
  return { app, workflows: Number(workflows), tasks: Number(tasks) };
});
