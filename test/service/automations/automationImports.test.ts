import assert from 'node:assert/strict';
import { join } from 'node:path';
import fc from 'fast-check';
import { positionOf } from '../../support/hostile.ts';
import { storedIn, withLog } from '../../support/logged.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { a, authors, b, manual, one, stored, t2, two } from '../../support/samples/automationImports.ts';
import { startService, type TestService } from '../../support/service.ts';

const text = fc.string({ minLength: 1, maxLength: 20 }).map((some) => `n${some.replace(/[^ -~]/g, '')}`);

/** JSON that the service takes: it refuses `__proto__` and integers that lose digits. */
const json = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) =>
    JSON.parse(JSON.stringify(value).replaceAll('"__proto__"', '"proto"'), (_, member) =>
      Number.isInteger(member) && !Number.isSafeInteger(member) ? 0 : member,
    ),
  );

const object = fc.dictionary(text, json, { maxKeys: 3 });

const instant = fc.integer({ min: 0, max: 4_000_000_000_000 });

const when = instant.map((ms) => new Date(ms).toISOString());

const signed = fc.record({
  created: when,
  createdBy: fc.constantFrom('admin', 'somebody', null),
  lastUpdated: when,
  lastUpdatedBy: fc.constantFrom('admin', 'member', null),
});

const nullable = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });

const base = {
  enabled: fc.boolean(),
  actionType: fc.constant('automations'),
  migrationVersion: fc.integer({ min: 1, max: 9 }),
  description: fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined }),
  options: fc.option(
    fc.record({ actionId: fc.constant('0a1F'), targetType: nullable(fc.constantFrom('group', 'instance')) }),
    { nil: undefined },
  ),
};

const formed = {
  formData: nullable(object),
  formId: fc.constantFrom(null, 'sites'),
  formSchemaHash: nullable(text),
  legacyWrapper: fc.boolean(),
};

const unit = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

const repetition = fc.constantFrom(
  {},
  { repeat: { type: 'repeating', components: [{ action: 'execute', duration: { unit: 'hour', quantity: 1 } }] } },
  { repeat: null, repeatUnit: null },
  ...Object.entries(unit).map(([repeatUnit, length]) => ({
    repeatUnit,
    repeatFrequency: 2,
    repeatInterval: 2 * length,
  })),
);

const schema = fc.constantFrom(null, { type: 'object', required: ['site'] });

const variant = fc.oneof(
  fc.record({ ...base, type: fc.constant('endpoint'), verb: fc.constant('POST'), schema, jst: nullable(object) }),
  fc.record({
    ...base,
    type: fc.constant('eventSystem'),
    source: text,
    topic: text.map((some) => some.replaceAll(':', '')),
    schema,
    jst: nullable(object),
    legacyWrapper: fc.boolean(),
  }),
  fc.record({ ...base, type: fc.constant('manual'), ...formed }),
  fc
    .tuple(
      fc.record({
        ...base,
        type: fc.constant('schedule'),
        ...formed,
        firstRunAt: instant,
        processMissedRuns: fc.constantFrom('none', 'last'),
      }),
      repetition,
    )
    .map(([one, repeated]) => ({ ...one, repeatInterval: null, ...repeated })),
);

const id = fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('hex'));

const ops = { provenance: 'local', name: 'ops', description: 'Operations' };

const documents = fc
  .record({
    _id: id,
    name: text,
    description: fc.string(),
    componentType: nullable(text),
    componentName: nullable(text),
    signed,
    gbac: fc.constantFrom({ read: [], write: [] }, { read: [], write: [ops] }, { read: [ops], write: [ops] }),
    triggers: fc.uniqueArray(fc.record({ _id: id, name: text, variant, signed }), {
      maxLength: 4,
      selector: ({ name }) => name.toLowerCase(),
    }),
  })
  .map(({ signed, triggers, ...rest }) => ({
    ...rest,
    ...signed,
    triggers: triggers.map(({ variant, signed, ...trigger }) => ({
      ...trigger,
      ...variant,
      ...signed,
      actionId: rest._id,
      ...('verb' in variant && { routeName: `route ${trigger._id}` }),
    })),
  }));

