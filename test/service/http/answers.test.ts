import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import Schema from 'typebox/schema';
import { hostKeyId } from '../../../src/commands/configuration-manager/hostKeys.ts';
import { loadSample } from '../../../src/demo/load.ts';
import { vlanRollout } from '../../../src/demo/prebuilts.ts';
import type { Kept } from '../../../src/demo/step.ts';
import { areas } from '../../../src/http/areas.ts';
import type { Example } from '../../../src/http/documentation/openapiParts.ts';
import type { Route } from '../../../src/http/engine/route.ts';
import { fullPathOf } from '../../../src/http/engine/router.ts';
import type { Projection } from '../../../src/projections/engine/define.ts';
import { gateway } from '../../support/certificates.ts';
import { emptyDirectory } from '../../support/emptyDirectory.ts';
import { recordings, steadied } from '../../support/examples.ts';
import { storedEarlier } from '../../support/logged.ts';
import { parkRun } from '../../support/parked.ts';
import { temporaryFolder } from '../../support/process.ts';
import { type Answer, adminPassword, basic, startService, type TestService } from '../../support/service.ts';
import { sshDevice } from '../../support/sshDevice.ts';
import { until } from '../../support/until.ts';
import { webhookServer } from '../../support/webhookServer.ts';

type Json = { readonly [keyword: string]: any }; // any JSON

const rows: ReadonlyMap<string, Route> = new Map(
  areas.flatMap((area) => area.routes.map((row) => [`${row.method.toUpperCase()} ${fullPathOf(area, row)}`, row])),
);

/** The request of an event that is there for the examples. */
const noted = 'ticket-7';

/** What to ask for where everything would be another answer each time. */
const queries = ({ upgrade = '' }: Kept): Readonly<Record<string, string>> => ({
  'GET /audit/events': `?correlation=${noted}`,
  'GET /audit/diff': `?resource=automation/${upgrade}&from=0&to=200`,
  'GET /configuration_manager/backups': '?device=lab-01',
  'GET /configuration_manager/name/devicegroups': '?groupName=Campus%20core',
  'GET /audit/denied': '?until=2026-01-02T00:00:00Z',
});

/** Requests that were refused long ago. */
const denied = {
  stream: 'denied-2026-01-01',
  source: 'authorization',
  topic: 'requestsDenied',
  data: {
    rows: [{ account: null, address: '192.0.2.7', operation: 'login', code: 'unauthenticated', count: 12 }],
    first: '2026-01-01T09:00:00.000Z',
    last: '2026-01-01T09:00:08.500Z',
  },
};

/** The host key of a device of the sample, which nobody can ask. */
const pinned = {
  stream: `hostKey-${hostKeyId({ kind: 'adapter', name: 'branches' }, 'branch-bonn-01')}`,
  source: 'configuration-manager',
  topic: 'hostKeyPinned',
  data: {
    source: { kind: 'adapter', name: 'branches' },
    device: 'branch-bonn-01',
    host: '198.51.100.11',
    port: 22,
    fingerprint: 'SHA256:uNiVztksCsDhcc0u9e8BrSDGj3WhtSrHiG1Hyr9pJyo',
    type: 'ssh-ed25519',
  },
};

/** Rows to read that nothing says what to fill their paths with. */
const reads = ({
  weekly = '',
  branches = '',
  summarized = '',
  precheck = '',
  comparison = '',
  edge = '',
  edgeRoot = '',
  labBatch = '',
  interfacesJob = '',
  upgrade = '',
  heldTask = '',
  changeJob = '',
  portWorkflow = '',
  survey = '',
  circuits = '',
  labBackup = '',
  labPlan = '',
  labChange = '',
  locationTemplate = '',
}: Kept): Readonly<Record<string, Json>> => ({
  'GET /automation-studio/projects/:id/export': { id: survey },
  'GET /automation-studio/workflows/detailed/:namePath': { namePath: 'Change a port' },
  'GET /automation-studio/locations/:location/packages/:pckg/tasks/:method': {
    location: 'Application',
    pckg: 'WorkFlowEngine',
    method: 'stringConcat',
  },
  'GET /transformations/:id': { id: circuits },
  'GET /automation-studio/templates/:id': { id: 'IOS-XE uplink' },
  'GET /automation-studio/templates/:id/export': { id: 'IOS-XE uplink' },
  'GET /automation-studio/projects/:id/readiness': { id: survey },
  'GET /authorization/accounts/:id/rights': { id: 'admin' },
  'GET /operations-manager/tasks/:id': { id: heldTask },
  'GET /operations-manager/jobs/:id/tasks/:task': { id: changeJob, task: 'apply' },
  'GET /audit/resources/:kind/:id': { kind: 'automation', id: upgrade },
  'GET /audit/trace/:correlation': { correlation: noted },
  'GET /automation_catalog/scheduled-jobs/:id/export': { id: interfacesJob },
  'GET /agent-session-manager/sessions/:id/messages': { id: summarized },
  'GET /configuration_manager/compliance_plans/:id': { id: weekly },
  'GET /configuration_manager/compliance_reports/batch/:batchId': { batchId: labBatch },
  'GET /configuration_manager/compliance_reports/tree/:treeId': { treeId: edge },
  'GET /configuration_manager/compliance_reports/score_trend/:deviceName': { deviceName: 'lab-01' },
  'GET /configuration_manager/compliance_plans/:planId/compliance-score-trend': { planId: labPlan },
  'GET /console/:filePath': { filePath: 'icon.svg' },
  'GET /configuration_manager/compliance_reports/node/:treeId/:nodePath': { treeId: edge, nodePath: 'base/Hardening' },
  'GET /configuration_manager/configs/:id/export': { id: edge },
  'GET /configuration_manager/config_specs/:configId': { configId: edgeRoot },
  'GET /configuration_manager/configs/:id/:version': { id: edge, version: 'initial' },
  'GET /configuration_manager/groups/device/:device': { device: 'lab-01' },
  'GET /configuration_manager/templates/:id': { id: locationTemplate },
  'GET /configuration_manager/devices/:deviceName': { deviceName: 'lab-01' },
  'GET /configuration_manager/devices/:deviceName/isAlive': { deviceName: 'lab-01' },
  'GET /configuration_manager/devices/:deviceName/configuration': { deviceName: 'lab-01' },
  'GET /configuration_manager/devices/:deviceName/hostKey': { deviceName: 'branch-bonn-01' },
  'GET /configuration_manager/backups/:id': { id: labBackup },
  'GET /configuration_manager/changes/:jobId': { jobId: labChange },
  'GET /inventory_manager/v1/inventories/:id/nodes': { id: branches },
  'GET /inventory_manager/v1/inventories/:id/nodes/:node': { id: branches, node: 'edge-fra-01' },
  'GET /mop/listATemplate/:name': { name: precheck },
  'GET /mop/listAnAnalyticTemplate/:name': { name: comparison },
  'GET /operations-manager/workflows/:id/export': { id: portWorkflow },
  'GET /operations-manager/workflows/:id/readiness': { id: portWorkflow },
  'GET /prebuilts/:id/readiness': { id: '@vendor/vlan-rollout' },
  'GET /operations-manager/triggers/:id/preview': { id: 'Upgrade on Sunday night' },
  'GET /template_builder/templates/:name/export': { name: 'IOS-XE uplink' },
  'GET /template_builder/transformations/:id': { id: circuits },
  'GET /template_builder/transformations/:id/export': { id: circuits },
});

