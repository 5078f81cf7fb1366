import assert from 'node:assert/strict';
import type { Failure } from '../../../src/http/documentation/openapiParts.ts';
import type { Route } from '../../../src/http/engine/route.ts';
import { expired, gateway, otherGateway } from '../../support/certificates.ts';
import { automationDocument, packed } from '../../support/documents.ts';
import { recordings, steadied } from '../../support/examples.ts';
import { type Asked, at, bodyFor, changes, failure, isAnyJson, positionOf, routes } from '../../support/hostile.ts';
import { ok, type People } from '../../support/people.ts';
import { type Answer, adminPassword, type TestService } from '../../support/service.ts';
import { usePeople, useService } from '../../support/useService.ts';

const om = '/operations-manager';
const as = '/automation-studio/projects';
const cm = '/configuration_manager';
const lm = '/lifecycle-manager/resources';
const stale = { 'If-Match': '"99"' };
const none = 'f'.repeat(24);
const id = (digit: string) => digit.repeat(24);
const large = 'x'.repeat(900_000);

const document = (digit: string, more: object = {}) =>
  automationDocument(id(digit), { name: `Document ${digit}`, ...more });
const byHand = (actionId: string, more: object = {}) => ({
  type: 'manual',
  name: 'Upgrade by hand',
  enabled: true,
  actionType: 'automations',
  actionId,
  formId: null,
  formData: null,
  ...more,
});
const endpoint = (actionId: string, more: object = {}) => ({
  type: 'endpoint',
  name: 'Upgrade by ticket',
  enabled: true,
  actionType: 'automations',
  actionId,
  verb: 'POST',
  routeName: 'route',
  schema: null,
  jst: null,
  ...more,
});
const banner = { active: true, text: 'x', dismissible: true, startTime: '2026-01-01T00:00:00.000Z', allPages: true };
const strict = { type: 'object', title: 'Strict', required: ['n'], properties: { n: { type: 'integer' } } };

const directory = { urls: ['ldaps://directory.example.net'], userBase: 'dc=example' };
const provider = (name: string, more: { readonly [member: string]: unknown } = {}) => ({
  name,
  type: 'ldap',
  enabled: false,
  properties: { ...directory, ...more },
});

const treeInfo = (treeId: string) => ({ treeId, version: 'initial' });
const golden = (name: string, root: object = {}) => ({ data: [{ name, version: 'initial', root }] });

/**
 * One document of each kind, and what they refer to; ids by the words used below. Those named trier are referred to, those
 * named free are not. The API document shows the refusals.
 */
const world = async ({ ask }: TestService) => {
  const post = async (path: string, body: object) => ok(await ask('POST', path, body));
  const automation = (
    await post(`${om}/automations`, { name: 'open', componentType: 'template', componentName: 'trier' })
  ).data._id;
  const closed = (await post(`${om}/automations`, { name: 'closed', gbac: { read: ['operators'], write: ['ops'] } }))
    .data._id;
  await post('/json-forms/forms', { name: 'trier', schema: strict });
  const form = (await post('/json-forms/forms', { name: 'free' })).data._id;
  const trigger = (await post(`${om}/triggers`, byHand(automation, { formId: 'trier', formData: { n: 1 } }))).data._id;
  await post(`${om}/triggers`, endpoint(automation));
  const off = { enabled: false };
  await post(`${om}/triggers`, endpoint(automation, { name: 'Off', routeName: 'off', ...off }));
  const manualOff = (await post(`${om}/triggers`, byHand(automation, { name: 'Manual, off', ...off }))).data._id;
  const strictRoute = { name: 'Strict', routeName: 'strict', schema: strict, jst: { type: 'unknown' } };
  await post(`${om}/triggers`, endpoint(automation, strictRoute));
  await post('/template_builder/templates', { name: 'trier', template: 'x' });
  await post('/template_builder/templates', { name: 'free', template: 'x' });
  for (const name of ['trier', 'free']) await post('/template_builder/transformations', { ...moving, name });
  const agentOf = (name: string) => ({ name, runner: 'template', template: 'done', inputSchema: strict });
  await post('/agent-session-manager/agents', agentOf('trier'));
  await post('/agent-session-manager/agents', agentOf('free'));
  await post(`${om}/automations`, { name: 'by agent', componentType: 'agent', componentName: 'trier' });
  const { sessionId } = await post('/agent-session-manager/sessions/run-agent', { agent: 'trier', inputs: { n: 1 } });
  const mop = (await post('/mop/createTemplate', { mop: { name: 'trier' } })).data._id;
  await post('/mop/createTemplate', { mop: { name: 'free' } });
  await post(`${om}/automations`, { name: 'by commands', componentType: 'mop-template', componentName: 'trier' });
  const analytic = (await post('/mop/createAnalyticTemplate', { template: { name: 'trier' } })).data._id;
  await post('/mop/createAnalyticTemplate', { template: { name: 'free' } });
  const tree = await post(`${cm}/configs`, { name: 'trier' });
  await post(`${cm}/configs`, { name: 'free' });
  const node = { treeId: tree._id, version: 'initial', nodeId: tree.versions[0].root.configId };
  const plan = (await post(`${cm}/compliance_plans`, { name: 'trier', nodes: [{ ...node, deviceGroups: ['trier'] }] }))
    ._id;
  const hiddenPlan = (await post(`${cm}/compliance_plans`, { name: 'hidden', gbac: { write: ['ops'] } }))._id;
  const group = (await post(`${cm}/devicegroup`, { name: 'trier', devices: ['lab-01'] })).id;
  await post(`${cm}/devicegroup`, { name: 'by query', query: { tags: ['a'] } });
  const backup = (await post(`${cm}/devices/backups`, { name: 'lab-01' })).id;
  await post(`${cm}/configurations/parser`, { name: 'trier', template: 'vyos' });
  await post(`${cm}/configs`, { name: 'of a parser', deviceType: 'trier' });
  await post(`${cm}/templates`, { name: 'trier', template: 'x', deviceOSTypes: ['junos'] });
  await post('/authorization/roles', { name: 'trier', allowedMethods: [] });
  await post('/authorization/groups', { name: 'user', assignedRoles: ['trier'], memberOf: ['ops'] });
  await post('/gateway_manager/v1/service-groups', {
    serviceGroup: { name: 'trier', cluster_id: 'c', is_default: true },
  });
  await post('/gateway_manager/v1/certificates', { alias: 'trier', contract_id: '', raw_certificate: gateway });
  await post('/group-mappings', { provenance: 'ldap', externalGroup: 'trier', platformGroups: ['ops'] });
  await post('/inventory_manager/v1/inventories', { name: 'trier' });
  await post('/inventory_manager/v1/inventories/trier/nodes', { nodes: [{ name: 'n', tags: ['a'] }] });
  await post(lm, {
    name: 'trier',
    schema: strict,
    actions: [{ _id: '0c01', name: 'Run', type: 'update', workflow: 'W' }],
  });
  await post(lm, { name: 'free', schema: strict });
  for (const name of ['trier', 'free']) await post(`${lm}/trier/instances`, { name, instanceData: { n: 1 } });
  await post(`${lm}/trier/groups`, { name: 'trier' });
  const {
    _id: execution,
    tasks: [task],
  } = (await post(`${lm}/trier/run-action`, { actionId: '0c01', instance: 'trier', inputs: { n: 2 } })).data;
  await post(`${om}/jobs/${task.job}/complete`, {});
  await post(`${as}/import`, { project: packedProject });
  for (const name of ['trier', 'free']) await post(`${om}/workflows`, { ...flow, name });
  await post(`${om}/automations`, { name: 'by workflow', componentType: 'workflows', componentName: 'trier' });
  const start = async (): Promise<string> => (await post(`${om}/jobs/start`, { workflow: 'W', options: {} })).data._id;
  const [job, canceled] = [await start(), await start()];
  await post(`${om}/jobs/${job}/complete`, {});
  await post(`${om}/jobs/cancel`, { jobIds: [canceled] });
  for (const name of ['trier', 'free']) await post('/profiles', { properties: { id: name } });
  ok(await ask('PUT', '/profiles/trier/active'));
  await post('/prebuilts/import', { prebuilt: packed('trier', [{ type: 'forms', data: { name: 'packed' } }]) });
  const {
    results: [scheduled],
  } = await post('/automation_catalog/scheduled-jobs', {
    name: 's',
    data: { workflowId: 'W', formId: 'no such form' },
  }).then(async () => ok(await ask('GET', '/automation_catalog/scheduled-jobs')));
  while (ok(await ask('GET', `/agent-session-manager/sessions/${sessionId}`)).status === 'RUNNING')
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  await post(`${cm}/credentials`, { name: 'trier', username: 'u', password: 'p' });
  const { id: token } = (await post('/authorization/tokens', { name: 'trier' })).data;
  // Nobody is asked on this machine.
  await post('/authorization/providers', provider('trier', { urls: ['ldap://127.0.0.1:1'] }));
  return {
    token,
    manualOff,
    automation,
    closed,
    backup,
    form,
    trigger,
    sessionId,
    mop,
    analytic,
    tree: tree._id,
    root: tree.versions[0].root.configId,
    node,
    plan,
    hiddenPlan,
    group,
    execution,
    job,
    canceled,
    scheduled: scheduled._id,
  };
};
const form = { type: 'jsonForm', document: { _id: '0123456789abcdef01234573', name: 'in a project' } };
const packedProject = {
  _id: '0123456789abcdef01234572',
  name: 'trier',
  components: [form],
};
const unfit = { name: 'unfit', components: [{ type: 'jsonForm', document: { name: 1 } }] };
const moving = { name: 'free', incoming: [{ $id: 'n', type: 'integer' }], outgoing: [], steps: [] };
const flow = { name: 'free', tasks: { workflow_start: {}, workflow_end: {} }, transitions: {} };
type World = Awaited<ReturnType<typeof world>>;