describe('Automations of other installations over HTTP', () => {
  let service: TestService;
  const path = '/operations-manager/automations';
  const putText = (automation: string, overwrite = false) =>
    service.ask('PUT', path, `{"automations":[${automation}],"overwrite":${overwrite}}`);
  const put = (automation: object, overwrite = false) => putText(JSON.stringify(automation), overwrite);
  const exported = async (id: string, as = '?as=imported') => ok(await service.ask('GET', `${path}/${id}/export${as}`));
  const schema = { title: 'VLAN', type: 'object', required: ['vlan'], properties: { vlan: { type: 'integer' } } };
  let ourHash: string;
  before(async () => {
    service = await startService();
    ok(await service.ask('POST', '/json-forms/forms', { name: 'vlans', schema }));
    const { _id } = ok(await service.ask('POST', path, { name: 'Hashed' })).data;
    const trigger = { ...manual, actionId: _id, name: 'Hashed', formId: 'vlans', formData: { vlan: 1 } };
    ourHash = ok(await service.ask('POST', '/operations-manager/triggers', trigger)).data.formSchemaHash;
  });
  after(() => service.stop());

  let used = 0xabc000;
  const newId = () => (++used).toString(16).padStart(24, '7');
  /** An automation with two triggers, in another order than that of their names. */
  const foreign = (name: string) => {
    const _id = newId();
    const trigger = { ...manual, actionId: _id };
    return {
      origin: { system: 'elsewhere' },
      triggers: [
        {
          ...trigger,
          _id: newId(),
          name: 'Second',
          formId: 'vlans',
          formData: { vlan: 7 },
          formSchemaHash: 'theirs',
          lastExecuted: 17,
          migrationVersion: -2,
          colour: 'red',
        },
        { note: null, ...trigger, _id: newId(), name: 'First', nextRunAt: 5, createdBy: { username: 'jo', email: '' } },
      ],
      gbac: { write: [{ provenance: 'theirs', name: 'operators', description: '' }], read: [], owner: 'jo' },
      name,
      _id,
      description: 'From elsewhere',
      componentType: 'workflows',
      componentName: 'nowhere',
      createdBy: { username: 'jo', gitTokens: {} },
    };
  };
  type Foreign = ReturnType<typeof foreign>;
  const taken = async (name: string): Promise<Foreign> => {
    const document = foreign(name);
    assert.equal(ok(await put(document)).data[0].success, true);
    return document;
  };
  const exportedText = async (id: string): Promise<string> => JSON.stringify((await exported(id)).data);

  it('come back as they were written, and show what is known', async () => {
    const document = await taken('Foreign');
    assert.equal(await exportedText(document._id), JSON.stringify(document));
    const shown = ok(await service.ask('GET', `${path}/Foreign`)).data;
    assert.deepEqual(
      [shown.origin, shown.createdBy, shown.gbac, shown.triggers, shown.imported],
      [undefined, 'jo', { read: [], write: ['operators'] }, undefined, undefined],
    );
    const [second] = document.triggers;
    const trigger = ok(await service.ask('GET', `/operations-manager/triggers/${second!._id}`)).data;
    assert.deepEqual(
      [trigger.formSchemaHash, trigger.lastExecuted, trigger.migrationVersion, trigger.colour, trigger.imported],
      [ourHash, null, -2, undefined, undefined],
    );
  });

  it('are exported in our words with the unknown members behind the known ones', async () => {
    const { _id } = await taken('Ours');
    const { data } = await exported(_id, '');
    assert.deepEqual(Object.keys(data).slice(-2), ['triggers', 'origin']);
    const [first, second] = data.triggers;
    assert.deepEqual([first.name, first.note, first.nextRunAt, first.createdBy], ['First', null, 5, 'jo']);
    assert.deepEqual(
      [second.name, second.colour, second.formSchemaHash, 'lastExecuted' in second],
      ['Second', 'red', ourHash, false],
    );
    assert.deepEqual([data.gbac.owner, data.createdBy, data.componentName], ['jo', 'jo', 'nowhere']);
    const again = await put(data);
    assert.deepEqual([ok(again).data[0].success, again.headers.get('x-event-position')], [true, null]);
  });

  it('keep unknown members and words when a person changes something', async () => {
    const document = await taken('Changed');
    const [second, first] = document.triggers;
    ok(await service.ask('PATCH', `${path}/Changed`, { description: 'Ours' }));
    ok(await service.ask('PATCH', `/operations-manager/triggers/${second!._id}`, { enabled: false }));
    const { data } = await exported(document._id);
    const { lastUpdated, lastUpdatedBy, ...rest } = data;
    const [changed, same] = rest.triggers;
    assert.deepEqual(rest, { ...document, description: 'Ours', triggers: [changed, same] });
    assert.deepEqual(same, first);
    assert.deepEqual(Object.keys(changed), Object.keys(second!));
    assert.deepEqual(changed, { ...second, enabled: false, formSchemaHash: ourHash });
    assert.equal((await exported(document._id, '')).data.triggers[1].colour, 'red');
  });

  it('lose deleted triggers, and get added ones', async () => {
    const document = await taken('Grown');
    const [second, first] = document.triggers;
    ok(await service.ask('DELETE', `/operations-manager/triggers/${second!._id}`));
    const added = { ...manual, actionId: document._id, name: 'Added' };
    ok(await service.ask('POST', '/operations-manager/triggers', added));
    const names = (await exported(document._id)).data.triggers.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ['First', 'Added']);
    assert.deepEqual((await exported(document._id)).data.triggers[0], first);
  });

  it('are other content with other unknown members, and replaced by overwriting, with their words', async () => {
    const document = await taken('Replaced');
    refused(await put({ ...document, origin: 'other' }), 409, /"\/automations\/0\/_id"/);
    const [second, first] = document.triggers;
    refused(await put({ ...document, triggers: [{ ...second, colour: 'blue' }, first] }), 409);
    const later = { ...document, origin: 'other', triggers: [{ ...second, lastExecuted: 18 }, first] };
    ok(await put(later, true));
    assert.equal(await exportedText(document._id), JSON.stringify(later));
  });

  it('have numbers and orders of members as they were written', async () => {
    const [_id, trigger] = [newId(), newId()];
    const text =
      `{"triggers":[{"_id":"${trigger}","2":1.0,"1":12345678901234567890,"name":"Exact","enabled":true,` +
      `"actionType":"automations","actionId":"${_id}","type":"manual","formData":{"b":1e3,"a":2.50,"2":0,"1":0},` +
      `"formId":null,"migrationVersion":3.0}],"b":-0,"_id":"${_id}","name":"Exact","description":"",` +
      '"componentType":null,"componentName":null,"gbac":{"read":[],"write":[]}}';
    ok(await putText(text));
    const answer = await service.ask('GET', `${path}/${_id}/export?as=imported`);
    assert.ok(answer.text.includes(text), answer.text);
  });

  it('keep masks of secrets that are not there, and say where', async () => {
    const document = foreign('Masked');
    const [second, first] = document.triggers;
    const masked = {
      ...document,
      apiToken: '********',
      triggers: [{ ...second, formId: null, formData: { password: '********', token: 'clear' } }, first],
    };
    const { data } = ok(await put(masked));
    assert.deepEqual(data[0].missingSecrets, [
      '/automations/0/apiToken',
      '/automations/0/triggers/0/formData/password',
    ]);
    const shown = (await exported(document._id)).data;
    assert.deepEqual(shown.triggers[0].formData, { password: '********', token: '********' });
    assert.equal(shown.apiToken, '********');
    const again = await put(shown);
    assert.deepEqual([ok(again).data[0].success, again.headers.get('x-event-position')], [true, null]);
    const path = `/operations-manager/triggers/${second!._id}`;
    ok(await service.ask('PATCH', path, { formData: { password: 'new', token: '********' } }));
    const { data: later } = ok(await put((await exported(document._id)).data));
    assert.deepEqual(later[0].missingSecrets, ['/automations/0/apiToken']);
  });

  it('never store a secret in clear, wherever it stands', async () => {
    const document = foreign('Secretive');
    const [second, first] = document.triggers;
    const told = {
      ...document,
      auth: { password: 'do-not-tell' },
      triggers: [{ ...second, apiKey: 'nor-this' }, first],
    };
    ok(await put(told));
    const text = JSON.stringify([await exported(document._id), await exported(document._id, '')]);
    assert.doesNotMatch(text, /do-not-tell|nor-this|\$sealed/);
    const events = await withLog(join(service.folder, 'events.db'), storedIn);
    for (const { data } of events) assert.doesNotMatch(data, /do-not-tell|nor-this/);
  });

  it('have triggers of all types, whose open members may be anything', async () => {
    const _id = newId();
    const common = { enabled: true, actionType: 'automations', actionId: _id };
    const document = {
      ...foreign('Open'),
      _id,
      triggers: [
        {
          ...common,
          _id: newId(),
          name: 'A',
          type: 'endpoint',
          verb: 'GET',
          routeName: 'open',
          schema: null,
          jst: 7,
        },
        {
          ...common,
          _id: newId(),
          name: 'B',
          type: 'schedule',
          formData: null,
          formId: null,
          firstRunAt: 0,
          processMissedRuns: 'none',
          repeatUnit: 'fortnight',
          repeatFrequency: 2,
          repeatInterval: 5,
          repeat: { components: [{ action: 'execute', from: 1 }], start: authors.created, zone: 'UTC' },
        },
        { ...common, _id: newId(), name: 'C', type: 'eventSystem', source: 's', topic: 'a:b', schema: null, jst: [] },
      ],
    };
    ok(await put(document));
    assert.equal(await exportedText(_id), JSON.stringify(document));
    const { triggers } = (await exported(_id, '')).data;
    assert.deepEqual([triggers[0].verb, triggers[0].jst, triggers[2].jst], ['GET', 7, []]);
    const get = async (i: number) =>
      ok(await service.ask('GET', `/operations-manager/triggers/${document.triggers[i]!._id}`)).data;
    const [endpoint, schedule] = [await get(0), await get(1)];
    assert.deepEqual([endpoint.verb, endpoint.jst], ['POST', 7]);
    assert.deepEqual(
      [schedule.repeatInterval, schedule.repeatUnit, schedule.repeatFrequency, schedule.repeat],
      [null, undefined, undefined, { components: [{ action: 'execute' }], start: authors.created }],
    );
  });

  it('are refused where they are not as the API document says, with the path', async () => {
    const document = foreign('Refused');
    const [second, first] = document.triggers;
    const refuse = async (trigger: object, where: RegExp, status = 400) =>
      refused(await put({ ...document, triggers: [first, { ...second, ...trigger }] }), status, where);
    refused(await put({ ...document, description: 1 }), 400, /"\/automations\/0\/description"/);
    refused(await put({ ...document, createdBy: { email: 'x' } }), 400, /"\/automations\/0\/createdBy/);
    await refuse({ enabled: 'yes' }, /"\/automations\/0\/triggers\/1\/enabled"/);
    await refuse({ migrationVersion: 1.5 }, /"\/automations\/0\/triggers\/1\/migrationVersion"/);
    await refuse({ lastExecuted: 'never' }, /"\/automations\/0\/triggers\/1\/lastExecuted"/);
    await refuse({ formData: { vlan: 'x' } }, /"\/automations\/0\/triggers\/1\/formData\/vlan"/);
    await refuse({ formId: 'no such form' }, /"\/automations\/0\/triggers\/1\/formId"/, 404);
    const text = JSON.stringify(document).replace('"vlan":7', '"vlan":12345678901234567890');
    refused(await putText(text), 400, /"\/automations\/0\/triggers\/0\/formData\/vlan"/);
  });
});