const edge = { type: 'standard', state: 'success' };
const asking = {
  tasks: {
    workflow_start: {},
    workflow_end: {},
    ask: { name: 'ViewData', app: 'WorkFlowEngine', type: 'manual', variables: { incoming: {}, outgoing: {} } },
  },
  transitions: { workflow_start: { ask: edge }, ask: { workflow_end: edge } },
};
const packedProject = {
  _id: '0123456789abcdef01234572',
  name: 'Asking',
  components: [{ iid: 1, type: 'workflow', reference: 'ask', folder: '/', document: { name: 'Ask', ...asking } }],
};
const moving = {
  incoming: [{ $id: 'ticket', type: 'object' }],
  outgoing: [{ $id: 'site', type: 'string' }],
  steps: [
    {
      type: 'assign',
      from: { location: 'incoming', name: 'ticket', ptr: '/site' },
      to: { location: 'outgoing', name: 'site', ptr: '' },
    },
  ],
};
const user = { username: 'admin', password: adminPassword };
const group = { name: 'trier-rollout', description: 'Opens the site in Trier' };
const mapping = { provenance: 'ldap', externalGroup: 'CN=Rollout,OU=Groups,DC=example,DC=net' };
const imported = {
  _id: '0123456789abcdef01234567',
  name: 'Close a site',
  description: '',
  componentType: null,
  componentName: null,
  gbac: { read: [], write: [] },
};
const manual = {
  name: 'Close by hand',
  enabled: true,
  actionType: 'automations',
  type: 'manual',
  formData: null,
  formId: null,
};
const formId = '0123456789abcdef0123456a';
const golden = {
  data: [
    {
      _id: '0123456789abcdef0123456b',
      base: '',
      deviceType: 'cisco-ios',
      name: 'Routers of Trier',
      root: {
        attributes: {
          configId: '0123456789abcdef0123456c',
          deviceGroups: [],
          devices: ['lab-01'],
          ruleSet: { rules: ['ntp server <!ntp!>'] },
          tasks: [],
        },
        children: [],
        name: 'base',
      },
      treeId: '0123456789abcdef0123456d',
      variables: { ntp: '10.0.0.1', token: '********' },
      version: 'initial',
    },
  ],
  status: 'success',
  taskInstances: [],
};
const oldJob = {
  _id: '0123456789abcdef0123456e',
  name: 'WorkflowJob',
  data: {
    workflowId: 'Count ports',
    description: 'Ports in use in Trier',
    formId: null,
    formData: null,
    formSchemaHash: 12,
  },
  priority: 0,
  tags: [],
  type: 'normal',
};
const options = { name: 'Yearly edge audit', description: 'All edge routers, once a year', status: 'active' };

const hardened = { treeId: 'Edge routers', version: 'initial', nodePath: 'base/Hardening' };

const texts = ['Version 17.9.4', 'Gi1 10.0.0.1 YES NVRAM up up', 'BGP router identifier 10.255.0.1'];

/**
 * A request for each row that is not read, in the order in which they are sent. They are the examples of the API document:
 * a site in Trier opens beside the sample of the demo, and what was made for it goes again.
 */
