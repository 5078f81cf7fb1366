import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { canonical } from '@automation-platform/json';
import { eventsOf, withLog } from '../../support/logged.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { manual } from '../../support/samples/triggerForms.ts';
import { startService, type TestService } from '../../support/service.ts';

describe('Triggers and forms over HTTP', () => {
  let service: TestService;
  let who: People;
  let actionId: string;
  const schema = {
    title: 'VLAN',
    type: 'object',
    required: ['vlan'],
    properties: { vlan: { type: 'integer', maximum: 4094 } },
  };
  const triggers = '/operations-manager/triggers';
  const makeForm = async (name: string): Promise<string> =>
    ok(await service.ask('POST', '/json-forms/forms', { name, schema })).data._id;
  const makeTrigger = (body: object) => service.ask('POST', triggers, { ...manual, actionId, ...body });
  before(async () => {
    service = await startService();
    who = await people(service);
    actionId = ok(await service.ask('POST', '/operations-manager/automations', { name: 'Ports' })).data._id;
  });
  after(() => service.stop());

  it('name forms by name or id, and keep the SHA-256 of the canonical schema', async () => {
    const id = await makeForm('Ports');
    const sha = hash(
      'sha256',
      '{"properties":{"vlan":{"maximum":4094,"type":"integer"}},"required":["vlan"],"title":"VLAN","type":"object"}',
      'hex',
    );
    assert.equal(hash('sha256', canonical(schema), 'hex'), sha);
    assert.equal(ok(await makeTrigger({ name: 'By name' })).data.formSchemaHash, sha);
    const { data } = ok(await makeTrigger({ name: 'By id', formId: id, formData: null }));
    assert.deepEqual([data.formId, data.formData, data.formSchemaHash], [id, null, sha]);
  });

  it('say when the schema of an imported form cannot be used', async () => {
    const form = { name: 'Unusable', schema: { type: 'object', title: 'T', minProperties: 'few' } };
    ok(await service.ask('POST', '/json-forms/import/forms', { forms: [form] }));
    refused(
      await makeTrigger({ name: 'Unusable', formId: 'Unusable' }),
      400,
      /the schema of the form cannot be used.*"\/formData"/,
    );
    ok(await makeTrigger({ name: 'Unusable', formId: 'Unusable', formData: null }));
  });

  it('take a limit beyond 2^53-1 as JavaScript reads it', async () => {
    const form =
      '{"name":"Large","schema":{"type":"object","title":"","properties":{"vlan":{"maximum":18446744073709551615}}}}';
    ok(await service.ask('POST', '/json-forms/import/forms', `{"forms":[${form}]}`));
    const { formSchemaHash } = ok(await makeTrigger({ name: 'Large', formId: 'Large' })).data;
    assert.equal(formSchemaHash, hash('sha256', canonical(JSON.parse(form).schema), 'hex'));
  });

  it('stay as they are when their form changes, also through export and import', async () => {
    const _id = await makeForm('Changing');
    const { data } = ok(await makeTrigger({ name: 'Outdated', formId: 'Changing' }));
    ok(
      await service.ask('PUT', '/json-forms/forms', {
        options: { _id, schema: { ...schema, required: ['vlan', 'port'] } },
      }),
    );
    ok(await service.ask('PATCH', `${triggers}/${data._id}`, { enabled: false }));
    const exported = ok(await service.ask('GET', `/operations-manager/automations/${actionId}/export`)).data;
    assert.equal(
      exported.triggers.find(({ name }: { name: string }) => name === 'Outdated').formSchemaHash,
      data.formSchemaHash,
    );
    assert.equal(
      ok(await service.ask('PUT', '/operations-manager/automations', { automations: [exported] })).data[0].success,
      true,
    );
    const renewed = ok(
      await service.ask('PATCH', `${triggers}/${data._id}`, { formData: { vlan: 1, port: 'Gi1' } }),
    ).data;
    assert.notEqual(renewed.formSchemaHash, data.formSchemaHash);
  });

  it('are filled in before a person fills in the rest: what is there must fit, the whole when it runs', async () => {
    const struct = { type: 'object', items: [] };
    ok(await service.ask('POST', '/json-forms/forms', { name: 'Site', struct, schema }));
    const site = { name: 'Begun', formId: 'Site', formData: {} };
    const { data } = ok(await makeTrigger(site));
    const run = (body?: object) => service.ask('POST', `${triggers}/manual/${data._id}/run`, body);
    refused(await run(), 400, /"\/formData\/vlan"/);
    refused(await run({ formData: { vlan: 5000 } }), 400, /"\/formData\/vlan"/);
    ok(await run({ formData: { vlan: 1 } }));
    refused(await service.ask('PATCH', `${triggers}/${data._id}`, { formData: { vlan: 'x' } }), 400, /formData\/vlan/);
    ok(await service.ask('PATCH', `${triggers}/${data._id}`, { formData: { other: 1 } }));
  });

  it('are a schedule that never runs if nobody fills in the rest: every answer warns of it', async () => {
    ok(await service.ask('POST', '/json-forms/forms', { name: 'Nightly', schema }));
    const nightly = { type: 'schedule', formId: 'Nightly', formData: {}, firstRunAt: 4e12 };
    const warned = /The schedule never runs: .*\/formData\/vlan is required/;
    const makeSchedule = (name: string) => service.ask('POST', triggers, { ...manual, actionId, ...nightly, name });
    const { data } = ok(await makeSchedule('Nightly'));
    assert.equal(data.fault.path, '/formData/vlan');
    assert.match(data.fault.message, warned);
    const at = `${triggers}/${data._id}`;
    assert.deepEqual(ok(await service.ask('GET', at)).data.fault, data.fault);
    assert.equal(ok(await service.ask('PATCH', at, { formData: { vlan: 1 } })).data.fault, undefined);
    assert.equal(ok(await service.ask('GET', at)).data.fault, undefined);
    assert.match(ok(await service.ask('PATCH', at, { formData: null })).data.fault.message, warned);

    const exported = ok(await service.ask('GET', `/operations-manager/automations/${actionId}/export`)).data;
    const own = exported.triggers.filter(({ name }: { name: string }) => name === 'Nightly');
    assert.equal(own[0].fault, undefined);
    const copy = {
      ...exported,
      _id: 'c'.repeat(24),
      name: 'Copy',
      triggers: [{ ...own[0], _id: 'd'.repeat(24), actionId: 'c'.repeat(24) }],
    };
    const automations = '/operations-manager/automations';
    const [imported] = ok(await service.ask('PUT', automations, { automations: [copy] })).data;
    assert.deepEqual(
      imported.warnings.map(({ id, name, path }: any) => [id, name, path]), // what the answer says
      [['d'.repeat(24), 'Nightly', '/formData/vlan']],
    );
    const [one] = ok(await service.ask('PUT', triggers, { triggers: copy.triggers })).data;
    assert.match(one.data.fault.message, warned);

    const job = {
      name: 'Old',
      nextRunAt: '2099-01-01T00:00:00.000Z',
      data: { workflowId: 'w', formId: 'Nightly', formData: {} },
    };
    const old = ok(await service.ask('POST', '/automation_catalog/scheduled-jobs', job)).data;
    const migration = '/automation_catalog/automations/migration';
    const told = await service.ask('POST', migration, { agendaJobs: [old._id] });
    assert.equal(told.status, 200, told.text);
    assert.match(told.text, /Created 1 automation: Old\. Old: The schedule never runs: /);
    const filledIn = await service.ask('POST', '/automation_catalog/scheduled-jobs', {
      ...job,
      name: 'Full',
      data: { ...job.data, formData: { vlan: 1 } },
    });
    const full = await service.ask('POST', migration, { agendaJobs: [ok(filledIn).data._id] });
    assert.match(full.text, /^"?Created 1 automation: Full\."?$/);
  });

  it('take what people leave out', async () => {
    const common = { enabled: true, actionType: 'automations', actionId, description: null, options: null };
    const endpoint = { type: 'endpoint', name: 'Bare endpoint', verb: 'POST', routeName: 'bare' };
    const event = { type: 'eventSystem', name: 'Bare event', source: 's', topic: 't' };
    const filled = { schema: null, jst: null };
    const formless = { formId: null, formData: null };
    for (const [bare, full] of [
      [endpoint, filled],
      [event, filled],
      [{ type: 'manual', name: 'Bare manual' }, formless],
      [
        { type: 'schedule', name: 'Bare schedule', firstRunAt: 4e12 },
        { ...formless, processMissedRuns: 'none' },
      ],
    ] as const) {
      const { data } = ok(await service.ask('POST', triggers, { ...common, ...bare }));
      for (const [name, value] of Object.entries(full)) assert.deepEqual(data[name], value, `${bare.name} ${name}`);
      assert.ok(!('description' in data) && !('options' in data), bare.name);
      const { _id, ...rest } = data;
      const document = { ...common, ...bare, name: `${bare.name} again`, _id: [..._id].reverse().join('') };
      if (bare.type === 'endpoint') Object.assign(document, { routeName: 'again' });
      const put = () => service.ask('PUT', triggers, { triggers: [document] });
      const [first] = ok(await put()).data;
      const second = await put();
      assert.equal(second.status, 200, second.text);
      assert.deepEqual(first.data.type, rest.type);
      const as = (words: string) => service.ask('GET', `/operations-manager/automations/${actionId}/export${words}`);
      const own = ok(await as('?as=imported')).data.triggers.find((one: any) => one._id === document._id); // as imported
      assert.deepEqual(own, document);
    }
  });

  it('keep their form from being deleted or renamed, and are named unless hidden', async () => {
    const _id = await makeForm('Kept');
    const closed = ok(
      await service.ask('POST', '/operations-manager/automations', { name: 'Closed', gbac: { write: ['ops'] } }),
    ).data._id;
    const seen = ok(await makeTrigger({ name: 'Seen', formId: 'Kept' })).data;
    const secret = ok(await makeTrigger({ name: 'Secret', formId: _id, actionId: closed })).data;
    const remove = (ask: People['member']) => ask('DELETE', '/json-forms/forms', { ids: [_id] });
    refused(await remove(who.member), 409, /Secret/);
    const answer = await remove(who.stranger);
    refused(answer, 409, /Seen/);
    assert.doesNotMatch(answer.text, /Secret/);
    refused(await service.ask('PUT', '/json-forms/forms', { options: { _id, name: 'Other' } }), 409, /Seen/);
    ok(await service.ask('PATCH', `${triggers}/${seen._id}`, { formId: null }));
    ok(await service.ask('PUT', '/json-forms/forms', { options: { _id, name: 'Other' } }));
    refused(await remove(service.ask), 409, /Secret/);
    ok(await service.ask('DELETE', `${triggers}/${secret._id}`));
    ok(await remove(service.ask));
  });
});