describe('Export and import of automations over HTTP', () => {
  let service: TestService;
  let who: People;
  const path = '/operations-manager/automations';
  const put = (automation: unknown, more: object = {}, headers = {}) =>
    service.ask('PUT', path, { automations: [automation], ...more }, headers);
  const exported = async (id: string) => ok(await service.ask('GET', `${path}/${id}/export`));
  before(async () => {
    service = await startService();
    who = await people(service);
    ok(await service.ask('POST', '/json-forms/forms', { name: 'sites' }));
  });
  after(() => service.stop());

  it('exports usernames, group objects and triggers sorted by name', async () => {
    const { _id } = ok(await service.ask('POST', path, { name: 'Exported', gbac: { write: ['ops'] } })).data;
    for (const name of ['b', 'A', 'c'])
      ok(await service.ask('POST', '/operations-manager/triggers', { ...manual, actionId: _id, name }));
    const { message, data, metadata } = await exported('Exported');
    assert.deepEqual([message, metadata], ['Successfully exported automation', {}]);
    const again = ok(await service.ask('PUT', path, { message, data, metadata }));
    assert.equal(again.data[0].data.name, 'Exported', 'the import takes the whole answer of an export');
    assert.deepEqual(
      [data.createdBy, data.lastUpdatedBy, data.description, data.componentType],
      ['admin', 'admin', '', null],
    );
    assert.deepEqual(data.gbac, { read: [], write: [ops] });
    assert.deepEqual(
      data.triggers.map((trigger: { name: string; createdBy: string; actionId: string }) => [
        trigger.name,
        trigger.createdBy,
        trigger.actionId,
      ]),
      [
        ['A', 'admin', _id],
        ['b', 'admin', _id],
        ['c', 'admin', _id],
      ],
    );
    assert.deepEqual(ok(await who.member('GET', `${path}/${_id}/export`)).data, data);
  });

  it('exports no member that is not set, and the times and authors that came with a trigger', async () => {
    const actionId = '3'.repeat(24);
    const trigger = { ...manual, ...authors, actionId, _id: '4'.repeat(24), name: 'Timed' };
    const document = { _id: actionId, ...stored, name: 'Times', ...authors, triggers: [trigger] };
    ok(await put(document));
    const {
      triggers: [shown],
    } = (await exported('Times')).data;
    const { created, createdBy, lastUpdated, lastUpdatedBy } = shown;
    assert.deepEqual({ created, createdBy, lastUpdated, lastUpdatedBy }, authors);
    for (const unset of ['lastExecuted', 'nextRunAt', 'lastIntervalStart', 'formSchemaHash', 'description', 'options'])
      assert.ok(!(unset in shown), unset);
    for (const required of ['formData', 'formId']) assert.equal(shown[required], null, required);
  });

  it('takes back what export gives: import(export(x)) equals x, and once more is no change', async function () {
    this.timeout(300_000);
    await fc.assert(
      fc.asyncProperty(documents, async (document) => {
        const first = ok(await put(document)).data;
        assert.deepEqual(
          first.map(({ success }: { success: boolean }) => success),
          [true],
        );
        const { data: x } = await exported(document._id);
        assert.deepEqual(
          [x.created, x.createdBy, x.triggers.length],
          [document.created, document.createdBy, document.triggers.length],
        );
        const again = await put(x);
        assert.deepEqual([ok(again).data[0].success, again.headers.get('x-event-position')], [true, null]);
        ok(await service.ask('DELETE', `${path}/${document._id}`));
        ok(await put(x));
        assert.deepEqual((await exported(document._id)).data, x);
        ok(await service.ask('DELETE', `${path}/${document._id}`));
      }),
      { numRuns: process.env.SOAK_ROUNDS ? 100 : 8 },
    );
  });

  const simple = (_id: string, name: string, triggers: object[] = []) => ({
    _id,
    ...stored,
    name,
    gbac: { read: [], write: [] },
    triggers,
  });

  it('refuses other content unless told to overwrite, and then lets triggers go that the document lacks', async () => {
    ok(await put({ ...simple(a, 'Overwritten'), triggers: [one, two] }));
    refused(await put({ ...simple(a, 'Overwritten'), triggers: [one] }), 409, /"\/automations\/0\/_id"/);
    ok(
      await put(
        { ...simple(a, 'Overwritten'), triggers: [{ ...one, enabled: false }] },
        { options: { overwrite: true } },
      ),
    );
    assert.deepEqual(
      (await exported(a)).data.triggers.map(({ name, enabled }: { name: string; enabled: boolean }) => [name, enabled]),
      [['One', false]],
    );
    refused(await service.ask('GET', `/operations-manager/triggers/${t2}`), 404);
  });

  it('takes one that a person wrote without ids, and takes it again without a change', async () => {
    const written = {
      name: 'By hand',
      description: '',
      componentType: null,
      componentName: null,
      gbac: {},
      triggers: [{ name: 'Run', type: 'manual', enabled: true, formId: null, formData: null }],
    };
    const [{ data }] = ok(await put(written)).data;
    const [run] = (await exported(data._id)).data.triggers;
    assert.deepEqual([run.name, run.actionType, run.actionId], ['Run', 'automations', data._id]);
    const before = await positionOf(service);
    ok(await put(written));
    assert.equal(await positionOf(service), before);
    const other = {
      ...written,
      description: 'x',
      triggers: [...written.triggers, { ...written.triggers[0], name: 'Other' }],
    };
    refused(await put(other), 409, /automations\/0\/name.*this name|this name.*automations\/0\/name/s);
    const [{ data: changed }] = ok(await put(other, { overwrite: true })).data;
    assert.equal(changed._id, data._id);
    const triggers = (await exported(data._id)).data.triggers;
    assert.deepEqual(
      triggers.map(({ name }: { name: string }) => name),
      ['Other', 'Run'],
    );
    assert.equal(triggers[1]._id, run._id);
  });

  it('exports the name of a form that a trigger names by its id, so that it is found elsewhere', async () => {
    const [{ data: form }] = ok(
      await service.ask('POST', '/json-forms/import/forms', { forms: [{ name: 'Site', _id: 'elsewhere' }] }),
    ).data;
    const { data: automation } = ok(await service.ask('POST', path, { name: 'With a form' }));
    const trigger = { name: 'Run', type: 'manual', enabled: true, actionType: 'automations', actionId: automation._id };
    ok(await service.ask('POST', '/operations-manager/triggers', { ...trigger, formId: form._id, formData: { a: 1 } }));
    const { data: document } = await exported(automation._id);
    assert.equal(document.triggers[0].formId, 'Site');
    const before = await positionOf(service);
    ok(await put(document));
    ok(await service.ask('PUT', '/operations-manager/triggers', { triggers: document.triggers }));
    assert.equal(await positionOf(service), before);
  });

  it('takes each automation all or nothing, and tells of each', async () => {
    const taken = {
      ...simple(b, 'Partly'),
      triggers: [
        { ...manual, actionId: b, _id: 'd'.repeat(24), name: 'Fine' },
        {
          ...manual,
          actionId: b,
          type: 'endpoint',
          verb: 'POST',
          routeName: 'r',
          schema: { type: 'no such type' },
          jst: null,
          formData: undefined,
          formId: undefined,
          _id: 'e'.repeat(24),
          name: 'Bad filter',
        },
      ],
    };
    const { message, data } = ok(
      await service.ask('PUT', path, { automations: [simple('f'.repeat(24), 'Whole'), taken] }),
    );
    assert.equal(message, 'Successfully imported 1 of 2 automations');
    assert.deepEqual(
      data.map(({ success }: { success: boolean }) => success),
      [true, false],
    );
    assert.equal(data[0].data.name, 'Whole');
    assert.match(
      JSON.stringify(data[1].data.errors),
      /"code":"invalid".*"path":"\/automations\/1\/triggers\/1\/schema"/,
    );
    refused(await service.ask('GET', `${path}/${b}`), 404);
    refused(await service.ask('GET', `/operations-manager/triggers/${'d'.repeat(24)}`), 404);
  });
});