const requests = ({
  edge = '',
  edgeRoot = '',
  hardening = '',
  leaves = '',
  campusCore = '',
  weekly = '',
  labPlan = '',
  labReport = '',
  upgrade = '',
  upgradeJob = '',
  portJob = '',
  heldTask = '',
  otherTask = '',
  peopleTask = '',
  freeTask = '',
  blockedJob = '',
  stoppedJob = '',
  backupJob = '',
  failedJob = '',
  opticsJob = '',
  claimedJob = '',
  model = '',
  upgradeExecution = '',
  canceled = '',
  completed = '',
  failed = '',
  parked = '',
  interfacesJob = '',
  token = '',
  labBackup = '',
  locationTemplate = '',
  ringParser = '',
}: Kept): Readonly<Record<string, { readonly params?: Json; readonly body?: Json }>> => ({
  'POST /audit/restore': { body: { kind: 'automation', id: upgrade, position: 200, dryRun: true } },
  'POST /login': { body: user },
  'POST /oauth/token': {
    body: { grant_type: 'client_credentials', client_id: user.username, client_secret: user.password },
  },
  'POST /logout': {},
  'POST /authorization/login': { body: { user } },
  'POST /authorization/logout': {},
  'POST /authorization/whoami/password': { body: { old: adminPassword, new: adminPassword } },
  'POST /whoami/password': { body: { old: adminPassword, new: adminPassword } },
  'POST /authorization/accounts': {
    body: {
      username: 'tess',
      password: 'a password for Tess',
      memberOf: ['readers'],
      externalGroups: [mapping.externalGroup],
    },
  },
  'PATCH /authorization/accounts/:id': {
    params: { id: 'tess' },
    body: { account: { firstname: 'Tess', password: 'another password' } },
  },
  'DELETE /authorization/accounts/:id': { params: { id: 'tess' } },
  'POST /authorization/tokens': { body: { name: 'import', methods: ['createGroup'] } },
  'DELETE /authorization/tokens/:id': { params: { id: token } },
  'POST /authorization/providers': {
    body: {
      name: 'second',
      type: 'ldap',
      enabled: false,
      properties: {
        urls: ['ldaps://second.trier.example.net'],
        userBase: 'dc=example',
        userFilter: '(mail={{username}})',
      },
    },
  },
  'PATCH /authorization/providers/:name': { params: { name: 'second' }, body: { order: 10 } },
  'DELETE /authorization/providers/:name': { params: { name: 'second' } },
  'POST /authorization/providers/:name/test': { params: { name: 'test-directory' }, body: { username: 'anna' } },
  'POST /authorization/groups': { body: { group } },
  'PATCH /authorization/groups/:id': {
    params: { id: group.name },
    body: { memberOf: [{ name: 'readers' }], assignedRoles: ['plan-keeper'] },
  },
  'DELETE /authorization/groups/:id': { params: { id: group.name } },
  'POST /authorization/roles': { body: { name: 'rollout-guest', allowedMethods: [] } },
  'PATCH /authorization/roles/:id': {
    params: { id: 'rollout-guest' },
    body: { allowedMethods: [{ provenance: 'authorization', name: 'whoami' }] },
  },
  'DELETE /authorization/roles/:id': { params: { id: 'rollout-guest' } },
  'POST /group-mappings': { body: { ...mapping, platformGroups: ['readers'] } },
  'PATCH /group-mappings/:provenance/:externalGroup': { params: mapping, body: { updates: { platformGroups: [] } } },
  'DELETE /group-mappings/:provenance/:externalGroup': { params: mapping },
  'POST /operations-manager/automations': { body: { name: 'Open a site', gbac: { write: ['operators'] } } },
  'PUT /operations-manager/automations': {
    body: {
      automations: [
        { ...imported, triggers: [{ ...manual, _id: '0123456789abcdef01234568', actionId: imported._id }] },
      ],
    },
  },
  'PATCH /operations-manager/automations/:id': {
    params: { id: 'Open a site' },
    body: { description: 'Connects a site, from the router to the access ports' },
  },
  'DELETE /operations-manager/automations/:id': { params: { id: 'Open a site' } },
  'POST /operations-manager/triggers': {
    body: {
      ...manual,
      name: 'Upgrade Trier',
      actionId: upgrade,
      description: 'Before the site opens',
      options: { targetType: 'group', targetIdentifier: null },
    },
  },
  'PUT /operations-manager/triggers': {
    body: {
      triggers: [{ ...manual, name: 'Upgrade Trier once more', _id: '0123456789abcdef01234569', actionId: upgrade }],
    },
  },
  'POST /operations-manager/triggers/preview': {
    body: {
      schedule: {
        firstRunAt: Date.UTC(2027, 0, 4, 6),
        repeat: {
          type: 'repeating',
          components: [
            { action: 'execute', count: 5, duration: { unit: 'day', quantity: 1 } },
            { action: 'wait', duration: { unit: 'day', quantity: 2 } },
          ],
        },
      },
    },
  },
  'PATCH /operations-manager/triggers/:id': { params: { id: 'Upgrade Trier' }, body: { enabled: false } },
  'DELETE /operations-manager/triggers/:id': { params: { id: 'Upgrade Trier' } },
  'POST /operations-manager/triggers/endpoint/:routeName': {
    params: { routeName: 'software-upgrade' },
    body: { ticket: 'CHG0000012', devices: ['edge-01'], image: 'ios-xe-17.12.4.bin' },
  },
  'POST /operations-manager/triggers/manual/:id/run': {
    params: { id: '0123456789abcdef01234568' },
    body: { formData: { vlan: 10 } },
  },
  'POST /operations-manager/events/:source/:topic': {
    params: { source: 'itsm', topic: 'ticketOpened' },
    body: { ticket: 'INC0012' },
  },
  'POST /operations-manager/events/test': {
    body: { source: 'itsm', topic: 'ticketOpened', payload: { ticket: 'INC0012' } },
  },
  'POST /operations-manager/triggers/:id/test': {
    params: { id: 'Upgrade when a plan becomes active' },
    body: { payload: { status: 'active' } },
  },
  'POST /operations-manager/parked/:id/retry': { params: { id: parked } },
  'POST /operations-manager/parked/:id/discard': { params: { id: parked } },
  'POST /operations-manager/jobs/start': {
    body: {
      workflow: upgrade,
      options: {
        description: 'The router of Trier',
        type: 'change',
        variables: { token: 'demo-token' },
        groups: ['operators'],
      },
    },
  },
  'POST /operations-manager/jobs/watch': { body: { jobIds: [backupJob] } },
  'POST /operations-manager/jobs/unwatch': { body: { jobIds: [backupJob, portJob] } },
  'POST /operations-manager/jobs/pause': { body: { jobIds: [upgradeJob, portJob] } },
  'POST /operations-manager/jobs/resume': { body: { jobIds: [upgradeJob, portJob] } },
  'POST /operations-manager/jobs/:id/complete': { params: { id: upgradeJob }, body: { variables: { rebooted: true } } },
  'POST /operations-manager/jobs/:id/error': { params: { id: portJob }, body: { error: 'The port is gone' } },
  'POST /operations-manager/jobs/cancel': { body: { jobIds: [] } },
  'POST /operations-manager/jobs/retry': { body: { jobIds: [failedJob] } },
  'POST /operations-manager/jobs/claim': { body: { components: ['Check optics'], worker: 'rack 7', lease: 86_400 } },
  'POST /operations-manager/jobs/:id/heartbeat': {
    params: { id: opticsJob },
    body: { claim: 1, progress: { percent: 50, message: 'leaf-02' } },
  },
  'POST /operations-manager/jobs/:id/release': { params: { id: claimedJob }, body: { claim: 1 } },
  'POST /operations-manager/tasks/claim': { body: { apps: ['Ports'], worker: 'rack 7', lease: 86_400 } },
  'POST /operations-manager/tasks/:id/heartbeat': {
    params: { id: heldTask },
    body: { claim: 1, progress: { percent: 50, message: 'Writing' } },
  },
  'POST /operations-manager/tasks/:id/release': { params: { id: otherTask }, body: { claim: 1 } },
  'POST /operations-manager/tasks/:id/claim': { params: { id: peopleTask } },
  'POST /operations-manager/tasks/:id/finish': {
    params: { id: freeTask },
    body: { result: 'success', outgoing: { applied: { port: 'Gi1/0/17', vlan: 210 } } },
  },
  'POST /operations-manager/jobs/:id/tasks/:task/retry': {
    params: { id: blockedJob, task: 'apply' },
    body: { result: 'success', outgoing: { applied: null } },
  },
  'POST /operations-manager/jobs/:id/continue': {
    params: { id: stoppedJob },
    body: { fromTask: 'apply', variables: { vlan: 211 } },
  },
  'POST /automation-studio/projects': { body: { name: 'Trier' } },
  'POST /automation-studio/projects/import': { body: { project: packedProject } },
  'PATCH /automation-studio/projects/:id': { params: { id: 'Trier' }, body: { description: 'Site in Trier' } },
  'DELETE /automation-studio/projects/:id': { params: { id: packedProject._id } },
  'POST /operations-manager/workflows': { body: { name: 'Ask a person', ...asking } },
  'PUT /operations-manager/workflows': {
    body: { workflows: [{ ...asking, _id: '0123456789abcdef01234570', name: '@0123456789abcdef01234571: Ask' }] },
  },
  'POST /operations-manager/workflows/validate': { body: { document: { name: 'Ask', ...asking, transitions: {} } } },
  'POST /operations-manager/workflows/:id/validate': { params: { id: 'Change a port' } },
  'POST /operations-manager/workflows/:id/simulate': {
    params: { id: 'Change a port' },
    body: { variables: { port: 'GigabitEthernet1', vlan: 30 } },
  },
  'PUT /operations-manager/workflows/:id': {
    params: { id: 'Change a port' },
    body: { name: 'Change a port', ...asking },
  },
  'DELETE /operations-manager/workflows/:id': { params: { id: 'Ask a person' } },
  'POST /automation-studio/automations': { body: { automation: { name: 'Ask again', ...asking } } },
  'POST /automation-studio/automations/import': { body: { automations: [{ name: 'Ask a third time', ...asking }] } },
  'PUT /automation-studio/automations/:id': {
    params: { id: 'Ask again' },
    body: { update: { name: 'Ask again', description: 'Asks once more', ...asking } },
  },
  'POST /automation-studio/workflows/validate': { body: { name: 'Ask', ...asking, transitions: {} } },
  'POST /automation-studio/multipleTaskDetails': {
    body: { inputsArray: [{ location: 'Application', pckg: 'WorkFlowEngine', method: 'query' }] },
  },
  'POST /workflow_builder/export': { body: { options: { name: 'Ask again' } } },
  'DELETE /workflow_builder/workflows/delete/:namePath': { params: { namePath: 'Ask again' } },
  'POST /workflow_engine/runEvaluationGroups': {
    body: {
      evaluation_groups: [
        {
          operator: 'AND',
          evaluations: [{ operand_1: 'up, line protocol is up', operator: 'contains', operand_2: 'is up' }],
        },
      ],
    },
  },
  'POST /workflow_engine/query': { body: { query: 'ports[0].vlan', obj: { ports: [{ vlan: 210 }] } } },
  'POST /configuration_manager/configs': { body: { name: 'Switches of Trier', deviceType: null } },
  'DELETE /configuration_manager/configs/:id': { params: { id: 'Switches of Trier' } },
  'DELETE /configuration_manager/configs': { body: { treeIds: [leaves] } },
  'PUT /configuration_manager/configs/variables/:treeId/:version': {
    params: { treeId: edge, version: 'initial' },
    body: { variables: { mtu: 1500, dns: { servers: ['192.0.2.53', null] } } },
  },
  'DELETE /configuration_manager/configs/variables/:treeId/:version': {
    params: { treeId: edge, version: 'initial' },
    body: { variables: { mtu: null } },
  },
  'POST /configuration_manager/configs/:id/versions': {
    params: { id: edge },
    body: { name: '2027-Q2', base: '2027-Q1' },
  },
  'POST /configuration_manager/configs/:id/:version/nodes': {
    params: { id: edge, version: 'initial' },
    body: { name: 'Remote access', parent: hardening },
  },
  'PUT /configuration_manager/node/config': {
    body: {
      treeId: edge,
      treeVersion: '2027-Q1',
      nodePath: 'base/Hardening',
      data: { template: 'no ip http server\nntp server {{ ntp }}', variables: { ntp: '192.0.2.10' } },
      updateVariables: true,
    },
  },
  'PUT /configuration_manager/config_specs/:configId': {
    params: { configId: edgeRoot },
    body: { data: { template: 'ip ssh version 2\n{d/}ip http server\n' } },
  },
  'POST /configuration_manager/compliance_reports/config': {
    body: {
      options: {
        treeId: edge,
        version: 'initial',
        nodePath: 'base/Hardening',
        deviceName: 'edge-99',
        configuration: 'ip ssh version 2\nip http server\n',
        dryRun: true,
      },
    },
  },
  'POST /configuration_manager/compliance_plans': {
    body: { name: 'Trier before it opens', nodes: [{ treeId: edge, version: 'initial', nodeId: edgeRoot }] },
  },
  'PUT /configuration_manager/compliance_plans': { body: { planId: weekly, options } },
  'POST /configuration_manager/search/compliance_plans': { body: { options: { limit: 10 } } },
  'POST /configuration_manager/compliance_plans/nodes': {
    body: { planId: labPlan, nodes: [{ treeId: edge, version: 'initial', nodeId: edgeRoot, devices: ['lab-03'] }] },
  },
  'DELETE /configuration_manager/compliance_plans/nodes': {
    body: { planId: labPlan, nodes: [{ treeId: edge, version: 'initial', nodeId: edgeRoot }] },
  },
  'POST /configuration_manager/compliance_reports/:id/remediation': { params: { id: labReport } },
  'POST /configuration_manager/compliance_reports/backups': {
    body: { treeInfo: { treeId: edge, version: 'initial', nodePath: 'base' }, backupIds: [labBackup] },
  },
  'POST /configuration_manager/compliance_reports/grade': { body: hardened },
  'POST /configuration_manager/compliance_reports/grade/single': { body: { reportId: labReport } },
  'POST /configuration_manager/compliance_reports/grade/history': {
    body: { ...hardened, deviceName: 'lab-01', options: { limit: 5 } },
  },
  'POST /configuration_manager/compliance_reports/history': { body: { options: { ...hardened, limit: 5 } } },
  'POST /configuration_manager/compliance_reports/topissues': { body: { options: { treeId: edge, limit: 5 } } },
  'POST /configuration_manager/generate/config_spec': {
    body: {
      nativeConfig: 'hostname edge-01\nntp server 192.0.2.10\n',
      deviceType: 'cisco-ios',
      options: { template: true },
    },
  },
  'POST /configuration_manager/translate/config_spec': {
    body: { treeID: edge, version: 'initial', nodePath: 'base/Hardening' },
  },
  'POST /configuration_manager/config_template': {
    body: { treeId: edge, version: 'initial', nodePath: 'base/Hardening', options: { device: 'lab-01' } },
  },
  'POST /configuration_manager/devices/tree': { body: { treeId: edge } },
  'POST /configuration_manager/devices/device/trees': { body: { device: 'edge-01' } },
  'POST /configuration_manager/compliance_reports/details': { body: { reportIds: [labReport] } },
  'POST /configuration_manager/search/compliance_plan_instances': { body: { searchParams: { planId: labPlan } } },
  'POST /configuration_manager/compliance_plans/run': { body: { planId: labPlan, options: { devices: ['lab-01'] } } },
  'POST /configuration_manager/compliance_reports': {
    body: { options: { treeId: edge, version: 'initial', nodePath: 'base/Hardening', devices: ['lab-03'] } },
  },
  'POST /mop/createTemplate': { body: { mop: { name: 'Clock check' } } },
  'POST /mop/updateTemplate/:id': {
    params: { id: 'Clock check' },
    body: {
      mop: {
        name: 'Clock check',
        namespace: { type: 'project', name: 'Trier' },
        commands: [{ command: 'show clock', rules: [{ rule: 'UTC', eval: 'contains' }] }],
      },
    },
  },
  'PUT /mop/updateTemplate/:namePath': {
    params: { namePath: 'Clock check' },
    body: {
      mop: {
        name: 'Clock check',
        namespace: { type: 'project', name: 'Trier' },
        os: 'cisco-ios-xe',
        ignoreWarnings: false,
        commands: [{ command: 'show clock', rules: [{ rule: 'UTC', eval: 'contains' }] }],
      },
    },
  },
  'POST /mop/deleteTemplate/:id': { params: { id: 'Clock check' } },
  'POST /mop/export': { body: { options: { name: 'Upgrade pre-check' } } },
  'POST /mop/import': {
    body: {
      type: 'analytics',
      template: { _id: '0123456789abcdef01234567', name: 'Uplinks before and after', createdBy: null, created: 0 },
    },
  },
  'POST /mop/createAnalyticTemplate': { body: { template: { name: 'Clock before and after' } } },
  'POST /mop/updateAnalyticTemplate/:id': {
    params: { id: 'Clock before and after' },
    body: { template: { name: 'Clock before and after', prepostCommands: [{ rules: [{}] }] } },
  },
  'POST /mop/deleteAnalyticTemplate/:id': { params: { id: 'Clock before and after' } },
  'POST /mop/RunCommandTemplate': {
    body: {
      template: 'Upgrade pre-check',
      devices: ['lab-01', 'lab-03'],
      variables: { uplink: 'GigabitEthernet2', target_version: '17.15.1' },
    },
  },
  'POST /mop/RunCommandDevices': { body: { command: 'show version', devices: ['lab-01', 'lab-03'] } },
  'POST /mop/RunAnalyticTemplate': { body: { template: 'Upgrade before and after', pre: texts, post: texts } },
  'DELETE /configuration_manager/compliance_plans': { body: { planIds: [weekly] } },
  'POST /configuration_manager/devicegroup': {
    body: { groupName: 'Trier', deviceNames: 'branch-trier-01, branch-trier-02' },
  },
  'PUT /configuration_manager/devicegroups/:id': {
    params: { id: 'Trier' },
    body: { details: { description: 'Routers of Trier' } },
  },
  'POST /configuration_manager/devicegroups/:id/devices': {
    params: { id: 'Trier' },
    body: { devices: ['branch-trier-03'] },
  },
  'DELETE /configuration_manager/devicegroups/:id/devices': {
    params: { id: 'Trier' },
    body: { devices: ['branch-trier-03'] },
  },
  'POST /configuration_manager/deviceGroups/search': { body: { name: 'Trier' } },
  'POST /configuration_manager/export/groups': { body: {} },
  'DELETE /configuration_manager/deviceGroups': { body: { groupIds: [campusCore] } },
  'DELETE /configuration_manager/devicegroups/:id': { params: { id: 'Trier' } },
  'POST /configuration_manager/import/configs': { body: { trees: [golden], overwrite: true } },
  'POST /configuration_manager/import/goldenconfigs': {
    body: {
      trees: [
        {
          data: golden.data.map((item) => ({ ...item, name: 'Routers of Metz', treeId: '0123456789abcdef0123456e' })),
          overWrite: true,
        },
      ],
      options: {},
    },
  },
  'POST /configuration_manager/export/goldenconfigs': { body: { treeId: edge } },
  'POST /configuration_manager/import/plans': {
    body: {
      plans: [
        { name: 'Taken over', nodes: [{ treeId: edge, version: 'initial', nodeId: edgeRoot }], status: 'active' },
      ],
    },
  },
  'POST /configuration_manager/import/groups': {
    body: { groups: [{ name: 'Moselle', devices: ['branch-trier-01'] }] },
  },
  'PUT /configuration_manager/configs/:id': { params: { id: edge }, body: { description: 'Routers of branches' } },
  'POST /configuration_manager/configs/:id': { params: { id: edge }, body: { name: '2027-Q3', base: '2027-Q1' } },
  'PUT /configuration_manager/configs/:id/:version': {
    params: { id: edge, version: '2027-Q3' },
    body: { name: '2027-Q4', variables: { mtu: 1500 } },
  },
  'POST /configuration_manager/configs/:id/:version/:nodePath': {
    params: { id: edge, version: '2027-Q4', nodePath: 'base' },
    body: { name: 'Trier' },
  },
  'PUT /configuration_manager/configs/:id/:version/:nodePath': {
    params: { id: edge, version: '2027-Q4', nodePath: 'base/Trier' },
    body: { name: 'Trier West' },
  },
  'POST /configuration_manager/configs/:id/:version/:nodePath/devices': {
    params: { id: edge, version: '2027-Q4', nodePath: 'base/Trier West' },
    body: { devices: ['lab-01', 'lab-02'] },
  },
  'DELETE /configuration_manager/configs/:id/:version/:nodePath/devices': {
    params: { id: edge, version: '2027-Q4', nodePath: 'base/Trier West' },
    body: { devices: ['lab-02'] },
  },
  'POST /configuration_manager/configs/devices/groups': {
    body: { treeId: edge, version: '2027-Q4', nodePath: 'base/Trier West', deviceGroups: ['Moselle'] },
  },
  'DELETE /configuration_manager/configs/devices/groups': {
    body: { treeId: edge, version: '2027-Q4', nodePath: 'base/Trier West', deviceGroups: ['Moselle'] },
  },
  'DELETE /configuration_manager/configs/:id/:version/:nodePath': {
    params: { id: edge, version: '2027-Q4', nodePath: 'base/Trier West' },
  },
  'DELETE /configuration_manager/configs/:id/:version': { params: { id: edge, version: '2027-Q4' } },
  'POST /configuration_manager/adapters': {
    body: {
      name: 'trier-controller',
      type: 'http',
      properties: { baseUrl: 'https://controller.trier.example.net', token: 'demo-controller-token' },
      devices: [{ name: 'trier-leaf-01', host: '2001:db8::1', port: 443 }],
    },
  },
  'PUT /configuration_manager/adapters/:name': { params: { name: 'trier-controller' }, body: { type: 'lab' } },
  'DELETE /configuration_manager/adapters/:name': { params: { name: 'trier-controller' } },
  'POST /configuration_manager/credentials': {
    body: { name: 'trier', username: 'netops', password: 'demo-trier-password' },
  },
  'PUT /configuration_manager/credentials/:name': {
    params: { name: 'trier' },
    body: { username: 'netops', password: '********', groups: ['network-operations'] },
  },
  'DELETE /configuration_manager/credentials/:name': { params: { name: 'trier' } },
  'POST /configuration_manager/devices/:deviceName/hostKey': { params: { deviceName: 'reachable' }, body: {} },
  'DELETE /configuration_manager/devices/:deviceName/hostKey': { params: { deviceName: 'branch-bonn-01' } },
  'POST /configuration_manager/devices': { body: { options: { filter: { ostype: 'cisco' }, limit: 2 } } },
  'POST /configuration_manager/devices/:deviceName/configuration': {
    params: { deviceName: 'lab-03' },
    body: { config: { device: 'lab-03', config: 'hostname lab-03' }, options: { replace: false, confirm: 10 } },
  },
  'POST /configuration_manager/devices/:deviceName/configuration/rollback': {
    params: { deviceName: 'lab-01' },
    body: { backup: labBackup, options: { backup: false } },
  },
  'POST /configuration_manager/devices/:deviceName/configuration/confirm': {
    params: { deviceName: 'lab-03' },
    body: {},
  },
  'POST /configuration_manager/devices/backups': { body: { name: 'lab-02', options: { notes: 'By hand' } } },
  'POST /configuration_manager/templates': {
    body: { name: 'Second floor', template: 'snmp-server location {{ site }}', variables: { site: 'Trier' } },
  },
  'POST /configuration_manager/templates/search': { body: { name: 'loc', options: { limit: 2 } } },
  'PUT /configuration_manager/templates': { body: { id: locationTemplate, data: { variables: { location: 'Ulm' } } } },
  'POST /configuration_manager/templates/apply': {
    body: { deviceName: 'lab-02', templateId: locationTemplate, options: { backup: false } },
  },
  'POST /configuration_manager/import/templates': {
    body: { templates: [{ name: 'Taken in', template: 'hostname {{ device.name }}' }] },
  },
  'POST /configuration_manager/configurations/parser': { body: { name: 'sea-os', template: 'cisco-ios' } },
  'PUT /configuration_manager/configurations/parser': { body: { id: ringParser, template: 'f5-bigip' } },
  'POST /configuration_manager/import/parsers': {
    body: { parsers: [{ name: 'taken-os', template: 'vyos', lexRules: [['\\n', 'end_line']] }] },
  },
  'DELETE /configuration_manager/configurations/parser': { body: { id: ringParser } },
  'DELETE /configuration_manager/templates': { body: { templateIds: [locationTemplate] } },
  'POST /configuration_manager/changes': {
    body: { devices: ['lab-02', 'lab-03'], config: 'hostname lab', options: { dryRun: true } },
  },
  'POST /configuration_manager/backups': { body: { options: { filter: { name: '^lab-' }, limit: 2 } } },
  'PUT /configuration_manager/backups/:id': { params: { id: labBackup }, body: { notes: 'Reviewed on Tuesday' } },
  'POST /configuration_manager/import/backups': {
    body: {
      backups: [
        { _id: '0123456789abcdef01234590', name: 'lab-02', rawConfig: 'hostname lab-02', date: '2026-01-01T00:00:00Z' },
      ],
    },
  },
  'PUT /configuration_manager/lookup_diff': {
    body: { id: labBackup, nextId: 'lab-01', collection: 'backups', nextCollection: 'devices' },
  },
  'DELETE /configuration_manager/backups': { body: { backupIds: ['0123456789abcdef01234590'] } },
  'POST /lifecycle-manager/resources': {
    body: { name: 'Access port', schema: {}, actions: [{ name: 'Set VLAN', type: 'update' }] },
  },
  'POST /lifecycle-manager/resources/import': {
    body: {
      model: { name: 'Customer VLAN', schema: {}, actions: [{ name: 'Rename', type: 'update', preWorkflowJst: null }] },
    },
  },
  'PUT /lifecycle-manager/resources/:id': {
    params: { id: 'Access port' },
    body: { name: 'Access port', description: 'One port of an access switch', schema: { type: 'object' } },
  },
  'POST /lifecycle-manager/resources/:modelIdentifier/instances': {
    params: { modelIdentifier: 'Access port' },
    body: { name: 'TRR1-01-17', instanceData: { token: 'demo-token' } },
  },
  'PUT /lifecycle-manager/resources/:modelIdentifier/instances/:id': {
    params: { modelIdentifier: 'Access port', id: 'TRR1-01-17' },
    body: { name: 'TRR1-01-17', instanceData: { vlan: 210 } },
  },
  'POST /lifecycle-manager/resources/:modelIdentifier/groups': {
    params: { modelIdentifier: 'Access port' },
    body: { name: 'Trier', instances: ['TRR1-01-17'] },
  },
  'PATCH /lifecycle-manager/resources/:modelIdentifier/groups/:groupIdentifier': {
    params: { modelIdentifier: 'Access port', groupIdentifier: 'Trier' },
    body: { instancesToRemove: ['TRR1-01-17'] },
  },
  'DELETE /lifecycle-manager/resources/:modelIdentifier/groups/:groupIdentifier': {
    params: { modelIdentifier: 'Access port', groupIdentifier: 'Trier' },
  },
  'DELETE /lifecycle-manager/resources/:modelIdentifier/instances/:id': {
    params: { modelIdentifier: 'Access port', id: 'TRR1-01-17' },
  },
  'DELETE /lifecycle-manager/resources/:id': { params: { id: 'Access port' } },
  'POST /lifecycle-manager/resources/:modelIdentifier/run-action': {
    params: { modelIdentifier: model },
    body: { actionId: '0c05', group: 'Headquarters', inputs: { bandwidth: 3000 } },
  },
  'POST /lifecycle-manager/action-executions/:id/cancel': { params: { id: upgradeExecution } },
  'POST /gateway_manager/v1/service-groups': {
    body: { serviceGroup: { name: 'Site openings', services: [{ id: 'svc-day-zero', name: 'Day zero' }] } },
  },
  'DELETE /gateway_manager/v1/service-groups/:id': { params: { id: 'Site openings' } },
  'POST /gateway_manager/v1/certificates': { body: { raw_certificate: gateway, alias: 'gateway-trier' } },
  'DELETE /gateway_manager/v1/certificates/:alias': { params: { alias: 'gateway-trier' } },
  'POST /inventory_manager/v1/inventories': { body: { name: 'Trier' } },
  'POST /inventory_manager/v1/inventories/:id/nodes': {
    params: { id: 'Trier' },
    body: {
      nodes: [
        { name: 'edge-trr-01', attributes: { host: '192.0.2.40', vlans: [210] } },
        { name: 'access-trr-01', tags: ['access'] },
      ],
    },
  },
  'PATCH /inventory_manager/v1/inventories/:id': { params: { id: 'Trier' }, body: { tags: ['branch'] } },
  'PATCH /inventory_manager/v1/inventories/:id/nodes/:node': {
    params: { id: 'Trier', node: 'access-trr-01' },
    body: { attributes: { host: '192.0.2.41' } },
  },
  'DELETE /inventory_manager/v1/inventories/:id/nodes/:node': { params: { id: 'Trier', node: 'access-trr-01' } },
  'POST /inventory_manager/v1/nodes/bulk': {
    body: { inventory_identifier: 'Trier', nodes: [{ name: 'edge-trr-02', attributes: { host: '192.0.2.42' } }] },
  },
  'PUT /inventory_manager/v1/inventories/:id/source': {
    params: { id: 'Trier' },
    body: { type: 'csv', text: 'name,host\naccess-trr-01,192.0.2.9\n' },
  },
  'POST /inventory_manager/v1/inventories/:id/sync': { params: { id: 'Trier' }, body: { dryRun: true } },
  'POST /inventory_manager/v1/tags/search': { body: { tagIdentifiers: ['core'] } },
  'DELETE /inventory_manager/v1/nodes/clear/:identifier': { params: { identifier: 'Trier' } },
  'DELETE /inventory_manager/v1/inventories/:id': { params: { id: 'Trier' } },
  'POST /profiles': {
    body: { id: 'rollout', redisProps: { password: 'demo-redis-password' }, alarmProps: [{ community: 'public' }] },
  },
  'POST /profiles/import': { body: { properties: { id: 'taken-over', launchDelay: 0, uiProps: { new_user: '' } } } },
  'PUT /profiles/:id': {
    params: { id: 'rollout' },
    body: { properties: { uiProps: { home: 'start' }, redisProps: null } },
  },
  'PUT /profiles/:id/active': { params: { id: 'lab' } },
  'DELETE /profiles/:id': { params: { id: 'rollout' } },
  'PUT /customization/banner': {
    body: {
      active: true,
      text: 'Trier opens on Monday',
      dismissible: false,
      startTime: '2026-01-01T00:00:00Z',
      allPages: false,
    },
  },
  'POST /json-forms/forms': {
    body: {
      name: 'Site opening',
      struct: {
        type: 'object',
        items: [{ nodeId: 'site', type: 'string', title: 'Site', description: '', enum: ['Trier'] }],
      },
    },
  },
  'PUT /json-forms/forms': {
    body: {
      options: {
        name: 'Site opening',
        namespace: { type: 'project', accessControl: { read: ['network-operations'] } },
        tags: [{ site: 'Trier' }],
      },
    },
  },
  'POST /json-forms/import/forms': { body: { forms: [{ _id: formId, name: 'Site survey', createdBy: 'admin' }] } },
  'DELETE /json-forms/forms': { body: { ids: [formId] } },
  'POST /automation_catalog/scheduled-jobs': {
    body: { name: 'count-ports', repeatInterval: 60_000, data: { workflowId: 'Count ports' } },
  },
  'POST /automation_catalog/import/scheduled-jobs': { body: { scheduledJobs: [oldJob] } },
  'POST /automation_catalog/automations/migration': { body: { agendaJobs: [interfacesJob] } },
  'POST /template_builder/templates': {
    body: { name: 'VLAN of a floor', template: '{{ 200 + 10 * floor }}', data: { floor: 1 } },
  },
  'PUT /template_builder/templates/:name': {
    params: { name: 'VLAN of a floor' },
    body: { description: 'In all branches' },
  },
  'POST /template_builder/templates/:name/renderJinja': {
    params: { name: 'VLAN of a floor' },
    body: { context: { floor: 4 } },
  },
  'POST /template_builder/templates/:name/renderJinja2TemplateWithCast': {
    params: { name: 'VLAN of a floor' },
    body: { variables: { floor: 4 }, castDataType: 'number' },
  },
  'POST /template_builder/import/templates': {
    body: {
      templates: [
        {
          _id: '0123456789abcdef0123456b',
          name: 'Uplink description',
          template: 'interface {{ port }}\n description {{ circuit }} to {{ peer }}\n',
          data: { port: 'Loopback7', circuit: 'CID-4711', peer: 'core-1' },
          version: 2,
          createdBy: { username: 'admin', provenance: 'Local AAA' },
        },
      ],
    },
  },
  'DELETE /template_builder/templates/:name': { params: { name: 'VLAN of a floor' } },
  'POST /automation-studio/templates': {
    body: { template: { name: 'VLAN of a room', type: 'jinja2', group: 'Sites', namespace: null } },
  },
  'PUT /automation-studio/templates/:id': {
    params: { id: 'VLAN of a room' },
    body: { update: { template: '{{ 200 + room }}' } },
  },
  'POST /automation-studio/templates/import': {
    body: { templates: [{ _id: '0123456789abcdef0123457b', name: 'VLAN of a desk', template: '{{ 200 + desk }}' }] },
  },
  'DELETE /automation-studio/templates/:id': { params: { id: 'VLAN of a desk' } },
  'POST /template_builder/transformations': { body: { name: 'Site of a ticket', ...moving } },
  'PUT /template_builder/transformations': {
    body: {
      transformations: [{ ...moving, _id: '0123456789abcdef01234579', name: '@0123456789abcdef01234571: Site' }],
    },
  },
  'POST /template_builder/transformations/validate': { body: { document: { name: 'Site', ...moving, outgoing: [] } } },
  'POST /template_builder/transformations/:id/validate': { params: { id: 'Site of a ticket' } },
  'POST /template_builder/transformations/:id/run': {
    params: { id: 'Site of a ticket' },
    body: { incoming: { ticket: { site: 'Trier' } }, options: { validateIncoming: true } },
  },
  'PUT /template_builder/transformations/:id': {
    params: { id: 'Site of a ticket' },
    body: { name: 'Site of a ticket', ...moving, description: 'Where it is' },
  },
  'DELETE /template_builder/transformations/:id': { params: { id: 'Site of a ticket' } },
  'POST /configuration_manager/jinja2': { body: { template: 'vlan {{ id }} of Trier', variables: { id: 200 } } },
  'POST /transformations': { body: { name: 'Site of an order', ...moving } },
  'POST /transformations/import': { body: { _id: '0123456789abcdef0123457a', name: 'Site of a call', ...moving } },
  'DELETE /transformations/:id': { params: { id: 'Site of a call' } },
  'POST /prebuilts/import': {
    body: {
      prebuilt: {
        ...vlanRollout,
        metadata: { ...vlanRollout.metadata, name: 'site-opening' },
        bundles: [
          { type: 'forms', data: { name: 'Acceptance of a site' } },
          { type: 'integrationModel', data: {} },
        ],
      },
    },
  },
  'DELETE /prebuilts/:id': { params: { id: 'site-opening' } },
  'POST /agent-session-manager/agents': {
    body: {
      name: 'Site report',
      inputSchema: {},
      runner: 'webhook',
      url: 'https://rollout.example.net/v1/sessions',
      headers: { Authorization: 'Bearer demo-rollout-token' },
    },
  },
  'PUT /agent-session-manager/agents/:id': {
    params: { id: 'Site report' },
    body: {
      name: 'Site report',
      description: 'Says in a sentence how far a site is',
      inputSchema: {},
      runner: 'template',
      template: '{{ site }} is {{ state }}.',
      timeout: 5,
    },
  },
  'POST /agent-session-manager/sessions/run-agent': {
    body: {
      agent: 'Site report',
      inputs: { site: 'Trier', state: 'open' },
      terminationCallbackSignature: {
        location: '',
        serviceName: 'Rollout',
        methodName: 'siteReported',
        identifier: '',
      },
    },
  },
  'POST /agent-session-manager/sessions/:id/cancel': { params: { id: canceled } },
  'POST /agent-session-manager/sessions/:id/complete': {
    params: { id: completed },
    body: { lastMessage: 'Trier is ready to open' },
  },
  'POST /agent-session-manager/sessions/:id/fail': { params: { id: failed }, body: {} },
  'DELETE /agent-session-manager/agents/:id': { params: { id: 'Site report' } },
  'POST /health/clock': {},
  'POST /health/rebuild': {},
});

