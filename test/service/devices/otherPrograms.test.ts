import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtInOf } from '../../support/builtIn.ts';
import { controllerOf, goldenText } from '../../support/complianceRuns.ts';
import { ok } from '../../support/people.ts';
import { adminPassword } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

const manager = '/configuration_manager';

/** Where the sources of the public MCP server and of its SDK are: folders `itential-mcp` and `ipsdk`. */
const clients = process.env.TEST_PYTHON_CLIENTS ?? '';

/* The services of the MCP server alone, unchanged: the server around them needs packages that Debian lacks. */
const script = `
import asyncio, importlib, importlib.metadata, json, sys, types
clients, port, password = sys.argv[1:]
sys.path.insert(0, clients + '/ipsdk/src')
importlib.metadata.version = lambda name: '0'
package = types.ModuleType('itential_mcp')
package.__path__ = [clients + '/itential-mcp/src/itential_mcp']
platform = types.ModuleType('itential_mcp.platform')
platform.__path__ = [package.__path__[0] + '/platform']
sys.modules.update({'itential_mcp': package, 'itential_mcp.platform': platform})
import ipsdk
from ipsdk.http import HTTPMethod
Service = importlib.import_module('itential_mcp.platform.services.configuration_manager').Service

async def call(service, name, arguments):
    try:
        return {'answer': await getattr(service, name)(**arguments)}
    except Exception as error:
        response = getattr(error, 'response', None)
        return {'error': repr(error) if response is None else response.text}

async def main():
    client = ipsdk.platform_factory(host='127.0.0.1', port=int(port), use_tls=False, user='admin', password=password, want_async=True)
    # The service names this method by its text, which the SDK of today does not take.
    send = client._send_request
    client._send_request = lambda method, *a, **b: send(HTTPMethod(method), *a, **b)
    service = Service(client)
    for line in sys.stdin:
        print(json.dumps([await call(service, name, arguments) for name, arguments in json.loads(line)]), flush=True)

asyncio.run(main())
`;

type Outcome = { readonly answer?: any; readonly error?: string };

/** Calls methods of the services, one after another, in Python; each outcome is an answer or an error. */
const inPython = async (
  url: string,
  calls: readonly (readonly [method: string, args: object])[],
): Promise<Outcome[]> => {
  const python = process.env.TEST_PYTHON ?? '/usr/bin/python3';
  const running = promisify(execFile)(python, ['-c', script, clients, new URL(url).port, adminPassword]);
  running.child.stdin!.end(`${JSON.stringify(calls)}\n`);
  return JSON.parse((await running).stdout);
};

/** A struct of Go: what its JSON decoder makes of members that are absent or null. */
type Struct = Readonly<Record<string, '' | 0 | 'strings' | 'map' | 'any' | 'structs'>>;

/** Reads an answer as Go does, which takes no value of another type, and leaves out what the struct lacks. */
const decode = (struct: Struct, value: any): any =>
  Object.fromEntries(
    Object.entries(struct).map(([name, type]) => {
      const member = value[name] ?? (type === '' || type === 0 ? type : null);
      const fits: Record<string, boolean> = {
        '': typeof member === 'string',
        0: Number.isInteger(member),
        strings: member === null || (Array.isArray(member) && member.every((one) => typeof one === 'string')),
        structs: member === null || (Array.isArray(member) && member.every((one) => one && typeof one === 'object')),
        map: member === null || (typeof member === 'object' && !Array.isArray(member)),
        any: true,
      };
      assert.ok(fits[type], `${name}: ${JSON.stringify(member)}`);
      return [name, member];
    }),
  );

const treeSummary: Struct = {
  id: '',
  name: '',
  deviceType: '',
  versions: 'strings',
  gbac: 'map',
  created: '',
  lastUpdated: '',
  tags: 'structs',
};
const treeDocument: Struct = {
  _id: '',
  name: '',
  treeId: '',
  version: '',
  deviceType: '',
  root: 'map',
  created: '',
  createdBy: '',
  lastUpdated: '',
  lastUpdatedBy: '',
  variables: 'map',
  tags: 'structs',
};
const groupDocument: Struct = {
  id: '',
  name: '',
  description: '',
  devices: 'strings',
  created: '',
  createdBy: '',
  updated: '',
  lastUpdatedBy: '',
  gbac: 'map',
};
const deviceDocument: Struct = {
  ostype: '',
  'device-type': '',
  name: '',
  host: '',
  actions: 'strings',
  origins: 'any',
};
const parserDocument: Struct = {
  id: '',
  name: '',
  template: '',
  lexRules: 'any',
  updated: 'any',
  created: 'any',
  gbac: 'map',
};