type Case = {
  readonly code: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly by?: keyof People;
};

const refuse = (code: string, path: string, body?: unknown, headers: Record<string, string> = {}): Case => ({
  code,
  path,
  body,
  headers,
});
const by = (who: keyof People, one: Case): Case => ({ ...one, by: who });

/** By route, what it refuses though the request as such is well-formed. */
const refusals = (w: World): Readonly<Record<string, readonly Case[]>> => {
  const named = (path: string, taken: object, free = '/free') => [
    refuse('conflict', path + free, taken),
    refuse('stale', path + free, taken, stale),
  ];
  const agent = (more: object) => ({
    name: 'new',
    runner: 'template',
    template: 'x',
    inputSchema: { type: 'object' },
    ...more,
  });
  const agents = '/agent-session-manager/agents';
  const sessions = '/agent-session-manager/sessions';
  const jobs = (what: string) => [
    refuse('not_found', `${om}/jobs/${what}`, { jobIds: [w.job, none] }),
    refuse('stale', `${om}/jobs/${what}`, { jobIds: [w.job] }, stale),
  ];
  const moves = (what: string) => [...jobs(what), refuse('conflict', `${om}/jobs/${what}`, { jobIds: [w.job] })];
  const nodes = (more: object) => [{ ...w.node, ...more }];
  const plans = `${cm}/compliance_plans`;
  const variables = `${cm}/configs/variables/${w.tree}`;
  const text = (more: object) => ({
    treeId: w.tree,
    treeVersion: 'initial',
    nodePath: 'base',
    data: { template: 'a', variables: {} },
    updateVariables: false,
    ...more,
  });
  const nodeGroups = (more: object) => ({
    treeId: w.tree,
    version: 'initial',
    nodePath: 'base',
    deviceGroups: ['trier'],
    ...more,
  });
  const instances = `${lm}/trier/instances`;
  const groups = `${lm}/trier/groups`;
  const gateways = '/gateway_manager/v1';
  const other = { alias: 'trier', contract_id: '', raw_certificate: otherGateway };
  const inventories = '/inventory_manager/v1/inventories';
  const importing = (bundles: readonly object[], more: object = {}) => ({
    prebuilt: { ...packed('new', bundles), ...more },
    options: { strict: true },
  });
  const taken = { type: 'json-forms', data: { name: 'trier' } };
  const free = { type: 'forms', data: { name: 'brought' } };
  const automationImport = (more: object) => ({ automations: [document('9', more)] });
  return {
    [`POST ${agents}`]: [
      refuse('conflict', agents, agent({ name: 'trier' })),
      refuse('invalid', agents, agent({ inputSchema: { type: 'no type' } })),
    ],
    [`PUT ${agents}/:id`]: [
      ...named(agents, agent({ name: 'trier' })),
      refuse('conflict', `${agents}/trier`, agent({ name: 'renamed' })),
    ],
    [`DELETE ${agents}/:id`]: [
      refuse('conflict', `${agents}/trier`),
      refuse('stale', `${agents}/free`, undefined, stale),
    ],
    [`POST ${sessions}/run-agent`]: [
      refuse('not_found', `${sessions}/run-agent`, { agent: 'none' }),
      refuse('unprocessable', `${sessions}/run-agent`, { agent: 'trier', inputs: {} }),
    ],
    [`POST ${sessions}/:id/cancel`]: [
      refuse('conflict', `${sessions}/${w.sessionId}/cancel`),
      refuse('stale', `${sessions}/${w.sessionId}/cancel`, undefined, stale),
    ],
    [`POST ${sessions}/:id/complete`]: [
      refuse('not_found', `${sessions}/none/complete`, {}),
      refuse('stale', `${sessions}/${w.sessionId}/complete`, {}, stale),
    ],
    [`POST ${sessions}/:id/fail`]: [
      refuse('conflict', `${sessions}/${w.sessionId}/fail`, {}),
      refuse('stale', `${sessions}/${w.sessionId}/fail`, {}, stale),
    ],

    'POST /authorization/accounts': [
      refuse('conflict', '/authorization/accounts', {
        username: 'member',
        password: 'long enough',
        memberOf: ['readers'],
      }),
      refuse('not_found', '/authorization/accounts', {
        username: 'new',
        password: 'long enough',
        memberOf: ['none'],
        assignedRoles: ['none'],
      }),
    ],
    'PATCH /authorization/accounts/:id': [
      refuse('conflict', '/authorization/accounts/member', { username: 'stranger', memberOf: ['readers'] }),
      refuse('not_found', '/authorization/accounts/member', { memberOf: ['none'] }),
      refuse('conflict', '/authorization/accounts/admin', { memberOf: [] }),
      refuse('stale', '/authorization/accounts/member', { memberOf: [] }, stale),
    ],
    'DELETE /authorization/accounts/:id': [
      refuse('conflict', '/authorization/accounts/admin'),
      refuse('stale', '/authorization/accounts/member', undefined, stale),
    ],
    'POST /authorization/tokens': [
      by('outsider', refuse('forbidden', '/authorization/tokens', { name: 'x', account: 'admin' })),
      refuse('not_found', '/authorization/tokens', { name: 'x', account: 'none' }),
      refuse('conflict', '/authorization/tokens', { name: 'x', account: 'member' }),
    ],
    'DELETE /authorization/tokens/:id': [
      refuse('not_found', '/authorization/tokens/none'),
      refuse('stale', `/authorization/tokens/${w.token}`, undefined, stale),
    ],
    'POST /authorization/providers': [
      refuse('conflict', '/authorization/providers', provider('trier')),
      refuse('conflict', '/authorization/providers', provider('local')),
      refuse('invalid', '/authorization/providers', provider('new', { urls: ['ldap://directory.example.net'] })),
    ],
    'PATCH /authorization/providers/:name': [
      refuse('not_found', '/authorization/providers/none', { order: 1 }),
      refuse('invalid', '/authorization/providers/trier', { properties: { ...directory, userFilter: '(uid=anna)' } }),
      refuse('stale', '/authorization/providers/trier', { order: 1 }, stale),
    ],
    'DELETE /authorization/providers/:name': [
      refuse('not_found', '/authorization/providers/none'),
      refuse('stale', '/authorization/providers/trier', undefined, stale),
    ],
    'POST /authorization/providers/:name/test': [
      refuse('not_found', '/authorization/providers/none/test', { username: 'anna' }),
      refuse('adapter_failed', '/authorization/providers/trier/test', { username: 'anna' }),
    ],
    'POST /authorization/groups': [
      refuse('conflict', '/authorization/groups', { name: 'ops', memberOf: ['user'] }),
      refuse('not_found', '/authorization/groups', { name: 'new', memberOf: ['none'] }),
    ],
    'PATCH /authorization/groups/:id': [
      ...named('/authorization/groups', { name: 'ops' }, '/user'),
      refuse('conflict', '/authorization/groups/ops', { name: 'renamed' }),
      refuse('conflict', '/authorization/groups/admins', { name: 'renamed' }),
      refuse('not_found', '/authorization/groups/ops', { assignedRoles: ['none'] }),
    ],
    'DELETE /authorization/groups/:id': [
      refuse('conflict', '/authorization/groups/ops'),
      refuse('conflict', '/authorization/groups/admins'),
      refuse('stale', '/authorization/groups/user', undefined, stale),
    ],
    'POST /authorization/roles': [
      refuse('conflict', '/authorization/roles', { name: 'trier', allowedMethods: [] }),
      refuse('not_found', '/authorization/roles', {
        name: 'new',
        allowedMethods: [{ provenance: 'mop', name: 'none' }],
      }),
    ],
    'PATCH /authorization/roles/:id': [
      refuse('conflict', '/authorization/roles/trier', { name: 'renamed' }),
      refuse('stale', '/authorization/roles/trier', { name: 'renamed' }, stale),
    ],
    'DELETE /authorization/roles/:id': [
      refuse('conflict', '/authorization/roles/trier'),
      refuse('stale', '/authorization/roles/trier', undefined, stale),
    ],
    'POST /authorization/whoami/password': [
      refuse('forbidden', '/authorization/whoami/password', { old: 'wrong one', new: 'long enough' }),
    ],
    'POST /whoami/password': [refuse('forbidden', '/whoami/password', { old: 'wrong one', new: 'long enough' })],
    'POST /authorization/login': [
      refuse('unauthenticated', '/authorization/login', { username: 'admin', password: 'wrong one' }),
    ],
    'POST /login': [refuse('unauthenticated', '/login', { username: 'nobody', password: adminPassword })],
    'POST /oauth/token': [
      refuse('unauthenticated', '/oauth/token', {
        grant_type: 'client_credentials',
        client_id: 'nobody',
        client_secret: adminPassword,
      }),
      refuse('invalid', '/oauth/token', { grant_type: 'client_credentials', client_secret: adminPassword }),
    ],
    'POST /authorization/oidc/:provider/backchannel-logout': [
      refuse('not_found', '/authorization/oidc/none/backchannel-logout', { logout_token: 'x' }),
      refuse('not_found', '/authorization/oidc/trier/backchannel-logout', { logout_token: 'x' }),
    ],
    // Who is not logged in has logged out.
    'POST /authorization/logout': [],
    'POST /logout': [],
    // Refused on a node that does not lead (test/rebuildLive.test.ts).
    'POST /health/clock': [],
    'POST /health/rebuild': [],

    'POST /automation_catalog/scheduled-jobs': [
      refuse('invalid', '/automation_catalog/scheduled-jobs', {
        name: 's',
        repeatInterval: 'never',
        data: { workflowId: 'W' },
      }),
    ],
    [`POST ${lm}/import`]: [
      refuse('invalid', `${lm}/import`, {
        model: { name: 'x', schema: {}, actions: [{ name: 'x', type: 'explode' }] },
      }),
    ],
    'POST /automation_catalog/import/scheduled-jobs': [
      refuse('invalid', '/automation_catalog/import/scheduled-jobs', {
        scheduledJobs: [{ name: 's', data: { workflowId: 'W', gbac: { read: ['ops'] } } }],
      }),
      refuse('conflict', '/automation_catalog/import/scheduled-jobs', {
        scheduledJobs: [{ _id: w.scheduled, name: 's', data: { workflowId: 'other' } }],
      }),
    ],
    'POST /automation_catalog/automations/migration': [
      refuse('not_found', '/automation_catalog/automations/migration', { agendaJobs: [none] }),
      refuse('not_found', '/automation_catalog/automations/migration', { agendaJobs: [w.scheduled] }),
    ],
    'PUT /customization/banner': [
      refuse('invalid', '/customization/banner', { ...banner, image: 'no image' }),
      refuse('stale', '/customization/banner', banner, stale),
    ],

    [`POST ${cm}/configs`]: [refuse('conflict', `${cm}/configs`, { name: 'trier' })],
    [`DELETE ${cm}/configs`]: [
      refuse('not_found', `${cm}/configs`, { treeIds: [w.tree, none] }),
      refuse('conflict', `${cm}/configs`, { treeIds: [w.tree] }),
    ],
    [`PUT ${cm}/configs/variables/:treeId/:version`]: [
      refuse('not_found', `${variables}/none`, { variables: { a: 1 } }),
      refuse('invalid', `${variables}/initial`, { variables: { a: 1, token: '********' } }),
      refuse('stale', `${variables}/initial`, { variables: { a: 1 } }, stale),
    ],
    [`DELETE ${cm}/configs/variables/:treeId/:version`]: [
      refuse('not_found', `${variables}/initial`, { variables: { none: 1 } }),
      refuse('stale', `${variables}/initial`, { variables: { none: 1 } }, stale),
    ],
    [`DELETE ${cm}/configs/:id`]: [
      refuse('conflict', `${cm}/configs/trier`),
      refuse('stale', `${cm}/configs/free`, undefined, stale),
    ],
    [`POST ${cm}/configs/:id/versions`]: [
      refuse('conflict', `${cm}/configs/trier/versions`, { name: 'initial' }),
      refuse('not_found', `${cm}/configs/trier/versions`, { name: 'new', base: 'none' }),
      refuse('stale', `${cm}/configs/trier/versions`, { name: 'new' }, stale),
    ],
    [`POST ${cm}/configs/:id/:version/nodes`]: [
      refuse('not_found', `${cm}/configs/trier/initial/nodes`, { name: 'n', parent: none }),
      refuse('not_found', `${cm}/configs/trier/none/nodes`, { name: 'n' }),
      refuse('stale', `${cm}/configs/trier/initial/nodes`, { name: 'n' }, stale),
    ],
    [`PUT ${cm}/configs/:id`]: [
      refuse('conflict', `${cm}/configs/free`, { name: 'trier' }),
      refuse('stale', `${cm}/configs/free`, { description: 'd' }, stale),
    ],
    [`POST ${cm}/configs/:id`]: [
      refuse('conflict', `${cm}/configs/trier`, { name: 'initial' }),
      refuse('not_found', `${cm}/configs/trier`, { name: 'new', base: 'none' }),
      refuse('stale', `${cm}/configs/trier`, { name: 'new' }, stale),
    ],
    [`PUT ${cm}/configs/:id/:version`]: [
      refuse('conflict', `${cm}/configs/trier/initial`, { name: 'new' }),
      refuse('not_found', `${cm}/configs/trier/none`, { variables: {} }),
      refuse('invalid', `${cm}/configs/trier/initial`, { variables: { token: '********' } }),
      refuse('stale', `${cm}/configs/trier/initial`, { variables: { a: 1 } }, stale),
    ],
    [`DELETE ${cm}/configs/:id/:version`]: [
      refuse('conflict', `${cm}/configs/free/initial`),
      refuse('not_found', `${cm}/configs/free/none`),
      refuse('stale', `${cm}/configs/free/initial`, undefined, stale),
    ],
    [`POST ${cm}/configs/:id/:version/:nodePath`]: [
      refuse('not_found', `${cm}/configs/trier/initial/base/none`, { name: 'n' }),
      refuse('invalid', `${cm}/configs/trier/initial/base`, { name: 'devices' }),
      refuse('stale', `${cm}/configs/trier/initial/base`, { name: 'n' }, stale),
    ],
    [`PUT ${cm}/configs/:id/:version/:nodePath`]: [
      refuse('not_found', `${cm}/configs/trier/initial/none`, { name: 'n' }),
      refuse('stale', `${cm}/configs/trier/initial/base`, { name: 'n' }, stale),
    ],
    [`DELETE ${cm}/configs/:id/:version/:nodePath`]: [
      refuse('conflict', `${cm}/configs/trier/initial/base`),
      refuse('not_found', `${cm}/configs/trier/initial/none`),
      refuse('stale', `${cm}/configs/trier/initial/base`, undefined, stale),
    ],
    [`POST ${cm}/configs/:id/:version/:nodePath/devices`]: [
      refuse('not_found', `${cm}/configs/trier/initial/none/devices`, { devices: ['d'] }),
      refuse('stale', `${cm}/configs/trier/initial/base/devices`, { devices: ['d'] }, stale),
    ],
    [`DELETE ${cm}/configs/:id/:version/:nodePath/devices`]: [
      refuse('not_found', `${cm}/configs/trier/initial/none/devices`, { devices: ['d'] }),
      refuse('stale', `${cm}/configs/trier/initial/base/devices`, { devices: ['d'] }, stale),
    ],
    [`POST ${cm}/configs/devices/groups`]: [
      refuse('not_found', `${cm}/configs/devices/groups`, nodeGroups({ deviceGroups: ['none'] })),
      refuse('not_found', `${cm}/configs/devices/groups`, nodeGroups({ version: 'none' })),
      refuse('stale', `${cm}/configs/devices/groups`, nodeGroups({}), stale),
    ],
    [`DELETE ${cm}/configs/devices/groups`]: [
      refuse('not_found', `${cm}/configs/devices/groups`, nodeGroups({ nodePath: 'none' })),
      refuse('stale', `${cm}/configs/devices/groups`, nodeGroups({}), stale),
    ],
    [`PUT ${cm}/node/config`]: [
      refuse('not_found', `${cm}/node/config`, text({ treeVersion: 'none' })),
      refuse('not_found', `${cm}/node/config`, text({ nodePath: 'base/none' })),
      refuse('invalid', `${cm}/node/config`, text({ data: { template: '{{', variables: {} } })),
      refuse('stale', `${cm}/node/config`, text({}), stale),
    ],
    [`PUT ${cm}/config_specs/:configId`]: [
      refuse('not_found', `${cm}/config_specs/${none}`, { data: { template: 'a' } }),
      refuse('invalid', `${cm}/config_specs/${w.root}`, { data: { template: '{xx/}a' } }),
      refuse('stale', `${cm}/config_specs/${w.root}`, { data: { template: 'a' } }, stale),
    ],
    [`POST ${plans}`]: [
      refuse('conflict', plans, { name: 'trier', nodes: nodes({}) }),
      refuse('not_found', plans, { name: 'new', nodes: nodes({ treeId: none }) }),
      refuse('not_found', plans, { name: 'new', gbac: { write: ['none'] } }),
      refuse('conflict', plans, { name: 'trier', nodes: nodes({ variables: { large } }) }),
    ],
    [`PUT ${plans}`]: [
      refuse('conflict', plans, { planId: w.plan, options: { name: 'hidden', nodes: nodes({ tasks: ['t'] }) } }),
      refuse('not_found', plans, { planId: w.plan, options: { nodes: nodes({ version: 'none' }) } }),
      refuse('conflict', plans, { planId: w.hiddenPlan, options: { status: 'active' } }),
      refuse('stale', plans, { planId: w.plan, options: { nodes: nodes({ tasks: ['t'] }) } }, stale),
      by('stranger', refuse('not_found', plans, { planId: w.hiddenPlan, options: { nodes: nodes({}) } })),
    ],
    [`DELETE ${plans}`]: [
      refuse('not_found', plans, { planIds: [w.plan, none] }),
      by('stranger', refuse('not_found', plans, { planIds: [w.plan, w.hiddenPlan] })),
    ],
    [`POST ${plans}/nodes`]: [
      refuse('not_found', `${plans}/nodes`, { planId: w.plan, nodes: nodes({ treeId: none }) }),
      refuse('stale', `${plans}/nodes`, { planId: w.plan, nodes: nodes({ tasks: ['t'] }) }, stale),
      by('stranger', refuse('not_found', `${plans}/nodes`, { planId: w.hiddenPlan, nodes: nodes({}) })),
    ],
    [`DELETE ${plans}/nodes`]: [
      refuse('not_found', `${plans}/nodes`, { planId: w.plan, nodes: [{ ...w.node, version: 'none' }] }),
      refuse('stale', `${plans}/nodes`, { planId: w.plan, nodes: [w.node] }, stale),
    ],
    [`POST ${plans}/run`]: [
      refuse('not_found', `${plans}/run`, { planId: none }),
      refuse('conflict', `${plans}/run`, { planId: w.hiddenPlan }),
      by('stranger', refuse('not_found', `${plans}/run`, { planId: w.hiddenPlan })),
    ],
    [`POST ${cm}/compliance_reports`]: [
      refuse('not_found', `${cm}/compliance_reports`, { options: { treeId: none, version: 'initial' } }),
      refuse('not_found', `${cm}/compliance_reports`, { options: { treeId: w.tree, version: 'none' } }),
    ],
    [`POST ${cm}/config_template`]: [
      refuse('not_found', `${cm}/config_template`, { ...treeInfo(none), nodePath: 'base' }),
      refuse('not_found', `${cm}/config_template`, { ...treeInfo(w.tree), nodePath: 'base/none' }),
    ],
    [`POST ${cm}/devices/tree`]: [
      refuse('not_found', `${cm}/devices/tree`, { treeId: none }),
      refuse('not_found', `${cm}/devices/tree`, { treeId: w.tree, version: 'none' }),
    ],
    [`POST ${cm}/compliance_reports/:id/remediation`]: [
      refuse('not_found', `${cm}/compliance_reports/${none}/remediation`),
    ],
    [`POST ${cm}/compliance_reports/backups`]: [
      refuse('not_found', `${cm}/compliance_reports/backups`, { treeInfo: treeInfo(w.tree), backupIds: [none] }),
      refuse('not_found', `${cm}/compliance_reports/backups`, { treeInfo: treeInfo(none), backupIds: [w.backup] }),
    ],
    [`POST ${cm}/devicegroup`]: [refuse('conflict', `${cm}/devicegroup`, { name: 'trier', devices: [] })],
    [`PUT ${cm}/devicegroups/:id`]: [
      refuse('conflict', `${cm}/devicegroups/trier`, { name: 'other' }),
      refuse('invalid', `${cm}/devicegroups/trier`, { devices: [], query: { tags: ['a'] } }),
      refuse('stale', `${cm}/devicegroups/trier`, { description: 'other' }, stale),
    ],
    [`POST ${cm}/devicegroups/:id/devices`]: [
      refuse('not_found', `${cm}/devicegroups/none/devices`, { devices: ['d'] }),
      refuse('conflict', `${cm}/devicegroups/by%20query/devices`, { devices: ['d'] }),
      refuse('stale', `${cm}/devicegroups/trier/devices`, { devices: ['d'] }, stale),
    ],
    [`DELETE ${cm}/devicegroups/:id/devices`]: [
      refuse('conflict', `${cm}/devicegroups/by%20query/devices`, { devices: ['d'] }),
      refuse('stale', `${cm}/devicegroups/trier/devices`, { devices: ['lab-01'] }, stale),
    ],
    [`DELETE ${cm}/deviceGroups`]: [
      refuse('not_found', `${cm}/deviceGroups`, { groupIds: [none] }),
      refuse('conflict', `${cm}/deviceGroups`, { groupIds: [w.group] }),
    ],
    [`DELETE ${cm}/devicegroups/:id`]: [
      refuse('conflict', `${cm}/devicegroups/trier`),
      refuse('stale', `${cm}/devicegroups/trier`, undefined, stale),
    ],
    [`POST ${cm}/import/configs`]: [
      refuse('conflict', `${cm}/import/configs`, { trees: [golden('trier')] }),
      refuse('invalid', `${cm}/import/configs`, { trees: [golden('new', { children: ['no node'] })] }),
    ],
    [`POST ${cm}/import/goldenconfigs`]: [
      refuse('conflict', `${cm}/import/goldenconfigs`, { trees: [golden('trier')] }),
      refuse('invalid', `${cm}/import/goldenconfigs`, { trees: [{ ...golden('new'), overWrite: 'yes' }] }),
    ],
    [`POST ${cm}/import/plans`]: [
      refuse('conflict', `${cm}/import/plans`, { plans: [{ name: 'trier', description: 'Another' }] }),
      refuse('conflict', `${cm}/import/plans`, { plans: [{ name: 'new', status: 'active' }] }),
      refuse('not_found', `${cm}/import/plans`, { plans: [{ name: 'new', nodes: nodes({ treeId: none }) }] }),
      by('stranger', refuse('conflict', `${cm}/import/plans`, { plans: [{ _id: w.hiddenPlan, name: 'new' }] })),
    ],
    [`POST ${cm}/import/groups`]: [
      refuse('conflict', `${cm}/import/groups`, {
        groups: [
          { name: 'new', devices: [] },
          { name: 'trier', devices: [] },
        ],
      }),
    ],
    [`POST ${cm}/adapters`]: [
      refuse('conflict', `${cm}/adapters`, { name: 'lab', type: 'lab', properties: {}, devices: [] }),
      refuse('invalid', `${cm}/adapters`, {
        name: 'new',
        type: 'lab',
        properties: {},
        devices: [{ name: 'd' }, { name: 'd' }],
      }),
    ],
    [`PUT ${cm}/adapters/:name`]: [
      refuse('invalid', `${cm}/adapters/lab`, { name: 'other', type: 'lab', properties: {}, devices: [] }),
      refuse('stale', `${cm}/adapters/lab`, { type: 'lab', properties: {}, devices: [] }, stale),
    ],
    [`DELETE ${cm}/adapters/:name`]: [
      refuse('not_found', `${cm}/adapters/none`),
      refuse('stale', `${cm}/adapters/lab`, undefined, stale),
    ],
    [`POST ${cm}/credentials`]: [
      refuse('conflict', `${cm}/credentials`, { name: 'trier', username: 'u', password: 'p' }),
      refuse('invalid', `${cm}/credentials`, { name: 'new', username: 'u' }),
      refuse('not_found', `${cm}/credentials`, { name: 'new', username: 'u', password: 'p', groups: ['none'] }),
    ],
    [`PUT ${cm}/credentials/:name`]: [
      refuse('not_found', `${cm}/credentials/none`, { username: 'u', password: 'p' }),
      refuse('invalid', `${cm}/credentials/trier`, { name: 'other', username: 'u', password: 'p' }),
      refuse('stale', `${cm}/credentials/trier`, { username: 'u', password: 'p' }, stale),
    ],
    [`DELETE ${cm}/credentials/:name`]: [
      refuse('not_found', `${cm}/credentials/none`),
      refuse('stale', `${cm}/credentials/trier`, undefined, stale),
    ],
    [`POST ${cm}/devices/:deviceName/hostKey`]: [
      refuse('not_found', `${cm}/devices/none/hostKey`, {}),
      refuse('unprocessable', `${cm}/devices/lab-01/hostKey`, {}),
    ],
    [`DELETE ${cm}/devices/:deviceName/hostKey`]: [refuse('not_found', `${cm}/devices/none/hostKey`)],
    [`POST ${cm}/devices/backups`]: [
      refuse('not_found', `${cm}/devices/backups`, { name: 'none' }),
      refuse('invalid', `${cm}/devices/backups`, {}),
    ],
    [`PUT ${cm}/backups/:id`]: [
      refuse('not_found', `${cm}/backups/none`, { notes: 'x' }),
      refuse('stale', `${cm}/backups/${w.backup}`, { notes: 'x' }, stale),
    ],
    [`DELETE ${cm}/backups`]: [refuse('not_found', `${cm}/backups`, { backupIds: [w.backup, none] })],
    [`POST ${cm}/import/backups`]: [
      refuse('not_found', `${cm}/import/backups`, { backups: [{ name: 'none', rawConfig: 'x' }] }),
      refuse('conflict', `${cm}/import/backups`, { backups: [{ _id: w.backup, name: 'lab-01', rawConfig: 'x' }] }),
      refuse('invalid', `${cm}/import/backups`, {
        backups: [{ name: 'lab-01', rawConfig: 'x', date: '2999-01-01T00:00:00Z' }],
      }),
    ],
    [`POST ${cm}/templates`]: [refuse('conflict', `${cm}/templates`, { name: 'trier', template: 'x' })],
    [`PUT ${cm}/templates`]: [
      refuse('not_found', `${cm}/templates`, { id: none, data: {} }),
      refuse('stale', `${cm}/templates`, { id: 'trier', data: { template: 'y' } }, stale),
    ],
    [`DELETE ${cm}/templates`]: [refuse('not_found', `${cm}/templates`, { templateIds: [none] })],
    [`POST ${cm}/import/templates`]: [
      refuse('conflict', `${cm}/import/templates`, { templates: [{ name: 'trier', template: 'y' }] }),
    ],
    [`POST ${cm}/templates/apply`]: [
      refuse('not_found', `${cm}/templates/apply`, { deviceName: 'lab-01', templateId: none }),
      refuse('conflict', `${cm}/templates/apply`, { deviceName: 'lab-01', templateId: 'trier' }),
    ],
    [`POST ${cm}/configurations/parser`]: [
      refuse('conflict', `${cm}/configurations/parser`, { name: 'trier', template: 'vyos' }),
      refuse('conflict', `${cm}/configurations/parser`, { name: 'cisco_ios', template: 'vyos' }),
      refuse('invalid', `${cm}/configurations/parser`, {
        ...{ name: 'x', template: 'vyos', lexRules: [['(?=a)', 'word']] },
      }),
    ],
    [`PUT ${cm}/configurations/parser`]: [
      refuse('not_found', `${cm}/configurations/parser`, { id: none }),
      refuse('stale', `${cm}/configurations/parser`, { id: 'trier', template: 'cisco-asa' }, stale),
      refuse('conflict', `${cm}/configurations/parser`, { id: 'trier', name: 'other' }),
    ],
    [`DELETE ${cm}/configurations/parser`]: [
      refuse('not_found', `${cm}/configurations/parser`, { id: none }),
      refuse('conflict', `${cm}/configurations/parser`, { id: 'trier' }),
      refuse('stale', `${cm}/configurations/parser`, { id: 'trier' }, stale),
    ],
    [`POST ${cm}/import/parsers`]: [
      refuse('conflict', `${cm}/import/parsers`, { parsers: [{ name: 'vyos', template: 'vyos' }] }),
    ],
    [`POST ${cm}/changes`]: [
      refuse('not_found', `${cm}/changes`, { deviceGroups: ['none'], config: 'x' }),
      refuse('invalid', `${cm}/changes`, { config: 'x' }),
    ],
    [`POST ${cm}/devices/:deviceName/configuration`]: [
      refuse('not_found', `${cm}/devices/none/configuration`, { config: { config: 'x' } }),
      refuse('invalid', `${cm}/devices/lab-01/configuration`, { config: { device: 'lab-02', config: 'x' } }),
      refuse('unprocessable', `${cm}/devices/lab-01/configuration`, {
        config: { config: 'x' },
        options: { confirm: 1 },
      }),
    ],
    [`POST ${cm}/devices/:deviceName/configuration/rollback`]: [
      refuse('not_found', `${cm}/devices/lab-01/configuration/rollback`, { backup: none }),
      refuse('conflict', `${cm}/devices/lab-02/configuration/rollback`, { backup: w.backup }),
      refuse('invalid', `${cm}/devices/lab-01/configuration/rollback`, {}),
    ],
    [`POST ${cm}/devices/:deviceName/configuration/confirm`]: [
      refuse('not_found', `${cm}/devices/none/configuration/confirm`, {}),
      refuse('conflict', `${cm}/devices/lab-01/configuration/confirm`, {}),
    ],

    'POST /json-forms/forms': [
      refuse('conflict', '/json-forms/forms', { name: 'trier' }),
      refuse('invalid', '/json-forms/forms', { name: 'new', schema: { type: 'no type', title: 't' } }),
      refuse('conflict', '/json-forms/forms', { name: 'trier', uiSchema: { large } }),
    ],
    'PUT /json-forms/forms': [
      refuse('conflict', '/json-forms/forms', { options: { _id: w.form, name: 'trier' } }),
      refuse('stale', '/json-forms/forms', { options: { _id: w.form, name: 'renamed' } }, stale),
      refuse('invalid', '/json-forms/forms', {
        options: { _id: w.form, name: 'renamed', schema: { type: 'no type', title: 't' } },
      }),
    ],
    'DELETE /json-forms/forms': [refuse('not_found', '/json-forms/forms', { ids: [w.form, none] })],
    'POST /json-forms/import/forms': [
      refuse('conflict', '/json-forms/import/forms', { forms: [{ name: 'trier' }] }),
      refuse('conflict', '/json-forms/import/forms', { forms: [{ _id: w.form, name: 'trier' }], overwrite: true }),
    ],

    [`POST ${gateways}/service-groups`]: [
      refuse('conflict', `${gateways}/service-groups`, { serviceGroup: { name: 'trier' } }),
      refuse('conflict', `${gateways}/service-groups`, {
        serviceGroup: { name: 'a new one', cluster_id: 'c', is_default: true },
      }),
      refuse('conflict', `${gateways}/service-groups`, {
        serviceGroup: { name: 'trier', cluster_id: 'new', is_default: true },
      }),
      refuse('not_found', `${gateways}/service-groups`, { serviceGroup: { name: 'new', groups: ['none'] } }),
    ],
    [`DELETE ${gateways}/service-groups/:id`]: [refuse('stale', `${gateways}/service-groups/trier`, undefined, stale)],
    [`POST ${gateways}/certificates`]: [
      refuse('invalid', `${gateways}/certificates`, { raw_certificate: expired }),
      refuse('conflict', `${gateways}/certificates`, other),
      refuse('stale', `${gateways}/certificates`, other, stale),
    ],
    [`DELETE ${gateways}/certificates/:alias`]: [
      refuse('not_found', `${gateways}/certificates/none`),
      refuse('stale', `${gateways}/certificates/trier`, undefined, stale),
    ],
    'POST /group-mappings': [
      refuse('conflict', '/group-mappings', { provenance: 'ldap', externalGroup: 'trier', platformGroups: [] }),
    ],
    'PATCH /group-mappings/:provenance/:externalGroup': [
      refuse('stale', '/group-mappings/ldap/trier', { updates: { platformGroups: [] } }, stale),
    ],
    'DELETE /group-mappings/:provenance/:externalGroup': [
      refuse('stale', '/group-mappings/ldap/trier', undefined, stale),
      refuse('not_found', '/group-mappings/ldap/none'),
    ],
    [`POST ${inventories}`]: [
      refuse('conflict', inventories, { name: 'trier' }),
      refuse('not_found', inventories, { name: 'new', groups: ['none'] }),
    ],
    [`PATCH ${inventories}/:id`]: [
      refuse('not_found', `${inventories}/trier`, { groups: ['none'] }),
      refuse('stale', `${inventories}/trier`, {}, stale),
    ],
    [`PATCH ${inventories}/:id/nodes/:node`]: [
      refuse('invalid', `${inventories}/trier/nodes/n`, { attributes: { host: 'a b' } }),
      refuse('not_found', `${inventories}/trier/nodes/none`, {}),
      refuse('stale', `${inventories}/trier/nodes/n`, {}, stale),
    ],
    [`DELETE ${inventories}/:id/nodes/:node`]: [
      refuse('not_found', `${inventories}/trier/nodes/none`),
      refuse('stale', `${inventories}/trier/nodes/n`, undefined, stale),
    ],
    'POST /inventory_manager/v1/nodes/bulk': [
      refuse('not_found', '/inventory_manager/v1/nodes/bulk', { inventory_identifier: 'none', nodes: [] }),
      refuse('invalid', '/inventory_manager/v1/nodes/bulk', {
        inventory_identifier: 'trier',
        nodes: [{ name: 'n', attributes: { port: 'no' } }],
        dryRun: true,
      }),
      refuse('stale', '/inventory_manager/v1/nodes/bulk', { inventory_identifier: 'trier', nodes: [] }, stale),
    ],
    [`PUT ${inventories}/:id/source`]: [
      refuse('not_found', `${inventories}/none/source`, { type: 'csv', text: 'name\na' }),
      refuse('invalid', `${inventories}/trier/source`, { type: 'csv', text: 'host\na' }),
      refuse('stale', `${inventories}/trier/source`, { type: 'csv', text: 'name\na' }, stale),
    ],
    [`POST ${inventories}/:id/sync`]: [
      refuse('not_found', `${inventories}/none/sync`, {}),
      refuse('conflict', `${inventories}/trier/sync`, {}),
      refuse('invalid', `${inventories}/trier/sync`, { source: { type: 'netbox', url: 'https://netbox.example.com' } }),
    ],
    [`DELETE ${inventories}/:id`]: [refuse('stale', `${inventories}/trier`, undefined, stale)],
    [`POST ${inventories}/:id/nodes`]: [
      refuse('conflict', `${inventories}/trier/nodes`, { nodes: [{ name: 'new' }, { name: 'n', tags: ['b'] }] }),
      refuse('invalid', `${inventories}/trier/nodes`, { nodes: [{ name: 'new' }, { name: 'new' }] }),
      refuse('stale', `${inventories}/trier/nodes`, { nodes: [] }, stale),
    ],
    'DELETE /inventory_manager/v1/nodes/clear/:identifier': [
      refuse('stale', '/inventory_manager/v1/nodes/clear/trier', undefined, stale),
    ],

    [`POST ${lm}`]: [
      refuse('conflict', lm, { name: 'trier', schema: {} }),
      refuse('invalid', lm, { name: 'new', schema: { type: 'no type' } }),
    ],
    [`PUT ${lm}/:id`]: [
      ...named(lm, { name: 'trier', schema: {} }),
      refuse('invalid', `${lm}/free`, { name: 'free', schema: { type: 'no type' } }),
    ],
    [`DELETE ${lm}/:id`]: [refuse('conflict', `${lm}/trier`, {}), refuse('stale', `${lm}/free`, {}, stale)],
    [`POST ${lm}/:modelIdentifier/run-action`]: [
      refuse('not_found', `${lm}/trier/run-action`, { actionId: '0c02', instance: 'trier' }),
      refuse('not_found', `${lm}/trier/run-action`, { actionId: '0c01', instance: 'none' }),
      refuse('unprocessable', `${lm}/trier/run-action`, { actionId: '0c01', group: 'trier', inputs: {} }),
    ],
    [`POST ${lm}/:modelIdentifier/instances`]: [
      refuse('conflict', instances, { name: 'trier', instanceData: { n: 1 } }),
      refuse('unprocessable', instances, { name: 'new', instanceData: {} }),
      refuse('not_found', `${lm}/none/instances`, { name: 'new', instanceData: {} }),
    ],
    [`PUT ${lm}/:modelIdentifier/instances/:id`]: [
      ...named(instances, { name: 'trier', instanceData: { n: 1 } }),
      refuse('unprocessable', `${instances}/free`, { name: 'free', instanceData: {} }),
    ],
    [`DELETE ${lm}/:modelIdentifier/instances/:id`]: [
      refuse('stale', `${instances}/trier`, undefined, stale),
      refuse('not_found', `${instances}/none`),
    ],
    [`POST ${lm}/:modelIdentifier/groups`]: [
      refuse('conflict', groups, { name: 'trier', instances: ['trier'] }),
      refuse('not_found', groups, { name: 'new', instances: ['trier', 'none'] }),
    ],
    [`PATCH ${lm}/:modelIdentifier/groups/:groupIdentifier`]: [
      refuse('not_found', `${groups}/trier`, { instancesToAdd: ['trier', 'none'] }),
      refuse('invalid', `${groups}/trier`, { instancesToAdd: ['trier'], instancesToRemove: ['trier'] }),
      refuse('stale', `${groups}/trier`, { instancesToAdd: ['trier'] }, stale),
    ],
    [`DELETE ${lm}/:modelIdentifier/groups/:groupIdentifier`]: [refuse('stale', `${groups}/trier`, undefined, stale)],
    'POST /lifecycle-manager/action-executions/:id/cancel': [
      refuse('conflict', `/lifecycle-manager/action-executions/${w.execution}/cancel`),
      refuse('stale', `/lifecycle-manager/action-executions/${w.execution}/cancel`, undefined, stale),
    ],

    'POST /mop/import': [
      refuse('conflict', '/mop/import', { template: { name: 'trier', os: 'other' } }),
      refuse('conflict', '/mop/import', {
        type: 'analytics',
        template: { _id: w.analytic, name: 'free' },
        overwrite: true,
      }),
    ],
    'POST /mop/createTemplate': [refuse('conflict', '/mop/createTemplate', { mop: { name: 'trier' } })],
    'POST /mop/updateTemplate/:id': [
      ...named('/mop/updateTemplate', { mop: { name: 'trier' } }),
      refuse('conflict', `/mop/updateTemplate/${w.mop}`, { mop: { name: 'renamed' } }),
    ],
    'POST /mop/deleteTemplate/:id': [
      refuse('conflict', `/mop/deleteTemplate/${w.mop}`),
      refuse('stale', '/mop/deleteTemplate/free', undefined, stale),
    ],
    'POST /mop/RunCommandTemplate': [
      refuse('not_found', '/mop/RunCommandTemplate', { template: 'none', devices: ['lab-01'] }),
      refuse('not_found', '/mop/RunCommandTemplate', { template: 'trier', devices: ['none'] }),
    ],
    'PUT /mop/updateTemplate/:namePath': [
      ...named('/mop/updateTemplate', { mop: { name: 'trier' } }),
      refuse('conflict', `/mop/updateTemplate/${w.mop}`, { mop: { name: 'renamed' } }),
    ],
    'POST /mop/RunCommandDevices': [
      refuse('not_found', '/mop/RunCommandDevices', { command: 'show version', devices: ['none'] }),
      refuse('unprocessable', '/mop/RunCommandDevices', { command: 'show <!what!>', devices: ['lab-01'] }),
    ],
    'POST /mop/createAnalyticTemplate': [
      refuse('conflict', '/mop/createAnalyticTemplate', { template: { name: 'trier' } }),
    ],
    'POST /mop/updateAnalyticTemplate/:id': named('/mop/updateAnalyticTemplate', { template: { name: 'trier' } }),
    'POST /mop/deleteAnalyticTemplate/:id': [refuse('stale', '/mop/deleteAnalyticTemplate/free', undefined, stale)],

    [`POST ${as}`]: [refuse('invalid', as, { name: '' }), refuse('invalid', as, { name: 'x', components: [1] })],
    [`POST ${as}/import`]: [
      refuse('conflict', `${as}/import`, { project: { ...packedProject, description: 'other' } }),
      refuse('invalid', `${as}/import`, { project: { name: 'x', components: [{ type: 'workflow' }] } }),
      refuse('invalid', `${as}/import`, { project: unfit }),
      refuse('invalid', `${as}/import`, {
        project: { ...packedProject, _id: none, components: [form, ...unfit.components] },
        strict: true,
      }),
    ],
    [`PATCH ${as}/:id`]: [
      refuse('not_found', `${as}/${none}`, { name: 'x' }),
      refuse('stale', `${as}/trier`, { description: 'x' }, stale),
      refuse('not_found', `${as}/trier`, { members: [{ type: 'group', name: 'none', role: 'owner' }] }),
      refuse('invalid', `${as}/trier`, { members: [{ type: 'account', username: 'admin', role: 'viewer' }] }),
    ],
    [`DELETE ${as}/:id`]: [refuse('not_found', `${as}/${none}`), refuse('stale', `${as}/trier`, undefined, stale)],
    [`POST ${om}/workflows`]: [
      refuse('conflict', `${om}/workflows`, { ...flow, name: 'trier' }),
      refuse('invalid', `${om}/workflows`, { ...flow, tasks: { 'a b': {} } }),
    ],
    [`PUT ${om}/workflows`]: [
      refuse('conflict', `${om}/workflows`, { workflows: [{ ...flow, name: 'trier', description: 'other' }] }),
    ],
    [`PUT ${om}/workflows/:id`]: [
      refuse('not_found', `${om}/workflows/${none}`, flow),
      refuse('conflict', `${om}/workflows/trier`, { ...flow, name: 'other' }),
      refuse('stale', `${om}/workflows/trier`, { ...flow, name: 'trier', description: 'x' }, stale),
    ],
    [`DELETE ${om}/workflows/:id`]: [
      refuse('not_found', `${om}/workflows/${none}`),
      refuse('conflict', `${om}/workflows/trier`),
      refuse('stale', `${om}/workflows/free`, undefined, stale),
    ],
    [`POST ${om}/automations`]: [
      refuse('conflict', `${om}/automations`, { name: 'open' }),
      refuse('not_found', `${om}/automations`, { name: 'new', gbac: { write: ['none'] } }),
    ],
    [`PUT ${om}/automations`]: [
      refuse('conflict', `${om}/automations`, automationImport({ name: 'open' })),
      refuse('not_found', `${om}/automations`, automationImport({ gbac: { write: ['none'] } })),
      refuse(
        'conflict',
        `${om}/automations`,
        automationImport({
          triggers: [
            { ...byHand(id('9'), { formId: 'trier', formData: { n: 1 } }), _id: id('8') },
            { ...endpoint(id('9')), _id: id('7') },
          ],
        }),
      ),
      refuse(
        'invalid',
        `${om}/automations`,
        automationImport({
          triggers: [{ ...byHand(id('9'), { formId: 'trier', formData: { n: 'x' } }), _id: id('8') }],
        }),
      ),
      by(
        'stranger',
        refuse('forbidden', `${om}/automations`, {
          automations: [{ ...document('9'), _id: w.closed, name: 'closed' }],
          overwrite: true,
        }),
      ),
    ],
    [`PATCH ${om}/automations/:id`]: [
      refuse('conflict', `${om}/automations/open`, { name: 'closed' }),
      by('stranger', refuse('forbidden', `${om}/automations/${w.closed}`, { name: 'new' })),
      refuse('stale', `${om}/automations/open`, { name: 'new' }, stale),
    ],
    [`DELETE ${om}/automations/:id`]: [
      by('stranger', refuse('forbidden', `${om}/automations/${w.closed}`)),
      refuse('stale', `${om}/automations/open`, undefined, stale),
    ],
    [`POST ${om}/events/:source/:topic`]: [
      refuse('invalid', `${om}/events/@platform%2Fmop/done`, {}),
      refuse('conflict', `${om}/events/itsm/done`, {}, { 'X-Claim': `${w.job}/1` }),
    ],
    ['POST /audit/restore']: [
      refuse('not_found', '/audit/restore', { kind: 'automation', id: none, position: 1 }),
      refuse('unprocessable', '/audit/restore', { kind: 'account', id: none, position: 1 }),
      refuse('invalid', '/audit/restore', { kind: 'automation', id: none, position: 9_999_999 }),
    ],
    [`POST ${om}/parked/:id/retry`]: [refuse('not_found', `${om}/parked/${none}/retry`)],
    [`POST ${om}/parked/:id/discard`]: [refuse('not_found', `${om}/parked/${none}/discard`)],
    [`POST ${om}/jobs/start`]: [
      refuse('not_found', `${om}/jobs/start`, { workflow: 'W', options: { groups: ['none'] } }),
      refuse('invalid', `${om}/jobs/start`, { workflow: 'W', options: { variables: { token: '********' } } }),
    ],
    [`POST ${om}/jobs/watch`]: jobs('watch'),
    [`POST ${om}/jobs/unwatch`]: jobs('unwatch'),
    [`POST ${om}/jobs/pause`]: moves('pause'),
    [`POST ${om}/jobs/resume`]: moves('resume'),
    [`POST ${om}/jobs/cancel`]: moves('cancel'),
    [`POST ${om}/jobs/retry`]: moves('retry'),
    [`POST ${om}/jobs/claim`]: [
      refuse('invalid', `${om}/jobs/claim`, { components: [], worker: 'w' }),
      by('reader', refuse('forbidden', `${om}/jobs/claim`, { components: ['x'], worker: 'w' })),
    ],
    [`POST ${om}/jobs/:id/heartbeat`]: [
      refuse('not_found', `${om}/jobs/${none}/heartbeat`, { claim: 1 }),
      refuse('conflict', `${om}/jobs/${w.job}/heartbeat`, { claim: 1 }),
    ],
    [`POST ${om}/jobs/:id/release`]: [
      refuse('not_found', `${om}/jobs/${none}/release`, { claim: 1 }),
      refuse('conflict', `${om}/jobs/${w.job}/release`, { claim: 1 }),
      refuse('stale', `${om}/jobs/${w.job}/release`, { claim: 1 }, stale),
    ],
    [`POST ${om}/jobs/:id/continue`]: [
      refuse('not_found', `${om}/jobs/${none}/continue`, { fromTask: 'a' }),
      refuse('conflict', `${om}/jobs/${w.job}/continue`, { fromTask: 'a' }),
      refuse('stale', `${om}/jobs/${w.job}/continue`, { fromTask: 'a' }, stale),
    ],
    [`POST ${om}/jobs/:id/tasks/:task/retry`]: [
      refuse('not_found', `${om}/jobs/${none}/tasks/a/retry`, {}),
      refuse('conflict', `${om}/jobs/${w.job}/tasks/a/retry`, {}),
      refuse('stale', `${om}/jobs/${w.job}/tasks/a/retry`, {}, stale),
    ],
    [`POST ${om}/tasks/claim`]: [
      refuse('invalid', `${om}/tasks/claim`, { worker: 'w' }),
      by('reader', refuse('forbidden', `${om}/tasks/claim`, { apps: ['x'], worker: 'w' })),
    ],
    ...Object.fromEntries(
      [
        ['heartbeat', { claim: 1 }],
        ['claim', undefined],
        ['release', {}],
        ['finish', { result: 'success' }],
      ].map(([what, body]) => [
        `POST ${om}/tasks/:id/${what}`,
        [
          refuse('not_found', `${om}/tasks/${none}.a.1/${what}`, body),
          refuse('conflict', `${om}/tasks/${w.job}.a.1/${what}`, body),
        ],
      ]),
    ),
    [`POST ${om}/jobs/:id/complete`]: [
      refuse('conflict', `${om}/jobs/${w.canceled}/complete`, {}),
      refuse('stale', `${om}/jobs/${w.canceled}/complete`, {}, stale),
    ],
    [`POST ${om}/jobs/:id/error`]: [
      refuse('conflict', `${om}/jobs/${w.job}/error`, { error: { message: 'x' } }),
      refuse('stale', `${om}/jobs/${w.job}/error`, { error: 'x' }, stale),
    ],
    [`POST ${om}/triggers/endpoint/:routeName`]: [
      refuse('not_found', `${om}/triggers/endpoint/none`, {}),
      refuse('invalid', `${om}/triggers/endpoint/strict`, { n: 'x' }),
      refuse('conflict', `${om}/triggers/endpoint/off`, {}),
      refuse('unprocessable', `${om}/triggers/endpoint/strict`, { n: 1 }),
    ],
    [`POST ${om}/triggers/manual/:id/run`]: [
      refuse('not_found', `${om}/triggers/manual/${none}/run`, {}),
      refuse('invalid', `${om}/triggers/manual/${w.trigger}/run`, { formData: { n: 'x' } }),
      refuse('conflict', `${om}/triggers/manual/${w.manualOff}/run`, {}),
    ],
    [`POST ${om}/triggers`]: [
      refuse('conflict', `${om}/triggers`, byHand(w.automation, { formId: 'free', formData: {} })),
      refuse('not_found', `${om}/triggers`, byHand(w.automation, { name: 'new', formId: 'none' })),
      refuse('conflict', `${om}/triggers`, endpoint(w.automation, { name: 'new' })),
      by('stranger', refuse('forbidden', `${om}/triggers`, byHand(w.closed, { formId: 'free', formData: {} }))),
    ],
    [`PUT ${om}/triggers`]: [
      refuse('conflict', `${om}/triggers`, {
        triggers: [{ ...byHand(w.automation, { formId: 'free', formData: {} }), _id: w.trigger }],
      }),
      refuse('conflict', `${om}/triggers`, {
        triggers: [{ ...byHand(w.automation, { formId: 'free', formData: {} }), _id: id('6') }],
      }),
      refuse('not_found', `${om}/triggers`, { triggers: [{ ...byHand(none), _id: id('6') }] }),
    ],
    [`PATCH ${om}/triggers/:id`]: [
      refuse('conflict', `${om}/triggers/${w.trigger}`, { name: 'Upgrade by ticket', formData: { n: 2 } }),
      refuse('invalid', `${om}/triggers/${w.trigger}`, { formData: { n: 'x' } }),
      refuse('stale', `${om}/triggers/${w.trigger}`, { formData: { n: 2 } }, stale),
    ],
    [`DELETE ${om}/triggers/:id`]: [refuse('stale', `${om}/triggers/${w.trigger}`, undefined, stale)],

    'POST /prebuilts/import': [
      refuse('conflict', '/prebuilts/import', importing([free, taken])),
      refuse('invalid', '/prebuilts/import', importing([free, free])),
      refuse('conflict', '/prebuilts/import', { prebuilt: packed('trier', [free]) }),
      refuse(
        'not_found',
        '/prebuilts/import',
        importing([free, { type: 'automation', data: document('9', { gbac: { write: ['none'] } }) }]),
      ),
      refuse('conflict', '/prebuilts/import', importing([free, taken, { type: 'integrationModel', data: { large } }])),
      refuse('stale', '/prebuilts/import', importing([free]), stale),
    ],
    'DELETE /prebuilts/:id': [
      refuse('stale', '/prebuilts/trier', undefined, stale),
      refuse('not_found', '/prebuilts/none'),
    ],

    'POST /profiles': [
      refuse('conflict', '/profiles', { properties: { id: 'trier' } }),
      refuse('invalid', '/profiles', { properties: { id: 'active' } }),
    ],
    'POST /profiles/import': [
      refuse('conflict', '/profiles/import', { properties: { id: 'trier' } }),
      refuse('invalid', '/profiles/import', { properties: { id: 'new', uiProps: { colour: 'red' } } }),
    ],
    'PUT /profiles/:id': [
      refuse('conflict', '/profiles/trier', { properties: { authenticationProps: { admins: ['user'] } } }),
      refuse('invalid', '/profiles/new', { properties: { id: 'other' } }),
      refuse('stale', '/profiles/trier', { properties: { authenticationProps: { admins: ['admins'] } } }, stale),
    ],
    'DELETE /profiles/:id': [
      refuse('conflict', '/profiles/trier'),
      refuse('stale', '/profiles/free', undefined, stale),
    ],
    'PUT /profiles/:id/active': [
      refuse('not_found', '/profiles/none/active'),
      refuse('stale', '/profiles/free/active', undefined, stale),
    ],
    'POST /template_builder/templates': [
      refuse('conflict', '/template_builder/templates', { name: 'trier', template: 'x' }),
    ],
    'PUT /template_builder/templates/:name': [
      ...named('/template_builder/templates', { name: 'trier' }),
      refuse('conflict', '/template_builder/templates/trier', { name: 'renamed' }),
      refuse('invalid', '/template_builder/templates/free', { data: { token: '********' } }),
    ],
    'POST /template_builder/import/templates': [
      refuse('conflict', '/template_builder/import/templates', { templates: [{ name: 'trier', template: 'other' }] }),
      refuse('invalid', '/template_builder/import/templates', { templates: [{ name: 'trier', template: 1 }] }),
    ],
    'DELETE /template_builder/templates/:name': [
      refuse('conflict', '/template_builder/templates/trier'),
      refuse('stale', '/template_builder/templates/free', undefined, stale),
    ],
    'POST /automation-studio/templates': [
      refuse('conflict', '/automation-studio/templates', { template: { name: 'trier' } }),
    ],
    'PUT /automation-studio/templates/:id': [
      refuse('not_found', `/automation-studio/templates/${none}`, { update: {} }),
      refuse('conflict', '/automation-studio/templates/free', { update: { name: 'trier' } }),
      refuse('invalid', '/automation-studio/templates/free', { update: { data: { token: '********' } } }),
      refuse('stale', '/automation-studio/templates/free', { update: { name: 'trier' } }, stale),
    ],
    'POST /automation-studio/templates/import': [
      refuse('conflict', '/automation-studio/templates/import', { templates: [{ name: 'trier', template: 'other' }] }),
      refuse('invalid', '/automation-studio/templates/import', { templates: [{ name: 'trier', template: 1 }] }),
    ],
    'DELETE /automation-studio/templates/:id': [
      refuse('conflict', '/automation-studio/templates/trier'),
      refuse('stale', '/automation-studio/templates/free', undefined, stale),
    ],
    'POST /template_builder/transformations': [
      refuse('conflict', '/template_builder/transformations', { ...moving, name: 'trier' }),
      refuse('invalid', '/template_builder/transformations', { ...moving, steps: undefined }),
    ],
    'PUT /template_builder/transformations': [
      refuse('conflict', '/template_builder/transformations', {
        transformations: [{ ...moving, name: 'trier', description: 'other' }],
      }),
    ],
    'PUT /template_builder/transformations/:id': [
      refuse('not_found', `/template_builder/transformations/${none}`, moving),
      refuse('conflict', '/template_builder/transformations/free', { ...moving, name: 'trier' }),
      refuse('stale', '/template_builder/transformations/trier', { ...moving, name: 'trier', description: 'x' }, stale),
    ],
    'POST /automation-studio/automations': [
      refuse('conflict', '/automation-studio/automations', { automation: { ...flow, name: 'trier' } }),
      refuse('invalid', '/automation-studio/automations', { automation: { ...flow, tasks: { 'a b': {} } } }),
    ],
    'POST /automation-studio/automations/import': [
      refuse('conflict', '/automation-studio/automations/import', {
        automations: [{ ...flow, name: 'trier', description: 'other' }],
      }),
    ],
    'PUT /automation-studio/automations/:id': [
      refuse('not_found', `/automation-studio/automations/${none}`, { update: flow }),
      refuse('conflict', '/automation-studio/automations/trier', { update: { ...flow, name: 'other' } }),
      refuse('stale', '/automation-studio/automations/trier', { update: { ...flow, name: 'trier' } }, stale),
    ],
    'DELETE /workflow_builder/workflows/delete/:namePath': [
      refuse('not_found', '/workflow_builder/workflows/delete/a/b'),
      refuse('conflict', '/workflow_builder/workflows/delete/trier'),
      refuse('stale', '/workflow_builder/workflows/delete/free', undefined, stale),
    ],
    'POST /transformations': [
      refuse('conflict', '/transformations', { ...moving, name: 'trier' }),
      refuse('invalid', '/transformations', { ...moving, steps: undefined }),
    ],
    'POST /transformations/import': [
      refuse('conflict', '/transformations/import', { ...moving, name: 'trier', description: 'other' }),
    ],
    'DELETE /transformations/:id': [
      refuse('not_found', `/transformations/${none}`),
      refuse('stale', '/transformations/free', undefined, stale),
    ],
    'DELETE /template_builder/transformations/:id': [
      refuse('not_found', `/template_builder/transformations/${none}`),
      refuse('stale', '/template_builder/transformations/free', undefined, stale),
    ],
  };
};