/**
 * Requests above that store nothing: a job that is watched already, no job at all, a run whose outcome nobody keeps,
 * a parked run that stays parked, a rebuild of read models, a heartbeat of a young claim.
 */
const storesNothing = new Set([
  'POST /audit/restore', // as it is sent here
  'POST /authorization/providers/:name/test',
  'POST /configuration_manager/devices/:deviceName/hostKey', // as it is sent here
  'POST /operations-manager/jobs/watch',
  'POST /operations-manager/jobs/cancel',
  'POST /mop/RunCommandTemplate',
  'POST /mop/RunCommandDevices',
  'POST /operations-manager/parked/:id/retry',
  'POST /health/clock',
  'POST /health/rebuild',
  'POST /operations-manager/jobs/:id/heartbeat',
  'POST /operations-manager/tasks/:id/heartbeat',
]);

/** Answers that show jobs as they are when they are read. */
const showsJobs = new Set(['pause', 'resume', 'retry', 'claim'].map((what) => `POST /operations-manager/jobs/${what}`));

// Only with an issuer they have another answer than a refusal (service/access/openId.test.ts).
const isForIssuers = (name: string): boolean => name.includes('/oidc/:provider/');

const keyOf = (name: string): string => name.replace(/[^\w/:]/g, '-');

/** Whether a row changes anything that could be changed twice. */
const changes = (name: string): boolean => {
  const row = rows.get(name);
  return row !== undefined && row.access !== 'open' && !row.access.includes('readers') && !storesNothing.has(name);
};

