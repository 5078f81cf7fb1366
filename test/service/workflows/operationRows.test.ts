import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomOf } from '@automation-platform/transformations';
import { builtInOf } from '../../support/builtIn.ts';
import { ok, refused } from '../../support/people.ts';
import { step, transformation, wire } from '../../support/transformationSamples.ts';
import { useService } from '../../support/useService.ts';
import { ours, workflow } from '../../support/workflowSamples.ts';

type Json = any; // answers are whatever the route says

const om = '/operations-manager';
const models = '/lifecycle-manager/resources';
const im = '/inventory_manager/v1';

const drawing = transformation('Drawing', {
  incoming: ['site', 'login'],
  outgoing: ['upper', 'login', 'chance', 'at'],
  steps: [
    step(1, 'String.toUpperCase'),
    step(2, 'Math.random'),
    step(3, 'Date.now'),
    wire('incoming site', 'method 1 /args/0/value'),
    wire('method 1 /return', 'outgoing upper'),
    wire('method 2 /return', 'outgoing chance'),
    wire('method 3 /return', 'outgoing at'),
    wire('incoming login', 'outgoing login'),
  ],
});

type Call = { method: string; url: string; headers: IncomingHttpHeaders; body: string };

describe('Each operation that a task stands for', function () {
  this.timeout(60_000);
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  const { ask } = { ask: ((...args: Parameters<typeof service.ask>) => service.ask(...args)) as typeof service.ask };
  const admin = builtInOf(ask);
  const calls: Call[] = [];
  let answer = { status: 200, body: '{"fine":true}', type: 'application/json', headers: {} };
  let rest: Server;
  let base: string;
  let ids: Record<string, string>;

  before(async () => {
    rest = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        calls.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
        response
          .writeHead(answer.status, { 'Content-Type': answer.type, 'X-Said': 'yes', ...answer.headers })
          .end(answer.body.replace('<echo>', JSON.stringify(body)));
      });
    }).listen(0, '127.0.0.1');
    await once(rest, 'listening');
    base = `http://127.0.0.1:${(rest.address() as AddressInfo).port}`;
    const template = { name: 'Pairs', prepostCommands: [{ preRawCommand: 'a', postRawCommand: 'a', rules: [] }] };
    ok(await ask('POST', '/mop/createAnalyticTemplate', { template }));
    const tree = ok(await ask('POST', '/configuration_manager/configs', { name: 'Tree', deviceType: 'cisco-ios' }));
    const variables = { site: 'Ulm', snmpCommunity: 'hush-hush' };
    ok(await ask('PUT', `/configuration_manager/configs/variables/${tree._id}/initial`, { variables }));
    const lab = { name: 'mine', type: 'lab', properties: {}, devices: [{ name: 'l1' }] };
    const dead = {
      name: 'dead',
      type: 'http',
      properties: { baseUrl: 'http://127.0.0.1:9' },
      devices: [{ name: 'd1' }],
    };
    for (const adapter of [lab, dead]) ok(await ask('POST', '/configuration_manager/adapters', adapter));
    const actions = [
      { name: 'Take in', type: 'import' },
      { name: 'Deploy', type: 'create', workflow: 'Deploying' },
    ];
    const model = ok(await ask('POST', models, { name: 'VLAN', schema: { type: 'object' }, actions })).data;
    ids = Object.fromEntries(model.actions.map(({ name, _id }: Json) => [name, _id]));
    const instance = { name: 'old', instanceData: { vlan: 7, password: 'tacacs+' } };
    ok(await ask('POST', `${models}/VLAN/instances`, instance));
    ok(await ask('POST', `${im}/inventories`, { name: 'There' }));
    await save('Deploying', { set: ours('newVariable', { name: 'instance', value: { vlan: 5 } }) });
    ok(
      await ask('POST', `${om}/automations`, {
        name: 'Deploying',
        componentType: 'workflows',
        componentName: 'Deploying',
      }),
    );
    await admin.agent('Quick', { runner: 'webhook', url: `${base}/agent` });
    ok(await ask('POST', '/template_builder/transformations', drawing));
  });
  after(() => {
    rest.close();
    rest.closeAllConnections();
  });

  const save = async (name: string, tasks: Json): Promise<Json> => {
    const names = ['start', ...Object.keys(tasks), 'end'];
    const edges = names.slice(1).map((id, i) => `${names[i]} -> ${id}`);
    return ok(await ask('POST', `${om}/workflows`, { ...workflow(tasks, edges), name })).data;
  };

  const task = (operation: string, incoming: Json): Json => {
    const [app, name = ''] = operation.split('.');
    return { ...ours(name, incoming), app };
  };

  /** Runs a task with inputs that become known when it runs. */
  const run = async (operation: string, inputs: Json): Promise<Json> => {
    const name = `${operation} ${JSON.stringify(inputs)}`.slice(0, 200);
    const incoming = Object.fromEntries(Object.keys(inputs).map((key) => [key, `$var.job.in_${key}`]));
    const variables = Object.fromEntries(Object.entries(inputs).map(([key, value]) => [`in_${key}`, value]));
    const { _id } = await save(name, { it: task(operation, incoming) });
    const id = await admin.start(_id, variables);
    const job = await admin.inState(id, 'complete', 'error');
    const { outgoing, error } = ok(await ask('GET', `${om}/jobs/${id}/tasks/it`)).data;
    return { id, status: job.status, outgoing, error };
  };

  const rows: readonly [operation: string, inputs: () => Json, check: (outgoing: Json, id: string) => unknown][] = [
    [
      'InventoryManager.createInventory',
      () => ({ name: 'Made', description: '', groups: '', tags: '', createBrokerActions: true }),
      async ({ response }) => assert.equal(ok(await ask('GET', `${im}/inventories/Made`))._id, response._id),
    ],
    [
      'InventoryManager.populateInventory',
      () => ({ inventory_identifier: 'Made', nodes: [{ name: 'n1', attributes: { password: 'pw-word', host: 'h' } }] }),
      async ({ response }) => {
        assert.equal(response.nodesAdded, 1);
        const [node] = ok(await ask('GET', `${im}/inventories/Made/nodes`)).results;
        assert.deepEqual(node.attributes, { password: '********', host: 'h' });
      },
    ],
    [
      'InventoryManager.getInventoryByIdentifier',
      () => ({ identifier: 'Made' }),
      ({ response }) => assert.deepEqual([response.name, response.nodeCount], ['Made', 1]),
    ],
    [
      'InventoryManager.clearInventory',
      () => ({ identifier: 'Made' }),
      ({ response }) => assert.deepEqual([response.nodesDeleted, response.inventory.nodeCount], [1, 0]),
    ],
    [
      'InventoryManager.deleteInventory',
      () => ({ identifier: 'Made' }),
      async ({ response }) => {
        assert.equal(response.name, 'Made');
        refused(await ask('GET', `${im}/inventories/Made`), 404);
      },
    ],
    [
      'MOP.runAnalyticsTemplate',
      () => ({ template: 'Pairs', pre: ['up'], post: { commands_results: [{ response: 'up' }] } }),
      ({ analytic_result: { result, commands_results } }) => {
        assert.equal(result, true);
        assert.match(commands_results[0].postCommandResHTML, /up/);
      },
    ],
    [
      'ConfigurationManager.getGoldenConfigTrees',
      () => ({}),
      ({ goldenConfigTrees: [tree] }) => assert.equal(tree.name, 'Tree'),
    ],
    [
      'ConfigurationManager.getGoldenConfigTree',
      () => ({ treeId: 'Tree' }),
      ({ tree }) => assert.deepEqual(tree.versions[0].variables, { site: 'Ulm', snmpCommunity: '********' }),
    ],
    ['ConfigurationManager.isAlive', () => ({ name: 'l1' }), (out) => assert.deepEqual(out, { status: true })],
    ['ConfigurationManager.isAlive', () => ({ name: 'd1' }), (out) => assert.deepEqual(out, { status: false })],
    [
      'LifecycleManager.getResourceInstanceByName',
      () => ({ modelName: 'VLAN', instanceName: 'old' }),
      ({ instance }) => assert.deepEqual(instance.instanceData, { vlan: 7, password: '********' }),
    ],
    [
      'LifecycleManager.runAction',
      () => ({
        modelId: 'VLAN',
        actionId: ids['Take in'],
        instanceName: 'new',
        variables: { vlan: 9 },
        task: 'static',
      }),
      async ({ result }) => {
        assert.equal(result.status, 'complete');
        assert.equal(ok(await ask('GET', `${models}/VLAN/instances/new`)).data.instanceData.vlan, 9);
      },
    ],
    [
      'LifecycleManager.runAction',
      () => ({ modelId: 'VLAN', actionId: ids.Deploy, instanceName: 'deployed' }),
      ({ result }) => assert.deepEqual([result.status, result.tasks[0].status], ['complete', 'complete']),
    ],
    [
      'AgentSessionManager.runAgent',
      () => {
        answer = { ...answer, body: '{"status": "COMPLETE", "lastMessage": "did it"}' };
        return { agent: 'Quick', inputs: { token: 'shh' } };
      },
      async (out) => {
        assert.deepEqual([out.status, out.lastMessage], ['COMPLETE', 'did it']);
        assert.equal(JSON.parse(calls.at(-1)?.body ?? '').inputs.token, 'shh');
      },
    ],
    [
      'WorkFlowEngine.restCall',
      () => {
        answer = { ...answer, body: '{"echo": <echo>, "access_token": "abc-def"}' };
        return {
          uri: `${base}/x?y=1`,
          verb: 'POST',
          user: 'ann',
          password: 'open sesame',
          headers: { 'X-Token': 'my-token', 'X-N': 5 },
          body: { secret: 'deep-secret' },
        };
      },
      ({ response }, id) => {
        const { status, headers, body } = response;
        assert.deepEqual([status, headers['x-said']], [200, 'yes']);
        assert.deepEqual(body, { echo: '{"secret":"********"}', access_token: '********' });
        const { method, url, headers: sent, body: text } = calls.at(-1)!;
        assert.deepEqual([method, url, text], ['POST', '/x?y=1', '{"secret":"deep-secret"}']);
        assert.equal(sent.authorization, `Basic ${Buffer.from('ann:open sesame').toString('base64')}`);
        assert.deepEqual([sent['x-token'], sent['x-n'], sent['idempotency-key']], ['my-token', '5', `${id}.it.1`]);
      },
    ],
    [
      'WorkFlowEngine.restCall',
      () => {
        answer = { status: 302, body: 'plain', type: 'text/plain', headers: { Location: `${base}/elsewhere` } };
        return { uri: base, verb: 'GET', body: '', headers: null };
      },
      ({ response }) => {
        assert.deepEqual([response.status, response.body], [302, 'plain']);
        assert.equal(calls.at(-1)?.url, '/', 'the redirect was not followed');
      },
    ],
    [
      'WorkFlowEngine.transformation',
      () => ({
        tr_id: 'Drawing',
        variableMap: { site: 'Ulm', login: { password: 'pw-word' } },
        options: { validateIncoming: true, revertToDefaultValue: true, extractOutput: false },
      }),
      async ({ upper, chance, at, login }, id) => {
        assert.deepEqual([upper, login], ['ULM', { password: '********' }]);
        const runId = `${id}.it.1`;
        assert.equal(chance, randomOf(runId)());
        const { from } = ok(await ask('GET', `${om}/jobs/${id}/tasks/it`)).data.runs[0];
        assert.equal(new Date(at).toISOString(), from);
      },
    ],
  ];

  it('does its work, and says what came of it', async () => {
    for (const [operation, inputs, check] of rows) {
      const { status, error, outgoing, id } = await run(operation, inputs());
      assert.deepEqual([operation, status, error], [operation, 'complete', null]);
      await check(outgoing, id);
    }
  });

  it('ends in error, in words, where an input has the wrong type or names what is not there', async () => {
    answer = { status: 404, body: '{"why": "gone"}', type: 'application/json', headers: {} };
    const wrong: readonly [operation: string, inputs: Json, error: RegExp][] = [
      ['InventoryManager.createInventory', { name: 7 }, /^The input name must be string/],
      ['InventoryManager.createInventory', { name: 'There' }, /There/],
      ['InventoryManager.createInventory', { name: 'X', groups: ['none'] }, /none/],
      ['InventoryManager.populateInventory', { inventory_identifier: 'There' }, /^The input nodes is required/],
      [
        'InventoryManager.populateInventory',
        { inventory_identifier: 'There', nodes: [{ name: 'a' }, { host: 'x' }] },
        /^The input nodes.1.name is required/,
      ],
      ['InventoryManager.populateInventory', { inventory_identifier: 'none', nodes: [] }, /no inventory "none"/],
      ['InventoryManager.deleteInventory', { identifier: 'none' }, /no inventory "none"/],
      ['InventoryManager.clearInventory', { identifier: '' }, /^The input identifier is required/],
      ['InventoryManager.getInventoryByIdentifier', { identifier: 'none' }, /"none"/],
      ['MOP.runAnalyticsTemplate', { template: 'none', pre: [], post: [] }, /"none"/],
      ['MOP.runAnalyticsTemplate', { template: 'Pairs', pre: [7], post: [] }, /^The input pre.0 must be string/],
      ['MOP.runAnalyticsTemplate', { template: 'Pairs', pre: {}, post: [] }, /^The input pre must be/],
      ['MOP.runAnalyticsTemplate', { template: 'Pairs', pre: [], post: [] }, /1 pairs/],
      ['TemplateBuilder.renderJinjaTemplate', { name: 'none' }, /There is no template "none"/],
      ['TemplateBuilder.renderJinja2ContextWithCast', { template: 7 }, /template must be string/],
      ['TemplateBuilder.renderJinja2ContextWithCast', { template: 'x', castDataType: 'date' }, /must be one of/],
      ['TemplateBuilder.renderJinja2ContextWithCast', { template: 'x', castDataType: 'number' }, /is no number: x/],
      ['ConfigurationManager.getDevice', { name: 'nobody' }, /nobody/],
      ['ConfigurationManager.applyDeviceConfig', { device: 'l1' }, /config is required/],
      ['ConfigurationManager.applyDeviceConfig', { device: 'l1', config: {} }, /config.*is required/],
      ['MOP.RunCommandTemplate', { template: 'Two', devices: [] }, /devices must NOT have fewer/],
      ['MOP.RunCommandTemplate', { template: 'none', devices: ['l1'] }, /There is no mop-template/],
      ['OperationsManager.publishEvent', { source: '@platform/x', topic: 't' }, /must not begin with @platform/],
      ['OperationsManager.publishEvent', { topic: 't' }, /^The input source is required/],
      ['ConfigurationManager.getGoldenConfigTree', { treeId: 'none' }, /"none"/],
      ['ConfigurationManager.isAlive', { name: 'none' }, /"none"/],
      ['LifecycleManager.getResourceInstanceByName', { modelName: 'none', instanceName: 'old' }, /"none"/],
      ['LifecycleManager.getResourceInstanceByName', { modelName: 'VLAN', instanceName: 'none' }, /no instance "none"/],
      ['LifecycleManager.runAction', { modelId: 'none', actionId: 'x' }, /"none"/],
      ['LifecycleManager.runAction', { modelId: 'VLAN', actionId: 'x' }, /no action with this id/],
      ['LifecycleManager.runAction', { modelId: 'VLAN', actionId: 'x', variables: [] }, /^The input variables must be/],
      ['AgentSessionManager.runAgent', { agent: 'none' }, /No such agent/],
      ['AgentSessionManager.runAgent', { agent: 'Quick', inputs: 'x' }, /^The input inputs must be object/],
      ['WorkFlowEngine.transformation', { tr_id: 'none' }, /There is no transformation "none"/],
      ['WorkFlowEngine.transformation', { tr_id: '' }, /^The input tr_id is required/],
      ['WorkFlowEngine.transformation', { tr_id: 'Drawing', variableMap: [] }, /^The input variableMap must be object/],
      [
        'WorkFlowEngine.transformation',
        { tr_id: 'Drawing', variableMap: { site: { token: 'x' } } },
        /^The transformation fails: Step 1 \(String.toUpperCase\): A secret/,
      ],
      ['WorkFlowEngine.restCall', { uri: 'ftp://x', verb: 'GET' }, /^The input uri must match/],
      ['WorkFlowEngine.restCall', { uri: 'http://', verb: 'GET' }, /uri is no URL/],
      ['WorkFlowEngine.restCall', { uri: base, verb: 'CONNECT' }, /^The input verb must be one of/],
      ['WorkFlowEngine.restCall', { uri: base, verb: 'GET', headers: { a: {} } }, /header a must be a text/],
      ['WorkFlowEngine.restCall', { uri: base, verb: 'GET', headers: { Host: 'x' } }, /Host is set by the call/],
      ['WorkFlowEngine.restCall', { uri: base, verb: 'GET', headers: { 'a b': 'x' } }, /does not allow/],
      ['WorkFlowEngine.restCall', { uri: 'http://127.0.0.2:1', verb: 'GET' }, /OUTBOUND_ALLOW/],
      ['WorkFlowEngine.restCall', { uri: base, verb: 'GET' }, /status 404/],
    ];
    for (const [operation, inputs, words] of wrong) {
      const { status, error } = await run(operation, inputs);
      assert.equal(status, 'error', `${operation} ${JSON.stringify(inputs)}`);
      assert.match(error.message ?? error, words);
    }
    const { error } = await run('WorkFlowEngine.restCall', { uri: `${base}/again`, verb: 'DELETE' });
    assert.deepEqual(error.response.body, { why: 'gone' });
  });

  it('has faults where its inputs are written with the wrong type', async () => {
    const tasks = {
      a: task('InventoryManager.createInventory', { name: 7, groups: '$var.job.groups', tags: '' }),
      b: task('WorkFlowEngine.restCall', { uri: '$var.job.uri', verb: 'GETT', password: 'kept-secret' }),
      c: task('MOP.RunCommandTemplate', { template: 'Two', devices: ['r1', ''] }),
    };
    const { faults } = await save('Faults', tasks);
    assert.deepEqual(
      faults.map(({ code, task: of, path }: Json) => [code, of, path]),
      [
        ['input', 'a', '/tasks/a/variables/incoming/name'],
        ['input', 'b', '/tasks/b/variables/incoming/verb'],
        ['input', 'c', '/tasks/c/variables/incoming/devices/1'],
      ],
    );
    const text = JSON.stringify(ok(await ask('GET', `${om}/workflows/Faults/export`)));
    assert.doesNotMatch(text, /kept-secret/);
  });

  it('has a fault where the transformation is not there or has one, as of now, and cannot start then', async () => {
    const path = '/template_builder/transformations';
    const child = ours('childJob', {
      workflow: 'Deploying',
      data_array: [],
      loopType: 'parallel',
      transformation: 'Later',
    });
    const tasks = { a: task('WorkFlowEngine.transformation', { tr_id: 'Later' }), b: child };
    const { faults } = await save('Early', tasks);
    assert.deepEqual(
      faults.map(({ code, path, message }: Json) => [code, path, message]),
      [
        ['transformation', '/tasks/a/variables/incoming/tr_id', 'There is no transformation "Later"'],
        ['transformation', '/tasks/b/variables/incoming/transformation', 'There is no transformation "Later"'],
      ],
    );
    const start = () => ask('POST', `${om}/jobs/start`, { workflow: 'Early' });
    const listed = async () => ok(await ask('GET', `${om}/workflows?multiEquals[name]=Early`)).data[0].faults;
    refused(await start(), 422, /There is no transformation .*Later/);
    assert.equal(await listed(), 2);
    const later = { ...drawing, name: 'Later', incoming: [], steps: [step(1, 'Array.zip')] };
    const { _id } = ok(await ask('POST', path, later)).data;
    refused(await start(), 422, /The transformation .*Later.* has a fault: There is no method Array.zip/);
    ok(await ask('PUT', `${path}/${_id}`, { ...later, steps: [] }));
    assert.equal(await listed(), 0);
    const { data } = ok(await start());
    await admin.inState(data._id, 'complete');
  });

  it('takes what it has begun elsewhere along when its run ends before', async () => {
    await admin.agent('Slow', { runner: 'webhook', url: `${base}/slow` });
    answer = { status: 200, body: '{}', type: 'application/json', headers: {} };
    ok(await ask('POST', `${om}/automations`, { name: 'Nobody', componentType: null, componentName: 'nobody does' }));
    const actions = [{ name: 'Wait', type: 'create', workflow: 'Nobody' }];
    const model = ok(await ask('POST', models, { name: 'Slow', schema: {}, actions })).data;
    const parts = (limit: Json) => ({
      a: { ...task('AgentSessionManager.runAgent', { agent: 'Slow' }), ...limit },
      b: {
        ...task('LifecycleManager.runAction', {
          modelId: 'Slow',
          actionId: model.actions[0]._id,
          instanceName: `slow ${JSON.stringify(limit)}`,
        }),
        ...limit,
      },
    });
    const both = async (name: string, tasks: Json): Promise<string> => {
      const edges = ['start -> a', 'start -> b', 'a -> end', 'b -> end'];
      ok(await ask('POST', `${om}/workflows`, { ...workflow(tasks, edges), name }));
      return admin.start(name);
    };
    const begun = async () => ({
      sessions: ok(await ask('GET', '/agent-session-manager/sessions')).results,
      executions: ok(await ask('GET', '/lifecycle-manager/action-executions')).data,
    });
    const became = async (count: number, session: string, execution: string) => {
      for (;;) {
        const { sessions, executions } = await begun();
        const slow = sessions.filter(({ agent }: Json) => (agent.name ?? agent) === 'Slow');
        const waits = executions.filter(({ action }: Json) => action.name === 'Wait');
        const isSo =
          slow.filter(({ status }: Json) => status === session).length === count &&
          waits.filter(({ status }: Json) => status === execution).length === count;
        if (isSo) return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const canceled = await both('Begun', parts({}));
    await became(1, 'RUNNING', 'running');
    await admin.move('cancel', canceled);
    await became(1, 'CANCELED', 'canceled');
    await both('Limited', parts({ timeLimit: { seconds: 1 } }));
    await became(2, 'CANCELED', 'canceled');
  });
});