/** Rows of the table that change nothing. */
const readingAndRefusing = new Set([
  `POST ${cm}/config_template`,
  `POST ${cm}/devices/tree`,
  `POST ${cm}/compliance_reports/:id/remediation`,
]);

describe('What is refused', () => {
  const service = useService();
  const who = usePeople(service);
  let table: ReturnType<typeof refusals>;
  before(async () => {
    table = refusals(await world(service));
  });
  /** By route and code, for the API document; under `*` those that are the same for all. */
  const failures = recordings<Record<string, Failure>>('failures');
  const note = (title: string, code: string, answer: Answer): void => {
    const words = steadied(title)(answer.body) as Failure;
    const isCommon = common.has(words.message);
    const operation = isCommon ? '*' : title;
    failures.kept[operation] = { [code]: words, ...failures.kept[operation] };
  };
  const takesIfMatch = (route: Route): boolean => 'command' in route && route.command.on !== 'new';
  const changing = changes.filter(({ route }) => !route.access.includes('readers'));
  const refusing = [...changing, ...changes.filter(({ title }) => readingAndRefusing.has(title))];

  it('is in the table for every route that changes anything', () =>
    assert.deepEqual(Object.keys(table).sort(), refusing.map(({ title }) => title).sort()));

  it('has If-Match in the table for every route that takes it', () =>
    assert.deepEqual(
      changing
        .filter(({ route, title }) => takesIfMatch(route) && !table[title]?.some(({ code }) => code === 'stale'))
        .map(({ route }) => route.name),
      ['discardParked'],
      'nothing is parked here',
    ));

  for (const { title, method } of refusing) {
    it(`stores nothing: ${title}`, async () => {
      for (const { code, path, body, headers = {}, by } of table[title] ?? assert.fail('It is not in the table')) {
        const before = await positionOf(service);
        const about = `${method} ${path} ${JSON.stringify(body)?.slice(0, 200)}`;
        const answer = await (by ? who[by](method, path, body, headers) : service.ask(method, path, body, headers));
        failure(answer, code, about);
        note(title, code, answer);
        assert.equal(await positionOf(service), before, `${about} has stored something`);
        const key = { ...headers, 'Idempotency-Key': 'refused' };
        failure(
          await (by ? who[by](method, path, body, key) : service.ask(method, path, body, key)),
          code,
          `${about} with a key`,
        );
        assert.equal(await positionOf(service), before, `${about} with a key has stored something`);
      }
    });
  }

  for (const route of routes) {
    it(`says why: ${route.title}`, async () => {
      for (const [code, answer] of await malformed(service, who, route)) {
        failure(answer, code, route.title);
        note(route.title, code, answer);
      }
    });
  }

  it('says why where a body is too large, or a key was used with another request', async () => {
    note('POST /profiles', 'too_large', await service.ask('POST', '/profiles', ' '.repeat(1024 ** 2 + 1)));
    const key = { 'Idempotency-Key': 'used' };
    ok(await service.ask('POST', '/authorization/groups', { name: 'with-a-key', description: '' }, key));
    const other = await service.ask('POST', '/authorization/groups', { name: 'other', description: '' }, key);
    failure(other, 'unprocessable', 'another request');
    note('POST /authorization/groups', 'unprocessable', other);
  });

  it('as the examples of the API document show it', () => failures.shown());
});