/** The path with its parameters filled in. */
const filled = (path: string, values: Json): string =>
  path.replace(/:(\w+)/g, (_, name) =>
    encodeURIComponent(
      String(
        values[name] ??
          (name === 'modelIdentifier' ? values.model : (values._id ?? values.sessionId)) ??
          assert.fail(`${path} lacks ${name}`),
      ),
    ),
  );

/** The parameters of a path as somebody writes them. */
const parametersOf = (path: string, sent: string): Record<string, string> => {
  const names = path.split('/');
  const values = sent.split('/');
  return Object.fromEntries(
    names.flatMap((name, i) => (name.startsWith(':') ? [[name.slice(1), decodeURIComponent(values[i] ?? '')]] : [])),
  );
};

/** The list that shows the documents of a projection. */
const listOf = (projection: Projection): string | undefined =>
  [...rows].find(([, row]) => 'list' in row && row.list === projection)?.[0].slice('GET '.length);

/** The schema that allows no member beside those that it names. */
const closed = (schema: any): any => {
  // any part of a JSON Schema
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      keyword === 'const' || keyword === 'enum' ? value : closed(value),
    ]),
  );
  return members.type === 'object' && members.properties && members.additionalProperties === undefined
    ? { ...members, additionalProperties: false }
    : members;
};

