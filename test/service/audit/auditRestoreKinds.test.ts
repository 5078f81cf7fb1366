import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { vlanRollout } from '../../../src/demo/prebuilts.ts';
import { positionOf } from '../../support/hostile.ts';
import { ok, refused } from '../../support/people.ts';
import { type Doc, type RestoreCase, restoresAsItWas } from '../../support/restoring.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';

const models = '/lifecycle-manager/resources';
const configs = '/configuration_manager/configs';
const schema = { type: 'object', properties: { site: { type: 'string' }, password: { type: 'string' } } };
const banner = { active: true, text: 'one', dismissible: true, startTime: '2026-01-01T00:00:00Z', allPages: true };
const authored = ['created', 'createdBy'];

describe('restoring each kind of resource', function () {
  this.timeout(300_000);
  const service = useService();

  const made = async (path: string, body: Doc): Promise<Doc> => {
    const answer = ok(await service.ask('POST', path, body));
    return answer.data ?? answer;
  };

  it('form', () =>
    restoresAsItWas(service, {
      kind: 'form',
      make: ['/json-forms/forms', { name: 'f', description: 'one', schema: { type: 'object', title: 'One' } }],
      change: ['PUT', '/json-forms/forms', { options: { id: ':id', name: 'f2', description: 'two' } }],
      remove: ['DELETE', '/json-forms/forms', { ids: [':id'] }],
      read: '/json-forms/forms/:id',
      members: ['name', 'description', 'schema', ...authored],
    }));

  it('analyticTemplate', () =>
    restoresAsItWas(service, {
      kind: 'analyticTemplate',
      make: ['/mop/createAnalyticTemplate', { template: { name: 'x', description: 'one' } }],
      change: ['POST', '/mop/updateAnalyticTemplate/x', { template: { name: 'x', description: 'two' } }],
      remove: ['POST', '/mop/deleteAnalyticTemplate/x'],
      read: '/mop/listAnAnalyticTemplate/x',
      members: ['name', 'description', 'created'],
    }));

  it('tree', () =>
    restoresAsItWas(service, {
      kind: 'tree',
      make: [configs, { name: 'leaves', deviceType: 'eos' }],
      change: ['PUT', `${configs}/variables/:id/initial`, { variables: { mtu: 1, token: 'secret two' } }],
      remove: ['DELETE', `${configs}/:id`],
      read: `${configs}/:id`,
      members: ['name', 'deviceType', 'versions', ...authored],
    }));

  it('agent', () =>
    restoresAsItWas(service, {
      kind: 'agent',
      make: [
        '/agent-session-manager/agents',
        {
          name: 'Triage',
          inputSchema: { type: 'object' },
          runner: 'webhook',
          url: 'https://example.net/one',
          headers: { Authorization: 'token one' },
        },
      ],
      change: [
        'PUT',
        '/agent-session-manager/agents/Triage',
        { name: 'Triage', inputSchema: { type: 'object' }, runner: 'template', template: 'two' },
      ],
      remove: ['DELETE', '/agent-session-manager/agents/:id'],
      read: '/agent-session-manager/agents/:id',
      members: ['name', 'runner', 'url', 'headers', 'template', 'timeout'],
    }));

  it('banner', () =>
    restoresAsItWas(service, {
      kind: 'banner',
      id: '62616e6e6572000000000000',
      make: ['/customization/banner', banner, 'PUT'],
      change: ['PUT', '/customization/banner', { ...banner, text: 'two', endTime: '2026-02-01T00:00:00Z' }],
      read: '/customization/banner',
      members: ['text', 'active', 'endTime'],
    }));

  it('plan, also with fewer nodes', async () => {
    const tree = await made(configs, { name: 'for plans' });
    const node = { treeId: tree._id, version: 'initial', nodeId: tree.versions[0].root.configId };
    await restoresAsItWas(service, {
      kind: 'plan',
      make: [
        '/configuration_manager/compliance_plans',
        { name: 'weekly', description: 'one', gbac: { read: ['readers'], write: ['operators'] } },
      ],
      change: [
        'PUT',
        '/configuration_manager/compliance_plans',
        {
          planId: ':id',
          options: { name: 'daily', nodes: [{ ...node, variables: { token: 'secret two' } }], status: 'active' },
        },
      ],
      remove: ['DELETE', '/configuration_manager/compliance_plans', { planIds: [':id'] }],
      read: '/configuration_manager/compliance_plans/:id',
      members: ['name', 'description', 'nodes', 'status', 'gbac', ...authored],
    });
  });

  it('resourceModel', () =>
    restoresAsItWas(service, {
      kind: 'resourceModel',
      make: [models, { name: 'Line', schema, actions: [{ _id: '0a01', name: 'Correct', type: 'update' }] }],
      change: ['PUT', `${models}/:id`, { name: 'Lines', schema: { type: 'object' } }],
      remove: ['DELETE', `${models}/:id`],
      read: `${models}/:id`,
      members: ['name', 'schema', 'actions', 'description'],
    }));

  it('resourceInstance', async () => {
    const { _id: model } = await made(models, { name: 'Circuit', schema });
    await restoresAsItWas(service, {
      kind: 'resourceInstance',
      make: [`${models}/${model}/instances`, { name: 'BON1', instanceData: { site: 'BON', password: 'secret one' } }],
      change: [
        'PUT',
        `${models}/${model}/instances/:id`,
        { name: 'BON2', instanceData: { site: 'FRA', password: 'secret two' } },
      ],
      remove: ['DELETE', `${models}/${model}/instances/:id`],
      read: `${models}/${model}/instances/:id`,
      members: ['name', 'description', 'instanceData', 'modelId'],
    });
  });

  it('resourceGroup, with its members', async () => {
    const { _id: model } = await made(models, { name: 'Port', schema });
    const instances = `${models}/${model}/instances`;
    const { _id: one } = await made(instances, { name: 'one', instanceData: {} });
    const { _id: two } = await made(instances, { name: 'two', instanceData: {} });
    const groups = `${models}/${model}/groups`;
    const { _id: id } = await made(groups, { name: 'All', instances: [one] });
    const lastData = async () =>
      ok(await service.ask('GET', `/audit/events?resource=resourceGroup/${id}&limit=1`)).results[0].data;
    const restoring = { kind: 'resourceGroup', id, position: await positionOf(service) };
    ok(await service.ask('PATCH', `${groups}/${id}`, { instancesToAdd: [two], instancesToRemove: [one] }));
    ok(await service.ask('POST', '/audit/restore', restoring));
    assert.deepEqual(await lastData(), { added: [one], removed: [two] });
    const position = await positionOf(service);
    assert.deepEqual(ok(await service.ask('POST', '/audit/restore', restoring)).patch, []);
    assert.equal(await positionOf(service), position);
    ok(await service.ask('DELETE', `${groups}/${id}`));
    ok(await service.ask('POST', '/audit/restore', restoring));
    assert.deepEqual(await lastData(), { modelId: model, name: 'All', description: '', instances: [one] });
    ok(await service.ask('DELETE', `${groups}/${id}`));
    ok(await service.ask('DELETE', `${instances}/${one}`));
    refused(await service.ask('POST', '/audit/restore', restoring), 404, /instances/);
  });

  it('deviceGroup', () =>
    restoresAsItWas(service, {
      kind: 'deviceGroup',
      make: ['/configuration_manager/devicegroup', { name: 'Edge', description: 'one', devices: ['r1', 'r2'] }],
      change: ['PUT', '/configuration_manager/devicegroups/:id', { name: 'Rim', query: { tags: ['core'] } }],
      remove: ['DELETE', '/configuration_manager/devicegroups/:id'],
      read: '/configuration_manager/devicegroups/:id',
      members: ['name', 'description', 'devices', 'query'],
    }));

  it('serviceGroup', () =>
    restoresAsItWas(service, {
      kind: 'serviceGroup',
      make: [
        '/gateway_manager/v1/service-groups',
        { serviceGroup: { name: 'Checks', cluster_id: 'eu', is_default: true, groups: ['operators'], services: [] } },
      ],
      remove: ['DELETE', '/gateway_manager/v1/service-groups/:id'],
      read: '/gateway_manager/v1/service-groups/:id',
      members: ['name', 'cluster_id', 'is_default', 'groups', 'services'],
    }));

  it('inventory, with its nodes and their secrets', async () => {
    const inventories = '/inventory_manager/v1/inventories';
    const inventory = await made(inventories, { name: 'Branches', description: 'one', groups: ['operators'] });
    const nodes = ['r1', 'r2', 'r3'].map((name) => ({
      name,
      tags: ['edge'],
      attributes: { password: `token ${name}` },
    }));
    ok(await service.ask('POST', `${inventories}/${inventory._id}/nodes`, { nodes }));
    const about: RestoreCase = {
      kind: 'inventory',
      id: inventory._id,
      read: `${inventories}/:id`,
      members: ['name', 'description', 'groups', 'nodeCount'],
      list: [`${inventories}/:id/nodes`, ['name', 'tags', 'attributes']],
    };
    const withSecrets = await positionOf(service);
    const more = { nodes: [{ name: 'r4', attributes: { password: 'token two' } }] };
    await restoresAsItWas(service, { ...about, change: ['POST', `${inventories}/:id/nodes`, more] });
    await restoresAsItWas(service, {
      ...about,
      change: ['DELETE', `/inventory_manager/v1/nodes/clear/${inventory._id}`],
      remove: ['DELETE', `${inventories}/:id`],
    });
    const diff = ok(
      await service.ask(
        'GET',
        `/audit/diff?resource=inventory/${inventory._id}&from=${withSecrets}&to=${await positionOf(service)}`,
      ),
    );
    assert.deepEqual(
      diff.patch.map(({ path }: Doc) => path).filter((path: string) => !/^\/(created|lastUpdated)/.test(path)),
      [],
    );
  });

  it('profile, and which one is active', async () => {
    await restoresAsItWas(service, {
      kind: 'profile',
      make: [
        '/profiles',
        {
          id: 'p1',
          description: 'one',
          alarmProps: [
            { ip: '192.0.2.1', type: 'trap', community: 'token one' },
            { ip: '192.0.2.2', type: 'trap', community: 'token one' },
          ],
        },
      ],
      change: [
        'PUT',
        '/profiles/p1',
        {
          properties: {
            description: 'two',
            services: ['x'],
            alarmProps: [{ ip: '192.0.2.2', type: 'trap', community: 'token two' }],
          },
        },
      ],
      remove: ['DELETE', '/profiles/p1'],
      read: '/profiles/p1',
      members: ['id', 'description', 'alarmProps', 'services'],
    });
    ok(await service.ask('POST', '/profiles', { id: 'p2' }));
    await restoresAsItWas(service, {
      kind: 'activeProfile',
      id: 'current',
      make: ['/profiles/p1/active', {}, 'PUT'],
      change: ['PUT', '/profiles/p2/active', {}],
      read: '/profiles/active',
      members: ['id'],
    });
  });

  it('scheduledJob', async () => {
    const job = { _id: '65f0c1e2d3a4b5c6d7e8f9b1', name: 'Nightly', repeatInterval: '1 day', odd: { kept: true } };
    const about = { workflowId: 'Backup', formData: { password: 'secret one' } };
    const path = '/automation_catalog/import/scheduled-jobs';
    ok(await service.ask('POST', path, { scheduledJobs: [{ ...job, data: about }] }));
    const changed = { ...job, name: 'Daily', odd: 1, data: { ...about, formData: { password: 'secret two' } } };
    await restoresAsItWas(service, {
      kind: 'scheduledJob',
      id: job._id,
      change: ['POST', path, { scheduledJobs: [changed], overwrite: true }],
      read: `/automation_catalog/scheduled-jobs/${job._id}/export`,
      members: ['name', 'repeatInterval', 'data', 'odd', 'created', 'createdBy'],
    });
  });

  it('prebuilt, with what it installs', async () => {
    const path = '/prebuilts/import';
    const { _id: id } = await made(path, { prebuilt: vlanRollout });
    const other = {
      ...vlanRollout,
      readme: 'two',
      bundles: vlanRollout.bundles.filter(({ type }) => type !== 'template'),
    };
    await restoresAsItWas(service, {
      kind: 'prebuilt',
      id,
      change: ['POST', path, { prebuilt: other, options: { overwrite: true } }],
      remove: ['DELETE', `/prebuilts/${id}`],
      read: `/prebuilts/${id}/export`,
      members: ['metadata', 'readme', 'bundles'],
    });
  });

  it('automation, with the triggers and the unknown members that it had', async () => {
    const path = '/operations-manager/automations';
    const id = '65f0c1e2d3a4b5c6d7e8f9c1';
    const trigger = (digit: string, more: Doc) => ({
      _id: `65f0c1e2d3a4b5c6d7e8f9d${digit}`,
      enabled: false,
      actionType: 'automations',
      actionId: id,
      ...more,
    });
    const manual = { type: 'manual', name: 'By hand', formId: null, formData: { password: 'secret one' } };
    const endpoint = { type: 'endpoint', name: 'By call', verb: 'POST', routeName: 'call', schema: null, jst: null };
    const automation = {
      _id: id,
      name: 'Backup',
      description: '',
      componentType: null,
      componentName: null,
      gbac: { read: ['operators'], write: ['operators'] },
      odd: { kept: [1.5] },
      triggers: [trigger('1', { ...manual, odder: true }), trigger('2', endpoint)],
    };
    ok(await service.ask('PUT', path, { automations: [automation] }));
    const exported = async (): Promise<Doc> => {
      const { data } = ok(await service.ask('GET', `${path}/${id}/export`));
      const timeless = ({ lastUpdated: _, lastUpdatedBy: __, ...rest }: Doc): Doc => rest;
      return { ...timeless(data), triggers: data.triggers.map(timeless) };
    };
    const wanted = await exported();
    assert.deepEqual([wanted.odd, wanted.triggers.length], [automation.odd, 2]);
    const restoring = { kind: 'automation', id, position: await positionOf(service) };
    ok(await service.ask('DELETE', `/operations-manager/triggers/${automation.triggers[1]?._id}`));
    ok(await service.ask('DELETE', `${path}/${id}`));
    const gone = await positionOf(service);

    const tried = ok(await service.ask('POST', '/audit/restore', { ...restoring, dryRun: true }));
    assert.deepEqual([tried.data.name, tried.patch[0].path, await positionOf(service)], ['Backup', '', gone]);
    const key = { 'Idempotency-Key': randomUUID() };
    const back = ok(await service.ask('POST', '/audit/restore', restoring, key));
    assert.deepEqual([back.data._id, back.patch[0].path], [id, '']);
    assert.ok(!back.text?.includes('secret one'));
    assert.deepEqual(await exported(), wanted);
    const last = await positionOf(service);
    ok(await service.ask('POST', '/audit/restore', restoring, key));
    assert.equal(await positionOf(service), last, 'the same request again stores nothing');
    ok(await service.ask('PATCH', `${path}/${id}`, { description: 'changed since' }));
    const repeated = await service.ask('POST', '/audit/restore', restoring, key);
    assert.equal(repeated.headers.get('idempotency-replayed'), 'true');
    assert.equal(ok(await service.ask('GET', `${path}/${id}`)).data.description, 'changed since');
    const { data } = ok(await service.ask('GET', `/operations-manager/triggers/${automation.triggers[0]?._id}`));
    assert.equal(data.formData.password, '********');

    ok(await service.ask('DELETE', `${path}/${id}`));
    ok(await service.ask('POST', path, { name: 'Backup' }));
    refused(await service.ask('POST', '/audit/restore', restoring), 409);
    refused(await service.ask('POST', '/audit/restore', { ...restoring, dryRun: true }), 409);
  });

  it('a model comes back without its instances, which come back one by one', async () => {
    const { _id: id } = await made(models, { name: 'Rack', schema });
    const { _id: instance } = await made(`${models}/${id}/instances`, { name: 'r1', instanceData: { site: 'BON' } });
    const position = await positionOf(service);
    ok(await service.ask('DELETE', `${models}/${id}?delete-associated-instances=true`));
    const restore = (kind: string, id: string) => service.ask('POST', '/audit/restore', { kind, id, position });
    // The instances are deleted in the background. Until then an instance is hidden, and the model is 503.
    await until(async () => {
      const answer = await restore('resourceInstance', instance);
      refused(answer, 404);
      return /resource model/.test(answer.text);
    }, 'the instance to be deleted');
    await until(async () => (await restore('resourceModel', id)).status === 200, 'the model');
    ok(await restore('resourceInstance', instance));
    const { data } = ok(await service.ask('GET', `${models}/${id}/instances/${instance}`));
    assert.deepEqual(data.instanceData, { site: 'BON' });
    assert.equal(ok(await service.ask('GET', `${models}/${id}`)).data.name, 'Rack');
  });

  it('needs each method that does the same', async () => {
    const inventory = await made('/inventory_manager/v1/inventories', { name: 'Rights' });
    const asked = { kind: 'inventory', id: inventory._id, position: await positionOf(service) };
    const may = (...names: readonly (readonly [string, string])[]) =>
      names.map(([provenance, name]) => ({ provenance, name }));
    const read = [
      ['audit', 'restoreResource'],
      ['inventory-manager', 'getInventory'],
    ] as const;
    ok(await service.ask('POST', '/authorization/roles', { name: 'adder', allowedMethods: may(...read) }));
    ok(
      await service.ask('POST', '/authorization/accounts', {
        username: 'ada',
        password: 'a long enough password',
        assignedRoles: ['adder'],
      }),
    );
    const ada = service.as({ user: 'ada', password: 'a long enough password' });
    refused(await ada('POST', '/audit/restore', asked), 403, /addNodes/);
    const add = [...read, ['inventory-manager', 'addNodes']] as const;
    ok(await service.ask('PATCH', '/authorization/roles/adder', { allowedMethods: may(...add) }));
    refused(await ada('POST', '/audit/restore', asked), 403, /clearNodes/);
    const clear = [...add, ['inventory-manager', 'clearNodes']] as const;
    ok(await service.ask('PATCH', '/authorization/roles/adder', { allowedMethods: may(...clear) }));
    refused(await ada('POST', '/audit/restore', asked), 403, /updateInventory/);
    const all = [...clear, ['inventory-manager', 'updateInventory']] as const;
    ok(await service.ask('PATCH', '/authorization/roles/adder', { allowedMethods: may(...all) }));
    assert.deepEqual(ok(await ada('POST', '/audit/restore', asked)).patch, []);
  });
});
