import assert from 'node:assert/strict';
import { join } from 'node:path';
import { eventsOf, withLog } from '../../support/logged.ts';
import { ok, type People, refused } from '../../support/people.ts';
import type { TestService } from '../../support/service.ts';
import { step, transformation, wire } from '../../support/transformationSamples.ts';
import { until } from '../../support/until.ts';
import { usePeople, useService } from '../../support/useService.ts';

const om = '/operations-manager';

const mask = '********';

const password = 'a long enough password';

type Reason = { readonly code: string; readonly path?: string; readonly message: string };

describe('Tests of event triggers over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
  let automation: string;
  let count = 0;
  type Ask = TestService['ask'] | People['member'];
  const admin = (method: string, path: string, body?: unknown) => service.ask(method, path, body);

  const newAutomation = async (more: object = {}): Promise<string> =>
    ok(await admin('POST', `${om}/automations`, { name: `Automation ${++count}`, ...more })).data._id;
  const common = () => ({ name: `Trigger ${++count}`, enabled: true, actionType: 'automations', actionId: automation });
  const create = async (document: object, ask: Ask = admin) => ok(await ask('POST', `${om}/triggers`, document)).data;
  const waiting = (more: object = {}, ask: Ask = admin) =>
    create(
      { ...common(), type: 'eventSystem', source: 'monitor', topic: 'alarm', schema: null, jst: null, ...more },
      ask,
    );
  const jsonata = (expression: string) => ({ jst: { type: 'jsonata', expression } });

  type Id = { readonly _id: string };
  const asksFor = ({ _id }: Id, body: unknown, ask: Ask = admin) => ask('POST', `${om}/triggers/${_id}/test`, body);
  const test = async (trigger: Id, body: unknown, ask: Ask = admin) => ok(await asksFor(trigger, body, ask)).data;
  const codes = ({ reasons }: { readonly reasons: readonly Reason[] }) => reasons.map(({ code }) => code);
  const publish = async (payload: unknown, source = 'monitor', topic = 'alarm') =>
    ok(
      await admin(
        'POST',
        `${om}/events/${encodeURIComponent(source)}/${encodeURIComponent(topic)}`,
        JSON.stringify(payload),
      ),
    ).data;
  const positionOf = (answer: { readonly headers: Headers }): number => Number(answer.headers.get('x-event-position'));
  const testAll = (body: object, ask: Ask = admin) => ask('POST', `${om}/events/test`, body);
  const lastOf = async (stream: string): Promise<number | undefined> => {
    const events = await withLog(join(service.folder, 'events.db'), (log) => eventsOf(log, stream));
    return events.at(-1)?.position;
  };

  before(async () => {
    automation = await newAutomation();
  });
  afterEach(() => assert.deepEqual(service.lines, []));

  describe('one trigger', () => {
    it('say that it fires, with the variables that the job would get', async () => {
      const trigger = await waiting();
      const { _id: id, name } = trigger;
      const answer = ok(await asksFor(trigger, { payload: { a: 1 } }));
      assert.equal(answer.message, 'Successfully tested');
      assert.deepEqual(answer.data, {
        matches: true,
        reasons: [],
        variables: {
          payload: { a: 1 },
          _trigger: { id, name, type: 'eventSystem' },
          _event: { id: null, source: 'monitor', topic: 'alarm', position: null, at: null },
        },
      });
    });

    it('take an event of the log by its position', async () => {
      const trigger = await waiting({ legacyWrapper: false });
      const { id, position } = await publish({ a: 1, _event: 'mine' });
      const { matches, variables } = await test(trigger, { position });
      assert.equal(matches, true);
      const { _event, _trigger, ...rest } = variables;
      assert.deepEqual(rest, { a: 1 });
      assert.deepEqual({ ..._event, at: null }, { id, source: 'monitor', topic: 'alarm', position, at: null });
      assert.match(_event.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    });

    it('take a payload of any kind, null too', async () => {
      for (const payload of [null, false, 5, 'text', [1]])
        assert.deepEqual((await test(await waiting({ legacyWrapper: false }), { payload })).variables.payload, payload);
    });

    it('take exactly one of payload and position', async () => {
      const trigger = await waiting();
      refused(await asksFor(trigger, {}), 400, /either payload or position/);
      refused(await asksFor(trigger, { payload: null, position: 1 }), 400, /either payload or position/);
      refused(await asksFor(trigger, undefined), 400, /either payload or position/);
      refused(await asksFor(trigger, { position: 'x' }), 400, /position/);
      refused(await asksFor(trigger, { payload: 1, more: 1 }), 400, /more/);
    });

    it('take no payload that looks like a sealed secret', async () => {
      refused(await asksFor(await waiting(), { payload: { a: [{ $sealed: 'x' }] } }), 400, /sealed/);
    });

    it('are 409 for triggers of other types, and 404 for none', async () => {
      const others = [
        { type: 'endpoint', verb: 'POST', routeName: 'tested', schema: null, jst: null },
        { type: 'manual', formData: null, formId: null },
        { type: 'schedule', formData: null, formId: null, firstRunAt: 0, processMissedRuns: 'none' },
      ];
      for (const other of others)
        refused(await asksFor(await create({ ...common(), ...other }), { payload: 1 }), 409, /Only event triggers/);
      refused(await asksFor({ _id: 'nothing' }, { payload: 1 }), 404);
    });

    it('take the name of the trigger as well as its id', async () => {
      const { name } = await waiting();
      assert.equal((await test({ _id: encodeURIComponent(name) }, { payload: 1 })).matches, true);
    });

    it('name each fault of the payload by its place', async () => {
      const schema = {
        required: ['severity'],
        properties: { severity: { const: 'high' }, 'a/b': { items: { type: 'integer' } } },
      };
      const trigger = await waiting({ schema });
      const { matches, reasons, variables } = await test(trigger, { payload: { severity: 'low', 'a/b': [1, 'x'] } });
      assert.equal(matches, false);
      assert.equal(variables, null);
      assert.deepEqual(reasons, [
        { code: 'schema', path: '/severity', message: 'must be "high"' },
        { code: 'schema', path: '/a~1b/1', message: 'must be integer' },
      ]);
      assert.equal((await test(trigger, { payload: { severity: 'high' } })).matches, true);
      const none = await test(await waiting({ schema: false }), { payload: 1 });
      assert.deepEqual(none.reasons, [{ code: 'schema', path: '', message: 'is not allowed' }]);
    });

    it('say that source and topic are others', async () => {
      const trigger = await waiting();
      const { position } = await publish(1, 'Monitor', 'alarms');
      const { matches, reasons, variables } = await test(trigger, { position });
      assert.equal(matches, false);
      assert.equal(variables, null);
      assert.deepEqual(reasons, [
        { code: 'source', message: 'The trigger waits for the source "monitor"' },
        { code: 'topic', message: 'The trigger waits for the topic "alarm"' },
      ]);
    });

    it('say that it is disabled, and what the job would get if it were not', async () => {
      const { matches, reasons, variables } = await test(await waiting({ enabled: false }), { payload: 1 });
      assert.equal(matches, false);
      assert.deepEqual(reasons, [{ code: 'enabled', message: 'The trigger is disabled' }]);
      assert.equal(variables.payload, 1);
    });

    it('carry out the transformation', async () => {
      const trigger = await waiting(jsonata('{"site": $uppercase(payload.site)}'));
      const { variables } = await test(trigger, { payload: { site: 'bonn' } });
      assert.equal(variables.site, 'BONN');
      assert.equal('payload' in variables, false);
      assert.equal(variables._trigger.id, trigger._id);
    });

    it('carry out a transformation as the job of the event gets it', async () => {
      const steps = [
        step(1, 'Math.random'),
        step(2, 'Date.now'),
        wire('method 1 /return', 'outgoing chance'),
        wire('method 2 /return', 'outgoing at'),
      ];
      const jst = transformation('Chances', { incoming: [], outgoing: ['chance', 'at'], steps });
      const trigger = await waiting({ jst, topic: 'chances' });
      const { position } = await publish({ a: 1 }, 'monitor', 'chances');
      const jobs = async () => ok(await admin('GET', `${om}/jobs?multiEquals[trigger]=${trigger._id}`)).data;
      await until(async () => (await jobs()).length === 1, 'the job');
      const [{ variables }] = await jobs();
      const tested = await test(trigger, { position });
      assert.deepEqual(tested.variables, variables);
      assert.equal(new Date(variables.at).toISOString(), variables._event.at);
    });

    it('say that the transformation fails', async () => {
      for (const [more, words] of [
        [jsonata('$error("no site")'), /no site/],
        [jsonata('5'), /no object/],
        [{ jst: ['a list'] }, /no form that this version knows/],
      ] as const) {
        const { matches, reasons, variables } = await test(await waiting(more), { payload: 1 });
        assert.equal(matches, false);
        assert.equal(variables, null);
        assert.deepEqual(codes({ reasons }), ['transformation']);
        assert.match(reasons[0].message, words);
      }
    });

    it('show secrets masked', async () => {
      const { variables } = await test(await waiting({ legacyWrapper: false }), { payload: { password: 'hunter2' } });
      assert.equal(variables.password, mask);
    });

    it('store nothing', async () => {
      const trigger = await waiting({ topic: 'stored' });
      const before = await publish('before', 'monitor', 'not waited for');
      await test(trigger, { payload: 1 });
      await test(trigger, { position: before.position });
      ok(await testAll({ source: 'monitor', topic: 'stored', payload: 1 }));
      assert.equal((await publish('after', 'monitor', 'not waited for')).position, before.position + 1);
    });
  });

  describe('and the rights of its account', () => {
    const account = async (username: string, memberOf: readonly string[]) => {
      const { data } = ok(await admin('POST', '/authorization/accounts', { username, password, memberOf }));
      return { id: data._id as string, ask: service.as({ user: username, password }) };
    };
    const rights = (message: string) => [{ code: 'rights', message }];

    it('count as of now: inactive, active again, deleted', async () => {
      const { id, ask } = await account('leaves', ['operators']);
      const trigger = await waiting({}, ask);
      const state = async () => (await test(trigger, { payload: 1 })).reasons;
      assert.deepEqual(await state(), []);
      ok(await admin('PATCH', `/authorization/accounts/${id}`, { inactive: true }));
      assert.deepEqual(await state(), rights('The account of the trigger is deleted or inactive'));
      ok(await admin('PATCH', `/authorization/accounts/${id}`, { inactive: false }));
      assert.deepEqual(await state(), []);
      ok(await admin('DELETE', `/authorization/accounts/${id}`));
      const { matches, reasons, variables } = await test(trigger, { payload: 1 });
      assert.deepEqual(reasons, rights('The account of the trigger is deleted or inactive'));
      assert.deepEqual([matches, variables.payload], [false, 1]);
    });

    it('are those of who changed it last', async () => {
      const { id, ask } = await account('makes', ['operators']);
      const trigger = await waiting({}, ask);
      ok(await admin('DELETE', `/authorization/accounts/${id}`));
      assert.deepEqual(codes(await test(trigger, { payload: 1 })), ['rights']);
      ok(await admin('PATCH', `${om}/triggers/${trigger._id}`, { description: 'mine now' }));
      assert.deepEqual(codes(await test(trigger, { payload: 1 })), []);
    });

    it('say whether it may read the automation', async () => {
      const open = await newAutomation();
      const trigger = await waiting({ actionId: open }, who.stranger);
      assert.deepEqual(codes(await test(trigger, { payload: 1 })), []);
      ok(await admin('PATCH', `${om}/automations/${open}`, { gbac: { read: ['ops'], write: ['ops'] } }));
      assert.deepEqual(
        (await test(trigger, { payload: 1 })).reasons,
        rights('The account of the trigger may not read its automation'),
      );
      // Nor may it test the trigger any more.
      refused(await asksFor(trigger, { payload: 1 }, who.stranger), 404);
      assert.equal((await test(trigger, { payload: 1 }, who.member)).matches, false);
    });

    it('say whether it sees the event: of the log, or a published one', async () => {
      const platform = { source: '@platform/authorization', topic: 'accountCreated' };
      const made = await admin('POST', '/authorization/accounts', { username: 'somebody', password });
      ok(made);
      const position = positionOf(made);
      const own = await waiting(platform);
      assert.deepEqual(codes(await test(own, { position })), []);
      const trigger = await waiting(platform, who.member);
      assert.deepEqual(
        (await test(trigger, { position })).reasons,
        rights('The account of the trigger may not see the event'),
      );
      // A payload alone does not say in which stream the event would be.
      assert.deepEqual(codes(await test(trigger, { payload: {} })), []);

      ok(
        await admin('POST', '/authorization/roles', {
          name: 'writes triggers',
          allowedMethods: ['createTrigger', 'getTrigger', 'testTrigger'].map((name) => ({
            provenance: 'operations-manager',
            name,
          })),
        }),
      );
      ok(
        await admin('POST', '/authorization/accounts', {
          username: 'writer',
          password,
          assignedRoles: ['writes triggers'],
        }),
      );
      const blind = await waiting({}, service.as({ user: 'writer', password }));
      assert.deepEqual(codes(await test(blind, { payload: 1 })), ['rights']);
      assert.deepEqual(codes(await test(blind, { position: (await publish(1)).position })), ['rights']);
    });
  });

  describe('events of the log', () => {
    it('are 404 unless the caller may see them', async () => {
      const trigger = await waiting();
      const hidden = await admin('POST', `${om}/automations`, {
        name: 'Hidden',
        gbac: { read: ['ops'], write: ['ops'] },
      });
      ok(hidden);
      const position = positionOf(hidden);
      for (const ask of [admin, who.member])
        assert.deepEqual(codes(await test(trigger, { position }, ask)), ['source', 'topic']);
      for (const ask of [who.reader, who.stranger]) refused(await asksFor(trigger, { position }, ask), 404, /position/);
      for (const none of [0, position + 1_000_000])
        refused(await asksFor(trigger, { position: none }), 404, /position/);
    });

    it('fire nothing if they tell of the runs of triggers', async () => {
      const manual = await create({ ...common(), type: 'manual', formData: null, formId: null });
      ok(await admin('POST', `${om}/triggers/manual/${manual._id}/run`, {}));
      let position: number | undefined;
      await until(async () => {
        position = await lastOf(`triggerRuns-${manual._id}`);
        return position !== undefined;
      });
      const trigger = await waiting({ source: '@platform/operations-manager', topic: 'triggerRan' });
      const { matches, reasons } = await test(trigger, { position });
      assert.equal(matches, false);
      assert.deepEqual(reasons, [{ code: 'topic', message: 'Events that tell of the runs of triggers fire nothing' }]);
    });

    it('have secrets that transformations move unseen', async () => {
      const started = await admin('POST', `${om}/jobs/start`, {
        workflow: automation,
        options: { variables: { password: 'hunter2', n: 1 } },
      });
      ok(started);
      const trigger = await waiting({
        source: '@platform/operations-manager',
        topic: 'jobStarted',
        ...jsonata('{"moved": payload.variables.password, "n": payload.variables.n}'),
      });
      const answer = await asksFor(trigger, { position: positionOf(started) });
      const { matches, variables } = ok(answer).data;
      assert.equal(matches, true);
      assert.deepEqual([variables.moved, variables.n], [mask, 1]);
      assert.doesNotMatch(answer.text, /hunter2|\$sealed/);
    });

    it('have numbers as JavaScript reads them, for filters and expressions', async () => {
      const agent = { name: 'Counting', runner: 'template', template: 'x', inputSchema: {} };
      ok(await admin('POST', '/agent-session-manager/agents', agent));
      const inputs = '{"n": 1.0, "m": 25e-1, "10": "b", "2": "a"}';
      const asked = `{"agent": "Counting", "inputs": ${inputs}}`;
      const started = await admin('POST', '/agent-session-manager/sessions/run-agent', asked);
      ok(started);
      const values = { n: 1, m: 2.5, 10: 'b', 2: 'a' };
      const trigger = await waiting({
        source: '@platform/agent-session-manager',
        topic: 'sessionStarted',
        schema: { required: ['inputs'], properties: { inputs: { const: values } } },
        ...jsonata('{"n": payload.inputs.n, "all": payload.inputs}'),
      });
      const { matches, reasons, variables } = await test(trigger, { position: positionOf(started) });
      assert.deepEqual([matches, reasons], [true, []]);
      assert.deepEqual([variables.n, variables.all], [1, values]);
      ok(await admin('POST', '/agent-session-manager/sessions/run-agent', asked));
      await until(async () => {
        const { data } = ok(await admin('GET', `${om}/jobs?limit=1000`));
        return data.some((job: { trigger: string }) => job.trigger === trigger._id);
      }, 'its job');
    });
  });

  describe('all triggers of a topic', () => {
    it('are explained, those of another source and disabled ones too, sorted by id', async () => {
      const topic = 'allOfThem';
      const made = [
        await waiting({ topic, schema: { required: ['a'] } }),
        await waiting({ topic, enabled: false }),
        await waiting({ topic, source: 'elsewhere' }),
        await waiting({ topic, ...jsonata('5') }),
      ];
      await waiting({ topic: 'another' });
      const { data } = ok(await testAll({ source: 'monitor', topic, payload: {} }));
      const ids = data.map(({ trigger }: { readonly trigger: string }) => trigger);
      assert.deepEqual(ids, made.map(({ _id }) => _id).sort());
      const byId = new Map(data.map((one: { readonly trigger: string }) => [one.trigger, one]));
      assert.deepEqual(
        made.map(({ _id }) => byId.get(_id)),
        [
          {
            trigger: made[0]._id,
            matches: false,
            reasons: [{ code: 'schema', path: '/a', message: 'is required' }],
          },
          { trigger: made[1]._id, matches: false, reasons: [{ code: 'enabled', message: 'The trigger is disabled' }] },
          {
            trigger: made[2]._id,
            matches: false,
            reasons: [{ code: 'source', message: 'The trigger waits for the source "elsewhere"' }],
          },
          {
            trigger: made[3]._id,
            matches: false,
            reasons: [{ code: 'transformation', message: 'The result of the transformation is no object' }],
          },
        ],
      );
      const fits = ok(await testAll({ source: 'monitor', topic, payload: { a: 1 } })).data;
      assert.deepEqual(
        fits.filter(({ matches }: { readonly matches: boolean }) => matches),
        [{ trigger: made[0]._id, matches: true, reasons: [] }],
      );
    });

    it('are those that the caller may read', async () => {
      const topic = 'guarded';
      const guarded = await newAutomation({ gbac: { read: ['ops'], write: ['ops'] } });
      const open = await waiting({ topic });
      const hidden = await waiting({ topic, actionId: guarded });
      const asked = async (ask: Ask) =>
        ok(await testAll({ source: 'monitor', topic, payload: 1 }, ask)).data.map((one: any) => one.trigger);
      assert.deepEqual(await asked(who.member), [open._id, hidden._id].sort());
      assert.deepEqual(await asked(who.reader), [open._id]);
      assert.deepEqual(await asked(who.stranger), [open._id]);
    });

    it('are not paged', async () => {
      const topic = 'many';
      for (let i = 0; i < 120; i++) await waiting({ topic, schema: { properties: { a: { const: i } } } });
      const { data, metadata } = ok(await testAll({ source: 'monitor', topic, payload: { a: 7 } }));
      assert.equal(data.length, 120);
      assert.equal(data.filter(({ matches }: { readonly matches: boolean }) => matches).length, 1);
      assert.equal(metadata?.total, undefined);
    });

    it('may be none', async () => {
      assert.deepEqual(ok(await testAll({ source: 'toString', topic: '__proto__', payload: 1 })).data, []);
    });

    it('are asked about an event of the log by its position, which the caller may see', async () => {
      const trigger = await waiting({ topic: 'placed', schema: { required: ['a'] } });
      const { position } = await publish({ b: 1 }, 'monitor', 'placed');
      const reasons = [{ code: 'schema', path: '/a', message: 'is required' }];
      assert.deepEqual(ok(await testAll({ position })).data, [{ trigger: trigger._id, matches: false, reasons }]);
      refused(await testAll({ position: position + 1_000_000 }), 404, /position/);
      const gbac = { read: ['ops'], write: ['ops'] };
      const hidden = positionOf(await admin('POST', `${om}/automations`, { name: 'Hidden here', gbac }));
      assert.equal((await testAll({ position: hidden }, who.member)).status, 200);
      refused(await testAll({ position: hidden }, who.reader), 404, /position/);
    });

    it('need either a position, or source, topic and payload', async () => {
      const whole = { source: 'a', topic: 'b', payload: null };
      assert.equal((await testAll(whole)).status, 200);
      for (const member of Object.keys(whole))
        refused(await testAll({ ...whole, [member]: undefined }), 400, new RegExp(`"/${member}"`));
      refused(await testAll({ ...whole, position: 1 }), 400, /"\/source"/);
      refused(await testAll({ payload: 1, position: 1 }), 400, /"\/payload"/);
    });
  });

  it('and bodies of endpoints are checked by the same filters: formats are annotations in 2020-12', async () => {
    const endpoint = (routeName: string, $schema: string) =>
      create({
        ...common(),
        ...{ type: 'endpoint', verb: 'POST', routeName, jst: null },
        schema: { $schema, properties: { at: { format: 'date' } } },
      });
    await endpoint('recent', 'https://json-schema.org/draft/2020-12/schema');
    await endpoint('old', 'http://json-schema.org/draft-07/schema#');
    ok(await admin('POST', `${om}/triggers/endpoint/recent`, { at: 'today' }));
    refused(await admin('POST', `${om}/triggers/endpoint/old`, { at: 'today' }), 400, /at/);
  });
});