const parkedRun = 'e'.repeat(24);

const settings = { OUTBOUND_ALLOW: '127.0.0.1' };

describe('/, and the path of a page with a slash behind it', () => {
  it('lead to the page, without a login', async () => {
    const service = await startService();
    for (const [path, page] of [
      ['/', '/docs'],
      ['/docs/', '/docs'],
      ['/console/', '/console'],
    ] as const)
      for (const method of ['GET', 'HEAD']) {
        const { status, headers } = await service.ask(method, path, undefined, {}, null);
        assert.deepEqual([status, new URL(headers.get('location')!, service.url + path).pathname], [302, page]);
      }
    assert.equal((await service.ask('POST', '/', {})).status, 405);
    await service.stop();
  });
});

describe('every operation answers what it says it answers:', () => {
  const folder = temporaryFolder();
  let service: TestService;
  let kept: Kept;
  const answers = new Map<string, Answer>();
  let agent: Awaited<ReturnType<typeof webhookServer>>;
  let device: Awaited<ReturnType<typeof sshDevice>>;
  let directory: Awaited<ReturnType<typeof emptyDirectory>>;
  before(async () => {
    agent = await webhookServer({ '/': (response) => void response.writeHead(202).end() });
    service = await startService(settings, folder);
    kept = {
      ...(await loadSample(service.url, 'admin', adminPassword)),
    };
    await until(async () => {
      const { body } = await service.ask('GET', '/agent-session-manager/sessions?limit=1000');
      return JSON.stringify(body).includes('"RUNNING"') === false;
    }, 'the end of the sessions of the sample');
    const batch = `/configuration_manager/compliance_reports/batch/${kept.labBatch}`;
    await until(async () => (await service.ask('GET', batch)).body.length === 2, 'the reports of the sample');
    kept = { ...kept, labReport: (await service.ask('GET', batch)).body[0].id };
    await service.stop();
    await parkRun(folder, parkedRun);
    await storedEarlier(folder, [denied, pinned]);
    service = await startService(settings, folder);
    device = await sshDevice();
    await service.ask('POST', '/configuration_manager/adapters', device.adapter);
    directory = await emptyDirectory();
    const properties = { urls: [directory.url], userBase: 'dc=example,dc=net' };
    const provider = { name: 'test-directory', type: 'ldap', enabled: false, properties };
    await service.ask('POST', '/authorization/providers', provider);
    // The newest event is that of an earlier day.
    await service.ask('POST', '/health/clock');
    kept = {
      ...kept,
      ...(await runningSessions('canceled', 'completed', 'failed')),
      parked: parkedRun,
      ...(await claimedJob()),
      ...(await workflowJobs()),
      token: (await service.ask('POST', '/authorization/tokens', { name: 'ended' })).body.data.id,
    };
    const event = '/operations-manager/events/itsm/ticketNoted';
    await service.ask('POST', event, { ticket: 7 }, { 'X-Request-Id': noted });
  });
  after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
    agent.close();
    directory.close();
    device.close();
  });

  /** A job that a worker has. */
  const claimedJob = async (): Promise<Kept> => {
    const { body } = await service.ask('POST', '/operations-manager/jobs/start', { workflow: 'Hand over' });
    const claim = { components: ['Hand over'], worker: 'rack 7', lease: 86_400, wait: 30 };
    await service.ask('POST', '/operations-manager/jobs/claim', claim);
    return { claimedJob: body.data._id };
  };

  /** Jobs that run a workflow, and runs of their tasks, in all states. */
  const workflowJobs = async (): Promise<Kept> => {
    const post = async (path: string, body: object): Promise<any> =>
      (await service.ask('POST', `/operations-manager/${path}`, body)).body.data;
    const start = async (): Promise<string> =>
      (await post('jobs/start', { workflow: 'Change a port', options: { variables: { port: 'Gi1', vlan: 7 } } }))._id;
    const applied = async (job: string, body: object): Promise<void> => post(`tasks/${job}.apply.1/finish`, body);
    const [held, other, , free, looked, blockedJob, stoppedJob] = [
      await start(),
      await start(),
      await start(),
      await start(),
      await start(),
      await start(),
      await start(),
    ];
    for (const job of [blockedJob, stoppedJob]) await applied(job, { result: 'error', error: 'The port is gone' });
    await applied(looked, { result: 'success' });
    // That of the sample is older.
    await post('tasks/claim', { apps: ['Ports'], worker: 'rack 7', lease: 86_400, max: 3, wait: 30 });
    return {
      blockedJob,
      stoppedJob,
      heldTask: `${held}.apply.1`,
      otherTask: `${other}.apply.1`,
      freeTask: `${free}.apply.1`,
      peopleTask: `${looked}.look.1`,
    };
  };

  /** Sessions that wait for their report. */
  const runningSessions = async (...names: readonly string[]): Promise<Kept> => {
    await service.ask('POST', '/agent-session-manager/agents', {
      name: 'Site inspection',
      inputSchema: {},
      runner: 'webhook',
      url: agent.url('/'),
    });
    const sessions = await Promise.all(
      names.map(() => service.ask('POST', '/agent-session-manager/sessions/run-agent', { agent: 'Site inspection' })),
    );
    return Object.fromEntries(names.map((name, i) => [name, sessions[i]!.body.sessionId]));
  };

  const check = (row: Route, { status, headers, body, text }: Answer): void => {
    assert.equal(status, row.empty ? 204 : 200, text);
    if (row.empty) return void assert.equal(text, '');
    const { contentMediaType = 'application/json', ...schema } = closed(row.answer);
    assert.equal(headers.get('content-type')?.split(';')[0], contentMediaType);
    const value = contentMediaType === 'application/json' ? body : text;
    // Ajv would take seconds to compile them all; test/service/http/openapi.test.ts has it read the examples.
    if (!Schema.Check(schema, value))
      assert.fail(`${JSON.stringify(Schema.Errors(schema, value))} in ${text.slice(0, 1000)}`);
  };

  const examples = recordings<Example>('examples');

  /** Keeps an exchange as the example of its operation. */
  const record = (
    name: string,
    row: Route,
    exchange: { params: Json; body?: Json | undefined; answer: Answer },
  ): void => {
    const { params, body, answer } = exchange;
    const steady = steadied(name);
    const { contentMediaType = '' } = row.answer as { contentMediaType?: string };
    const example: { -readonly [Member in keyof Example]: Example[Member] } = {};
    if (Object.keys(params).length > 0) example.params = steady(params) as Record<string, string>;
    if (body) example.body = steady(body);
    if (name === 'GET /openapi.json') example.answer = { openapi: answer.body.openapi, info: answer.body.info };
    else if (name === 'GET /asyncapi.json') example.answer = { asyncapi: answer.body.asyncapi, info: answer.body.info };
    else if (answer.body !== undefined) example.answer = steady(answer.body);
    // The console's page names its files by a hash.
    else if (contentMediaType.startsWith('text/') && name !== 'GET /console') example.answer = steady(answer.text);
    examples.kept[name] = example;
  };

  /** Sends the request of a row. */
  const send = (name: string, headers: Record<string, string> = {}): Promise<Answer> => {
    const [method = '', path = ''] = name.split(' ');
    const { params = {}, body } = requests(kept)[name] ?? assert.fail(`There is no request for ${name}`);
    return service.ask(method, filled(path, params), body, headers);
  };

  const read = async (name: string, row: Route): Promise<void> => {
    const path = name.slice('GET '.length);
    const list = 'get' in row ? listOf(row.get) : undefined;
    const readAs = async (values: Json): Promise<void> => {
      const sent = filled(path, values);
      const answer = await service.ask('GET', sent + (queries(kept)[name] ?? ''));
      check(row, answer);
      if (!examples.kept[name]) record(name, row, { params: parametersOf(path, sent), answer });
    };
    if (!path.includes(':') || !list) return readAs({ ...kept, ...reads(kept)[name] });
    const { body } = await service.ask('GET', `${filled(list, { ...kept, ...reads(kept)[`GET ${list}`] })}?limit=1000`);
    const documents: readonly Json[] = Array.isArray(body) ? body : (body.results ?? body.data);
    assert.ok(documents.length > 0, `The sample has nothing for ${name}`);
    for (const document of documents) await readAs({ ...reads(kept)[name], ...kept, ...document });
  };

  const isEndless = ({ answer }: Route): boolean =>
    (answer as { contentMediaType?: string }).contentMediaType === 'text/event-stream';

  for (const [name, row] of rows) {
    if (row.method === 'get' && !isEndless(row) && !isForIssuers(name)) it(name, () => read(name, row));
  }

  for (const [path, query] of [
    ['/operations-manager/events/stream', 'from=start&topic=planStatusSet'],
    ['/operations-manager/jobs/stream', 'component=Check%20optics'],
  ] as const) {
    const name = `GET ${path}`;
    it(name, async () => {
      const aborting = new AbortController();
      const response = await fetch(`${service.url}${path}?${query}`, {
        headers: { authorization: basic({ user: 'admin', password: adminPassword }) },
        signal: aborting.signal,
      });
      let text = '';
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        if (/^data: .*\n\n/m.test(text)) break;
      }
      aborting.abort();
      const answer = { status: response.status, headers: response.headers, body: undefined, text };
      const row = rows.get(name)!;
      check(row, answer);
      const frame = /^(id: .*\n)?event: .*\ndata: .*\n\n/m.exec(text)![0];
      record(name, row, { params: {}, answer: { ...answer, text: frame } });
    });
  }

  it('GET /group-mappings with group objects', async () => {
    const answer = await service.ask('GET', '/group-mappings?expand=platformGroups');
    check(rows.get('GET /group-mappings')!, answer);
    assert.equal(typeof answer.body.results[0].platformGroups[0], 'object');
  });

  for (const name of Object.keys(requests({}))) {
    it(name, async () => {
      const row = rows.get(name) ?? assert.fail(`There is no ${name}`);
      const answer = await send(name, { 'Idempotency-Key': keyOf(name) });
      answers.set(name, answer);
      check(row, answer);
      const { params = {}, body } = requests(kept)[name] ?? {};
      record(name, row, { params, body, answer });
    });
  }

  it('PUT /operations-manager/automations where one of two is refused', async () => {
    const twice = { ...imported, name: 'Close it again' };
    const answer = await service.ask('PUT', '/operations-manager/automations', {
      automations: [{ ...twice, _id: 'f'.repeat(24), name: 'New' }, twice],
    });
    check(rows.get('PUT /operations-manager/automations')!, answer);
    assert.deepEqual(
      answer.body.data.map(({ success }: { success: boolean }) => success),
      [true, false],
    );
  });

  describe('the same once more to who sends it again under its Idempotency-Key, though it is gone and others have the name:', () => {
    before(async () => {
      service = await service.restart(settings);
      // Others have the names now.
      for (const name of Object.keys(requests({}))) if (name.startsWith('POST')) await send(name);
    });
    for (const name of Object.keys(requests({})).filter((one) => changes(one))) {
      it(name, async () => {
        const first = answers.get(name) ?? assert.fail('It has not been sent');
        const { status, headers, body, text } = await send(name, { 'Idempotency-Key': keyOf(name) });
        assert.equal(status, first.status, text);
        assert.equal(headers.get('idempotency-replayed'), 'true');
        const position = (of: Headers) => Number(of.get('x-event-position'));
        assert.ok(position(headers) >= position(first.headers), `${position(headers)} ${position(first.headers)}`);
        if (name === 'POST /authorization/tokens') delete first.body.data.token; // it is shown once
        if (!showsJobs.has(name)) assert.deepEqual(body, first.body);
      });
    }
  });

  it('as the examples of the API document show it', () => examples.shown());

  it('and none has been left out', () => {
    const asked = new Set(Object.keys(requests({})));
    assert.deepEqual(
      [...rows]
        .filter(([name, { method }]) => method !== 'get' && !asked.has(name) && !isForIssuers(name))
        .map(([name]) => name),
      [],
      'Put a request of each into the table above',
    );
  });
});