describe('Programs for other platforms check configurations', () => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  const jobs = builtInOf((...args) => service.ask(...args));
  let campus: Awaited<ReturnType<typeof controllerOf>>;
  before(async () => {
    campus = await controllerOf(120);
    ok(await service.ask('POST', `${manager}/adapters`, campus.adapter));
  });
  after(() => campus.close());

  it('the services of the MCP server: a tree, its text, a plan by its name, the report', async function () {
    if (!existsSync(join(clients, 'itential-mcp'))) this.skip();
    const call = async (...calls: [string, object][]): Promise<any[]> =>
      (await inPython(service.url, calls)).map(({ answer, error }, i) => {
        assert.equal(error, undefined, calls[i]![0]);
        return answer;
      });
    const [types, tree, node, trees, group, grown, devices] = await call(
      ['get_configuration_parser_names', {}],
      [
        'create_golden_config_tree',
        { name: 'Campus', device_type: 'cisco-ios', template: goldenText, variables: { ntp: '192.0.2.1' } },
      ],
      [
        'add_golden_config_node',
        { tree_name: 'Campus', version: 'initial', path: 'base', name: 'Lab', template: goldenText },
      ],
      ['get_golden_config_trees', {}],
      ['create_device_group', { name: 'Tens', devices: ['sw-9', 'sw-10'] }],
      ['add_devices_to_group', { name: 'Tens', devices: ['sw-9', 'sw-10', 'sw-11'] }],
      ['get_devices', {}],
    );
    assert.ok(types.includes('cisco-ios'));
    assert.deepEqual([tree.name, tree.deviceType, node.name], ['Campus', 'cisco-ios', 'Lab']);
    assert.deepEqual(
      trees.map(({ name, versions }: any) => [name, versions]),
      [['Campus', ['initial']]],
    );
    assert.deepEqual([group.name, grown.status], ['Tens', 'success']);
    const names = new Set(devices.map(({ name }: any) => name));
    assert.equal(names.size, devices.length);
    assert.ok(campus.names.every((name) => names.has(name)));
    const [described, fewer, , lone] = await call(
      ['describe_golden_config_tree_version', { tree_id: tree.id, version: 'initial' }],
      ['remove_devices_from_group', { name: 'Tens', devices: ['sw-11'] }],
      ['set_golden_config_template', { tree_id: tree.id, version: 'initial', template: goldenText }],
      ['describe_device_group', { name: 'Tens' }],
    );
    assert.deepEqual(described.variables, { ntp: '192.0.2.1' });
    assert.deepEqual([fewer.status, lone.devices], ['success', ['sw-9', 'sw-10']]);

    // The MCP server makes no plans: people do.
    const { configId: nodeId } = described.root.attributes;
    const nodes = [{ treeId: tree.id, version: 'initial', nodeId, deviceGroups: ['Tens'] }];
    ok(await service.ask('POST', `${manager}/compliance_plans`, { name: 'Nightly', options: { nodes } }));
    const [plans, instance] = await call(['get_compliance_plans', {}], ['run_compliance_plan', { name: 'Nightly' }]);
    assert.deepEqual(
      plans.map(({ name, throttle, description }: any) => [name, throttle, typeof description]),
      [['Nightly', 5, 'string']],
    );
    assert.deepEqual(
      [instance.name, typeof instance.description, typeof instance.jobStatus],
      ['Nightly', 'string', 'string'],
    );
    await jobs.inState(instance.id, 'complete');
    const reports = ok(await service.ask('GET', `${manager}/compliance_reports/batch/${instance.batchId}`));
    const read = await call(...reports.map(({ id }: any) => ['describe_compliance_report', { report_id: id }]));
    assert.deepEqual(
      read.map(({ deviceName, totals, grade }) => [deviceName, totals.errors, totals.passes, grade]),
      [
        ['sw-10', 1, 1, 'fail'],
        ['sw-9', 0, 2, 'pass'],
      ],
    );
    const errors = await inPython(service.url, [
      ['create_golden_config_tree', { name: 'Campus', device_type: 'cisco-ios' }],
      ['add_golden_config_node', { tree_name: 'Campus', version: 'initial', path: 'base', name: 'Lab', template: '' }],
      ['describe_device_group', { name: 'Nowhere' }],
      ['run_compliance_plan', { name: 'Nowhere' }],
    ]);
    for (const { error } of errors) assert.ok(error);
    const [config] = await call(['get_device_configuration', { name: 'sw-9' }]);
    assert.match(config, /^hostname sw-9/);
    const [text, copy] = await call(
      ['render_template', { template: 'hostname {{ name }}', variables: { name: 'r1' } }],
      ['backup_device_configuration', { name: 'sw-9' }],
    );
    assert.deepEqual([text, copy.status], ['hostname r1', 'success']);
  });

  it('the Go command line: trees, groups, devices and parsers, as it sends and reads them', async () => {
    const get = async (path: string) => ok(await service.ask('GET', `${manager}${path}`));
    const post = async (path: string, body: object) => ok(await service.ask('POST', `${manager}${path}`, body));
    const remove = async (path: string, body?: object) => ok(await service.ask('DELETE', `${manager}${path}`, body));
    const trees = async (): Promise<any[]> => (await get('/configs')).map((one: any) => decode(treeSummary, one));
    const idOf = async (name: string): Promise<string> => (await trees()).find((one) => one.name === name).id;
    const exported = async (name: string) => {
      const { status, data } = await post('/export/goldenconfigs', { treeId: await idOf(name) });
      assert.equal(typeof status, 'string');
      return decode(treeDocument, data[0]);
    };
    const imported = async (tree: object) =>
      assert.equal(
        typeof (await post('/import/goldenconfigs', { trees: [{ data: [tree] }], options: {} })).message,
        'string',
      );

    const made = decode(treeDocument, await post('/configs', { name: 'Branch', deviceType: 'cisco-ios' }));
    assert.deepEqual([made.name, made.deviceType], ['Branch', 'cisco-ios']);
    const text = { treeId: await idOf('Branch'), treeVersion: 'initial', nodePath: 'base', updateVariables: true };
    const data = { template: goldenText, variables: { ntp: '192.0.2.1' } };
    ok(await service.ask('PUT', `${manager}/node/config`, { ...text, data }));
    const before = await exported('Branch');
    // With --replace: it deletes what has the name, and imports the document as its structs keep it.
    await remove(`/configs/${await idOf('Branch')}`);
    await imported(before);
    assert.deepEqual(await exported('Branch'), before);
    // As a file that a person wrote: what is absent is empty there, or null.
    await imported(
      decode(treeDocument, { name: 'Copied', deviceType: 'cisco-ios', version: 'initial', root: before.root }),
    );
    assert.deepEqual((await exported('Copied')).root, before.root);
    await remove(`/configs/${await idOf('Copied')}`);
    assert.equal(await idOf('Copied').catch(() => 'gone'), 'gone');

    const created = await post('/devicegroup', { groupName: 'Floor 2', groupDescription: '', deviceNames: '' });
    decode({ id: '', name: '', status: '', message: '' }, created);
    const group = decode(groupDocument, await get(`/devicegroups/${created.id}`));
    assert.deepEqual([group.name, group.description, group.devices], ['Floor 2', '', []]);
    assert.ok(
      (await get('/deviceGroups'))
        .map((one: any) => decode(groupDocument, one))
        .some((one: any) => one.id === group.id),
    );
    const gone = decode({ status: '', deleted: 0 }, await remove('/devicegroups', { groupIds: [group.id] }));
    assert.equal(gone.deleted, 1);

    const filter = {
      order: 'ascending',
      origins: true,
      exactMatch: true,
      filter: { name: 'sw-1' },
      limit: 1,
      start: 0,
    };
    const found = await post('/devices', { options: filter });
    assert.deepEqual(
      [found.return_count, decode(deviceDocument, found.list[0]).ostype, found.list[0].name],
      [1, 'cisco-ios', 'sw-1'],
    );
    const { list, total } = await get('/configurations/parser');
    assert.equal(list.map((one: any) => decode(parserDocument, one)).length, total);

    const template = { name: 'Motd', template: 'banner motd {{ text }}' };
    assert.equal((await post('/templates', template)).data.name, 'Motd');
    const all = { name: '', options: { limit: 100, sort: { name: 1 }, start: 0 } };
    for (const search of [all, { name: 'Motd', options: {} }])
      assert.equal((await post('/templates/search', search)).list[0].name, 'Motd');
  });
});