describe('secrets in the form data of triggers', () => {
  let service: TestService;
  afterEach(() => service.stop());

  it('are sealed, shown as the mask, and stay when the mask is sent back: by a change, an import, a migration', async () => {
    service = await startService();
    const { ask } = service;
    const {
      data: { _id: actionId },
    } = (await ask('POST', '/operations-manager/automations', { name: 'Secretive' })).body;
    const formData = { host: 'a', password: 'do-not-tell', nested: [{ token: 'nor-this' }] };
    const shown = { host: 'a', password: '********', nested: [{ token: '********' }] };
    const made = await ask('POST', '/operations-manager/triggers', {
      type: 'manual',
      name: 'By hand',
      enabled: true,
      actionType: 'automations',
      actionId,
      formId: null,
      formData,
    });
    assert.deepEqual(made.body.data.formData, shown, made.text);
    const path = `/operations-manager/triggers/${made.body.data._id}`;
    const kept = async (): Promise<any> => {
      // what the stream holds
      const file = join(service.folder, 'events.db');
      const stored = await withLog(file, (log) => eventsOf(log, `trigger-${made.body.data._id}`));
      const events = stored.map(({ data }) => data);
      assert.doesNotMatch(JSON.stringify(events), /do-not-tell|nor-this|\*\*\*/);
      return events.findLast((data) => data.formData !== undefined).formData;
    };
    const { tag } = (await kept()).password;

    const patched = await ask('PATCH', path, { formData: { ...shown, host: 'b' } });
    assert.deepEqual(patched.body.data.formData, { ...shown, host: 'b' }, patched.text);
    assert.deepEqual([(await kept()).host, (await kept()).password.tag], ['b', tag]);

    const {
      body: { data: exported },
    } = await ask('GET', `/operations-manager/automations/${actionId}/export`);
    exported.triggers[0].formData.host = 'c';
    const imported = await ask('PUT', '/operations-manager/automations', { automations: [exported], overwrite: true });
    assert.equal(imported.status, 200, imported.text);
    assert.deepEqual([(await kept()).host, (await kept()).password.tag], ['c', tag]);

    const none = await ask('POST', '/operations-manager/triggers', {
      type: 'manual',
      name: 'Other',
      enabled: true,
      actionType: 'automations',
      actionId,
      formId: null,
      formData: shown,
    });
    assert.equal(none.status, 400);
    assert.equal(none.body.metadata.errors[0].path, '/formData/password');
  });
});
