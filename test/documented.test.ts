import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import { loadSample } from '../src/demo/load.ts';
import type { Kept } from '../src/demo/sample.ts';
import { adminPassword, type Answer, startService, type TestService } from './service.ts';

// What the API document says of the answers, field by field; written from it and not from the code.

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const id = { type: 'string', pattern: '^[0-9a-f]{24}$' };
const time = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$' };
const yesOrNo = { type: 'boolean' };
const whole = { type: 'integer' };
const milliseconds = { type: 'integer', minimum: 0 };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const one = (...values: readonly string[]): Schema => ({ type: 'string', enum: values });
const list = (items: Schema): Schema => ({ type: 'array', items });
/** An object with all of the first, maybe some of the second, and nothing else. */
const object = (required: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema =>
  ({ type: 'object', required: Object.keys(required), properties: { ...required, ...optional }, additionalProperties: false });
const anything: Schema = {};
const anyObject = { type: 'object' };

const method = object({}, { name: text, provenance: text, route: object({}, { path: text, verb: text, fullPath: text }) });
const authored = { createdBy: orNull(text), lastUpdatedBy: orNull(text), created: time, lastUpdated: time };
const gbacGroups = list(object({ provenance: text, name: text, description: text }));

const duration = { anyOf: [object({ unit: anything, quantity: { type: 'number' } }), object({ unit: one('minute', 'hour', 'day', 'week'), quantity: whole })] };
const nodes = list({ $ref: '#/$defs/repetition' });
const action = one('execute', 'wait');
const repetition = { anyOf: [
  object({}, { type: one('repeating', 'terminating'), duration, action, components: nodes }),
  object({ components: nodes }, { type: anything, start: time, end: time }),
  object({}, { type: anything, duration, count: whole, action, components: nodes }),
] };

const trigger = (required: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema => object(
  { name: text, enabled: yesOrNo, actionType: { const: 'automations' }, actionId: id, type: anything, _id: id, ...required },
  {
    description: text, lastExecuted: orNull(milliseconds), migrationVersion: whole, ...authored,
    options: object({}, { targetType: orNull(one('instance', 'group')), targetIdentifier: orNull(text), chooseTargetAtRuntime: yesOrNo, actionId: { type: 'string', pattern: '^[0-9a-fA-F]{4}$' } }),
    ...optional,
  },
);
const form = { formData: orNull(anyObject), formId: orNull(text) };
const moreOfForm = { formSchemaHash: orNull(text), legacyWrapper: yesOrNo };
const triggers = {
  endpoint: trigger({ verb: anything, routeName: text, schema: orNull(anyObject), jst: anything }),
  event: trigger({ source: text, topic: text, schema: orNull(anyObject), jst: anything }, { legacyWrapper: yesOrNo }),
  manual: trigger(form, moreOfForm),
  schedule: trigger({ ...form, firstRunAt: milliseconds, processMissedRuns: one('none', 'last'), repeatInterval: orNull(whole) }, {
    ...moreOfForm, nextRunAt: orNull(milliseconds), lastIntervalStart: orNull(milliseconds), locked: yesOrNo, waitFlag: yesOrNo,
    repeat: orNull({ $ref: '#/$defs/repetition' }), repeatUnit: anything, repeatFrequency: anything,
  }),
};

const automation = object(
  { name: text, description: text, componentType: anything, componentName: orNull(text), _id: id, gbac: object({ write: gbacGroups, read: gbacGroups }) },
  { ...authored, triggers: list({ anyOf: Object.values(triggers) }) },
);
const mapping = object({ externalGroup: text, provenance: text, platformGroups: list(text) });
const envelope = (data: Schema): Schema => object({ message: text, data, metadata: anyObject });
const failure = object({ message: text, data: { type: 'null' }, metadata: { type: 'object', required: ['errors'], properties: { errors: { type: 'array' } } } });
const success = object({ status: { const: 'success' }, message: text });

const ajv = new Ajv({ strict: true, allErrors: true });

describe('the documented operations, called from outside:', () => {
  let service: TestService;
  let kept: Kept;
  before(async () => {
    service = await startService();
    kept = await loadSample(service.url, 'admin', adminPassword);
  });
  after(() => service.stop());

  const fits = ({ status, headers, body, text }: Answer, schema: Schema, wanted = 200): any => { // the body, which fits the schema
    assert.equal(status, wanted, text);
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    const validate = ajv.compile({ ...schema, $defs: { repetition } });
    assert.ok(validate(body), `${ajv.errorsText(validate.errors)} in ${text}`);
    return body;
  };

  it('1. lists authorization methods', async () => {
    const all = fits(await service.ask('GET', '/authorization/methods'), object({ results: list(method), total: whole }));
    assert.equal(all.results.length, 25);
    assert.ok(all.total > 25);
    const names: readonly string[] = all.results.map(({ name }: { name: string }) => name.toLowerCase());
    assert.deepEqual(names, names.toSorted());
    const { body } = await service.ask('GET', '/authorization/methods?multiEquals[name]=exportAutomation&multiContains[provenance]=operations');
    assert.deepEqual(body, {
      results: [{ name: 'exportAutomation', provenance: 'operations-manager', route: { path: '/automations/:id/export', verb: 'GET', fullPath: '/operations-manager/automations/:id/export' } }],
      total: 1,
    });
  });

  it('3. exports an automation with all four variants of triggers', async () => {
    const { data } = fits(await service.ask('GET', `/operations-manager/automations/${kept.upgrade}/export`), envelope(automation));
    assert.deepEqual(data.gbac.write, [{ provenance: 'local', name: 'network-engineering', description: 'Designs and changes the network' }]);
    assert.equal(data.createdBy, 'admin');
    for (const [variant, schema] of Object.entries(triggers)) {
      const validate = ajv.compile({ ...schema, $defs: { repetition } });
      assert.equal(data.triggers.filter((one: unknown) => validate(one)).length, 1, variant);
    }
  });

  it('3. exports a repetition tree', async () => {
    const repeat = { start: '2026-01-01T00:00:00Z', components: [{ type: 'terminating', count: 2, components: [{ action: 'execute', duration: { unit: 'hour', quantity: 1 } }] }] };
    const made = await service.ask('POST', '/operations-manager/triggers', {
      type: 'schedule', name: 'In turns', enabled: true, actionType: 'automations', actionId: kept.upgrade, formData: null, formId: null, firstRunAt: 1_767_225_600_000,
      processMissedRuns: 'none', repeatInterval: null, repeat, options: { targetType: 'instance', targetIdentifier: 'edge-01', chooseTargetAtRuntime: false, actionId: '0a1F' },
    });
    assert.equal(made.status, 200, made.text);
    const { data } = fits(await service.ask('GET', `/operations-manager/automations/${kept.upgrade}/export`), envelope(automation));
    assert.deepEqual(data.triggers.find(({ name }: { name: string }) => name === 'In turns').repeat, repeat);
  });

  it('3. fails with the failure envelope', async () => {
    fits(await service.ask('GET', '/operations-manager/automations/no-such/export'), failure, 404);
    fits(await service.as(null)('GET', `/operations-manager/automations/${kept.upgrade}/export`), failure, 401);
  });

  it('6. updates a group mapping, or creates it', async () => {
    const path = '/group-mappings/okta/net%2Fnew%20people';
    const answered = object({ status: one('OK', 'Created'), message: text, data: mapping });
    const created = fits(await service.ask('PATCH', path, { updates: { platformGroups: ['readers'] } }), answered);
    assert.equal(created.status, 'Created');
    const updated = fits(await service.ask('PATCH', path, { updates: { platformGroups: ['operators', 'readers'] } }), answered);
    assert.equal(updated.status, 'OK');
    assert.deepEqual(updated.data, { externalGroup: 'net/new people', provenance: 'okta', platformGroups: ['operators', 'readers'] });
  });

  it('7. lists group mappings', async () => {
    const answered = object({ results: list(mapping), total: whole });
    const { results, total } = fits(await service.ask('GET', '/group-mappings?multiStartsWith[provenance]=ld&skip=1&limit=1&sort=name&order=-1'), answered);
    assert.deepEqual({ results, total }, { results: [{ externalGroup: 'CN=Network Engineering,OU=Groups,DC=example,DC=net', provenance: 'ldap', platformGroups: ['network-engineering', 'operators'] }], total: 3 });
    fits(await service.ask('GET', '/group-mappings'), answered);
  });

  it('9. updates a compliance plan', async () => {
    const treeNode = { treeId: kept.edge, version: 'initial', nodeId: kept.hardening, variables: { strict: true }, devices: ['edge-03'], deviceGroups: ['Edge'], tasks: ['audit'] };
    const options = { name: 'Daily edge audit', description: 'Every morning', status: 'draft', nodes: [treeNode], gbac: { read: ['network-operations'], write: ['compliance'] } };
    fits(await service.ask('PUT', '/configuration_manager/compliance_plans', { planId: kept.weekly, options }), success);
    const { body } = await service.ask('GET', `/configuration_manager/compliance_plans/${kept.weekly}`);
    assert.deepEqual({ name: body.name, description: body.description, status: body.status, added: body.nodes.at(-1), gbac: body.gbac }, {
      name: options.name, description: options.description, status: options.status, added: treeNode, gbac: options.gbac,
    });
  });

  it('14. unwatches jobs', async () => {
    const jobIds = [kept.upgradeJob, kept.backupJob];
    const watchers = async () => Promise.all(jobIds.map(async (id) => (await service.ask('GET', `/operations-manager/jobs/${id}`)).body.data.watchers));
    assert.deepEqual(await watchers(), [['admin'], ['admin']]);
    fits(await service.ask('POST', '/operations-manager/jobs/unwatch', { jobIds }), envelope({ type: 'null' }));
    assert.deepEqual(await watchers(), [[], []]);
    fits(await service.ask('POST', '/operations-manager/jobs/unwatch', { jobIds: [...jobIds, 'no-such'] }), failure, 404);
  });

  it('15. deletes variables', async () => {
    const path = `/configuration_manager/configs/variables/${kept.edge}/initial`;
    fits(await service.ask('DELETE', path, { variables: { ntp_servers: null, syslog: {} } }), success);
    const { body } = await service.ask('GET', `/configuration_manager/configs/${kept.edge}`);
    assert.deepEqual(body.versions.find(({ name }: { name: string }) => name === 'initial').variables, { snmp_location: 'POP' });
  });

  it('17. imports device groups', async () => {
    const groups = [{ name: 'Core routers', description: 'Both sites', devices: ['core-01', 'core-02'] }, { name: 'Empty for now' }];
    fits(await service.ask('POST', '/configuration_manager/import/groups', { groups }), success);
    const { body } = await service.ask('GET', '/configuration_manager/devicegroups/Core%20routers');
    assert.deepEqual({ name: body.name, description: body.description, devices: body.devices }, groups[0]);
    fits(await service.ask('POST', '/configuration_manager/import/groups', { groups: [{ name: 'Core routers', devices: [] }] }), failure, 409);
  });

  it('20. applies a device configuration', async () => {
    const path = '/configuration_manager/devices/lab-02/configuration';
    const body = fits(await service.ask('POST', path, { config: { device: 'lab-02', config: 'hostname lab-02\nntp server 192.0.2.77\n' }, options: {} }), anything);
    assert.equal(body.device, 'lab-02');
    assert.match((await service.ask('GET', path)).body.config, /^ntp server 192\.0\.2\.77$/m);
    const { metadata } = fits(await service.ask('POST', path, { config: { config: 'no such command as this\nbogus\n' } }), failure, 502);
    fits({ status: 200, headers: new Headers({ 'content-type': 'application/json' }), text: JSON.stringify(metadata.adapter), body: metadata.adapter }, object({ name: { const: 'lab' }, status: whole, body: anyObject }));
  });
});