/** What every operation answers in the same words. */
const common = new Set([
  'Log in: HTTP Basic, or a token',
  'It has changed since you looked',
  'This path does not know PATCH',
  'This path does not know PUT',
  'A body may have 1048576 bytes here',
  'A body must be application/json in UTF-8',
  'This Idempotency-Key was used with another request',
]);

// Lists by what need not be there, a publication, and a test whose body is another than the sample's.
const answersAnyId = new Set([
  'getDeviceGroupsOfDevice', // groups may list devices that are not there
  'getAuditTrace',
  'getDeviceScoreTrend', // of a device without reports
  'listATemplate',
  'listAnAnalyticTemplate',
  'publishEvent',
  'testTrigger',
]);

/** What a route answers to requests that are wrong in themselves, by code. */
const malformed = async (
  { ask }: TestService,
  { outsider }: People,
  asked: Asked,
): Promise<readonly (readonly [string, Answer])[]> => {
  const { route, method } = asked;
  const path = at(asked, 'unknown');
  const answers: [string, Answer][] = [];
  if (route.access !== 'open') answers.push(['unauthenticated', await ask(method, path, undefined, {}, null)]);
  if (typeof route.access !== 'string') answers.push(['forbidden', await outsider(method, path)]);
  answers.push(['method_not_allowed', await withOtherMethod(ask, asked, path)]);
  if (method === 'GET') {
    const isList = 'list' in route && route.list !== undefined;
    if (!route.foreignQuery)
      answers.push(['invalid', await ask(method, `${path}?${isList ? 'limit=0' : 'colour=red'}`)]);
  } else {
    const wrong = isAnyJson(asked) ? undefined : { colour: 'red' };
    const answer = await ask(method, path, wrong);
    answers.push(['invalid', answer.status === 400 ? answer : await ask(method, path, [])]);
    answers.push(['unsupported_media', await ask(method, path, 'colour=red', { 'Content-Type': 'text/plain' })]);
  }
  const makesWhatIsNotThere = 'command' in route && route.command.on === 'any';
  if (asked.params.length > 0 && !makesWhatIsNotThere) {
    const answer = await ask(method, path, bodyFor(asked));
    if (!answersAnyId.has(route.name)) answers.push(['not_found', answer]);
  }
  return answers;
};

const withOtherMethod = async (ask: TestService['ask'], { method }: Asked, path: string): Promise<Answer> => {
  for (const other of ['PATCH', 'PUT', 'DELETE', 'POST']) {
    const answer = other === method ? undefined : await ask(other, path, undefined);
    if (answer?.status === 405) return answer;
  }
  return assert.fail(`${path} knows every method`);
};
