import assert from 'node:assert/strict';
import { join } from 'node:path';
import { randomOf } from '@automation-platform/transformations';
import { eventsOf, textsKept, withLog } from '../../support/logged.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';
import { step, transformation, wire } from '../../support/transformationSamples.ts';
import { until } from '../../support/until.ts';

const om = '/operations-manager';
const mask = '********';

describe('Runs of triggers over HTTP', () => {
  let service: TestService;
  let who: People;
  let automation: string;
  let count = 0;
  const asks = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    service.ask(method, `${om}${path}`, body, headers);
  const newAutomation = async (more: object = {}): Promise<string> =>
    ok(await asks('POST', '/automations', { name: `Automation ${++count}`, ...more })).data._id;
  const common = () => ({
    name: `Trigger ${++count}`,
    enabled: true,
    actionType: 'automations',
    actionId: automation,
  });
  const endpoint = async (more: object = {}) =>
    ok(
      await asks('POST', '/triggers', {
        ...common(),
        type: 'endpoint',
        verb: 'POST',
        routeName: `route-${count}`,
        schema: null,
        jst: null,
        ...more,
      }),
    ).data;
  const manual = async (more: object = {}) =>
    ok(await asks('POST', '/triggers', { ...common(), type: 'manual', formData: null, formId: null, ...more })).data;
  const run = ({ routeName }: { readonly routeName: string }, body?: unknown, headers?: Record<string, string>) =>
    asks('POST', `/triggers/endpoint/${routeName}`, body, headers);
  const runManual = ({ _id }: { readonly _id: string }, body?: unknown) =>
    asks('POST', `/triggers/manual/${_id}/run`, body);
  const jsonata = (expression: string) => ({ jst: { type: 'jsonata', expression } });
  const origin = ({ _id, name, type }: { readonly _id: string; readonly name: string; readonly type: string }) => ({
    _trigger: { id: _id, name, type },
  });
  const jobsOf = async ({ _id }: { readonly _id: string }): Promise<number> =>
    ok(await asks('GET', `/jobs?multiEquals[trigger]=${_id}&limit=1`)).metadata.total;
  const events = (stream: string) => withLog(join(service.folder, 'events.db'), (log) => eventsOf(log, stream));

  before(async () => {
    service = await startService();
    who = await people(service);
    automation = await newAutomation({ componentType: 'workflows', componentName: 'backup' });
  });
  after(() => service.stop());

  describe('An endpoint trigger', () => {
    it('starts a job, whose variables are the members of the body', async () => {
      const trigger = await endpoint();
      const answer = await run(trigger, { site: 'Bonn', _trigger: 'mine', _event: { source: 'mine' }, list: [1] });
      const { message, data: job } = ok(answer);
      assert.equal(message, 'Successfully started job');
      assert.deepEqual(job.variables, { site: 'Bonn', list: [1], ...origin(trigger) });
      const { trigger: id, automation: of, event, instant, depth, parent, status, component, groups, type } = job;
      assert.deepEqual(
        { id, of, event, instant, depth, parent, status, component, groups, type },
        {
          id: trigger._id,
          of: automation,
          event: null,
          instant: null,
          depth: 0,
          parent: null,
          status: 'running',
          component: { type: 'workflows', name: 'backup' },
          groups: [],
          type: 'automation',
        },
      );
      assert.deepEqual(job.watchers, ['admin']);
      assert.equal(job.created_by, 'admin');
      const shown = await asks('GET', `/jobs/${job._id}`);
      assert.deepEqual(ok(shown).data, job);
      assert.equal(shown.headers.get('etag'), answer.headers.get('etag'));
    });

    it('stores one event in one append, with all members', async () => {
      const trigger = await endpoint();
      const { _id } = ok(await run(trigger, {})).data;
      const [started, ...more] = await events(`job-${_id}`);
      assert.deepEqual(more, []);
      const { event, instant, depth, parent, workflow, execution } = started!.data;
      assert.deepEqual(
        { event, instant, depth, parent, workflow, execution },
        { event: null, instant: null, depth: 0, parent: null, workflow: null, execution: null },
      );
      assert.equal(started!.metadata.operation, 'runEndpointTrigger');
    });

    it('takes a request without body as one with an empty object', async () => {
      const trigger = await endpoint();
      assert.deepEqual(ok(await run(trigger)).data.variables, origin(trigger));
    });

    it('refuses a body that is no object', async () => {
      const trigger = await endpoint();
      for (const body of [[1], '"text"', 5, 'null', true])
        refused(await run(trigger, body), 400, /must be (an )?object/);
      assert.equal(await jobsOf(trigger), 0);
    });

    it('refuses a body that does not fit its schema, with the path of each fault', async () => {
      const schema = {
        type: 'object',
        required: ['site'],
        properties: { site: { type: 'string' }, 'a/b': { items: { type: 'integer' } } },
      };
      const trigger = await endpoint({ schema });
      const answer = await run(trigger, { site: 5, 'a/b': [1, 'x'] });
      refused(answer, 400);
      assert.deepEqual(answer.body.metadata.errors.map(({ path }: { path: string }) => path).sort(), [
        '/a~1b/1',
        '/site',
      ]);
      refused(await run(trigger, {}), 400, /site/);
      ok(await run(trigger, { site: 'Bonn' }));
      const none = await endpoint({ schema: false });
      refused(await run(none, {}), 400, /the schema: it is not allowed/);
      ok(await run(await endpoint({ schema: true }), { any: 1 }));
    });

    it('seals secrets, and refuses what looks sealed and a mask that keeps nothing', async () => {
      const trigger = await endpoint();
      const { data } = ok(await run(trigger, { password: 'run-hunter2', users: [{ apiKey: 'run-key' }] }));
      assert.deepEqual(data.variables, { password: mask, users: [{ apiKey: mask }], ...origin(trigger) });
      const [started] = await events(`job-${data._id}`);
      assert.ok(started!.data.variables.password.$sealed);
      refused(await run(trigger, { a: [{ $sealed: 'x', tag: 'y' }] }), 400, /\/a\/0\/\$sealed/);
      refused(await run(trigger, { token: mask }), 400, /"\/token"/);
      assert.deepEqual(textsKept(service, ['run-hunter2', 'run-key']), []);
    });

    it('is 404 by an unknown route, and for callers who may not read the automation', async () => {
      refused(await asks('POST', '/triggers/endpoint/nowhere', {}), 404);
      const actionId = await newAutomation({ gbac: { read: ['ops'], write: ['admins'] } });
      const trigger = await endpoint({ actionId });
      const path = `${om}/triggers/endpoint/${trigger.routeName}`;
      refused(await who.stranger('POST', path, {}), 404);
      const { data } = ok(await who.member('POST', path, {}));
      assert.equal(data.created_by, 'member');
      assert.deepEqual(data.watchers, ['member']);
    });

    it('is for operators, and for those whose role has its method', async () => {
      const trigger = await endpoint();
      const path = `${om}/triggers/endpoint/${trigger.routeName}`;
      for (const one of [who.reader, who.outsider]) refused(await one('POST', path, {}), 403);
      ok(await who.stranger('POST', path, {}));
    });

    it('is carried out once for an Idempotency-Key, even if the trigger is gone by then', async () => {
      const trigger = await endpoint();
      const headers = { 'Idempotency-Key': 'once' };
      const first = await run(trigger, { n: 1 }, headers);
      const second = await run(trigger, { n: 1 }, headers);
      assert.deepEqual(ok(second).data, ok(first).data);
      assert.equal(second.headers.get('idempotency-replayed'), 'true');
      refused(await run(trigger, { n: 2 }, headers), 422, /Idempotency-Key/);
      ok(await asks('DELETE', `/triggers/${trigger._id}`));
      assert.deepEqual(ok(await run(trigger, { n: 1 }, headers)).data._id, ok(first).data._id);
      assert.equal(await jobsOf(trigger), 1);
    });
  });

  describe('A transformation', () => {
    it('makes the variables from the body; what the platform adds stays', async () => {
      const made = '"_trigger": 1, "_event": 2, "seen": [_trigger, _event]';
      const trigger = await endpoint(jsonata(`{"where": $uppercase(site), ${made}, "ports": ports.{"id": $}}`));
      const { data } = ok(await run(trigger, { site: 'Bonn', ports: [1, 2], _trigger: 'mine', _event: 'mine' }));
      const ports = [{ id: 1 }, { id: 2 }];
      assert.deepEqual(data.variables, { where: 'BONN', seen: [], ports, ...origin(trigger) });
    });

    it('that fails, or gives no object, is 422', async () => {
      for (const [expression, reason] of [
        ['$error("no such site")', /no such site/],
        ['[1]', /no object/],
        ['"text"', /no object/],
        ['nothing', /no result/],
        ['{"f": function($x){$x}}', /function/],
        ['($f := function($n){ $f($n + 1) }; $f(0))', /1000 ms/],
      ] as const)
        refused(await run(await endpoint(jsonata(expression)), { a: 1 }), 422, reason);
    }).timeout(60_000);

    it('that does not parse is refused when it is saved', async () => {
      const faulty = { ...common(), type: 'endpoint', verb: 'POST', routeName: 'faulty', schema: null };
      for (const expression of ['{"a": ', '((', '$x := ', '/(?=a)/.$', `${'('.repeat(60_000)}`, 'a'.repeat(70_000)])
        refused(await asks('POST', '/triggers', { ...faulty, ...jsonata(expression) }), 400, /"\/jst\/expression"/);
      const { _id } = await endpoint();
      refused(await asks('PATCH', `/triggers/${_id}`, jsonata('((')), 400, /"\/jst\/expression"/);
      const document = ok(await asks('GET', `/triggers/${_id}`)).data;
      const imported = await asks('PUT', '/triggers', {
        triggers: [{ ...document, ...jsonata('((') }],
        overwrite: true,
      });
      refused(imported, 400, /"\/triggers\/0\/jst\/expression"/);
    });

    it('by a document or the name of one makes the variables; the same run gives the same', async () => {
      const document = {
        ...transformation('Sites', {
          incoming: ['site', 'token', 'floor'],
          outgoing: ['at', 'chance', 'site', 'moved', 'floor'],
          steps: [
            step(1, 'String.toUpperCase'),
            step(2, 'Math.random'),
            step(3, 'Date.now'),
            wire('incoming site', 'method 1 /args/0/value'),
            wire('method 1 /return', 'outgoing site'),
            wire('method 2 /return', 'outgoing chance'),
            wire('method 3 /return', 'outgoing at'),
            wire('incoming token', 'outgoing moved'),
            wire('incoming floor', 'outgoing floor'),
          ],
        }),
        incoming: [{ $id: 'site' }, { $id: 'token', default: 'a-default-1' }, { $id: 'floor', default: 3 }],
      };
      const { _id } = ok(await service.ask('POST', '/template_builder/transformations', document)).data;
      for (const jst of [document, 'Sites', _id]) {
        const trigger = await endpoint({ jst });
        const { data } = ok(await run(trigger, { site: 'bonn', token: 'moved-4' }));
        const { at, chance, ...rest } = data.variables;
        assert.deepEqual(rest, { site: 'BONN', moved: mask, floor: 3, ...origin(trigger) });
        assert.equal(chance, randomOf(data._id)());
        assert.ok(Math.abs(at - Date.parse(data.created)) < 60_000);
        refused(await run(trigger, { site: [] }), 422, /Step 1 \(String.toUpperCase\)/);
      }
      const shown = ok(await asks('GET', '/triggers?multiEquals[type]=endpoint&limit=1000')).data;
      const inline = shown.find(({ jst }: any) => jst?.name === 'Sites'); // documents are any JSON
      assert.equal(inline.jst.incoming[1].default, mask);
      ok(await asks('PATCH', `/triggers/${inline._id}`, { jst: inline.jst, description: 'changed' }));
      refused(
        await asks('POST', '/triggers', {
          ...common(),
          type: 'endpoint',
          verb: 'POST',
          routeName: 'another',
          jst: inline.jst,
        }),
        400,
        /keeps a secret/,
      );
      const imported = { ...inline, jst: document, description: 'imported' };
      ok(await asks('PUT', '/triggers', { triggers: [imported], overwrite: true }));
      ok(await asks('PUT', '/triggers', { triggers: [{ ...imported, jst: inline.jst }], overwrite: true }));
      const whole = ok(await asks('GET', `/automations/${automation}/export`)).data ?? {};
      ok(
        await asks('PUT', '/automations', {
          automations: [{ ...whole, triggers: [{ ...imported, description: 'whole' }] }],
          overwrite: true,
        }),
      );
      assert.equal(ok(await run(inline, { site: 'x' })).data.variables.moved, mask);
      assert.deepEqual(textsKept(service, ['moved-4', 'a-default-1']), []);
    });

    it('that is not there is 404, that has a fault 400; one that is named stays', async () => {
      const given = { ...common(), type: 'endpoint', verb: 'POST', routeName: 'unnamed', schema: null };
      refused(await asks('POST', '/triggers', { ...given, jst: 'None' }), 404, /"\/jst"/);
      const faulty = transformation('Faulty', { incoming: [], outgoing: [], steps: [step(1, 'Array.zip')] });
      refused(await asks('POST', '/triggers', { ...given, jst: faulty }), 400, /"\/jst\/steps\/0"/);
      refused(
        await asks('POST', '/triggers', { ...given, jst: { ...faulty, steps: Array(2001).fill({}) } }),
        400,
        /"\/jst\/steps"/,
      );
      const path = '/template_builder/transformations';
      const { _id } = ok(await service.ask('POST', path, { ...faulty, name: 'Held' })).data;
      const trigger = await endpoint({ jst: 'Held' });
      refused(await run(trigger, {}), 422, /There is no method Array.zip/);
      refused(await asks('PATCH', `/triggers/${trigger._id}`, { jst: 'None' }), 404, /"\/jst"/);
      const held = new RegExp(`The trigger.*${trigger.name}.* refers to it`);
      refused(await service.ask('DELETE', `${path}/${_id}`), 409, held);
      refused(await service.ask('PUT', `${path}/${_id}`, { ...faulty, name: 'Renamed' }), 409, held);
      ok(await service.ask('PUT', `${path}/${_id}`, { ...faulty, name: 'Held', steps: [] }));
      const tasks = {
        workflow_start: {},
        workflow_end: {},
        a: {
          app: 'WorkFlowEngine',
          name: 'transformation',
          location: 'Application',
          type: 'operation',
          variables: { incoming: { tr_id: _id } },
        },
      };
      const flow = ok(await asks('POST', '/workflows', { name: 'Transforms', tasks, transitions: {} })).data;
      ok(await asks('PATCH', `/triggers/${trigger._id}`, { jst: null }));
      refused(await service.ask('DELETE', `${path}/Held`), 409, /The workflow.*Transforms.* refers to it/);
      ok(await service.ask('PUT', `${path}/${_id}`, { ...faulty, name: 'Renamed', steps: [] }));
      ok(await asks('DELETE', `/workflows/${flow._id}`));
      ok(await service.ask('DELETE', `${path}/Renamed`));
    });

    it('of another kind is kept as given, and a run is refused with the reason', async () => {
      for (const [jst, reason] of [
        ['', /no form that this version knows/],
        [{ incoming: {}, outgoing: {}, steps: [], functions: [] }, /no form that this version knows/],
        [{ type: 'xslt' }, /no form that this version knows/],
        [[1, 2], /no form/],
        [5, /no form/],
        [false, /no form/],
      ] as const) {
        const trigger = await endpoint({ jst });
        assert.deepEqual(ok(await asks('GET', `/triggers/${trigger._id}`)).data.jst, jst);
        refused(await run(trigger, {}), 422, reason);
      }
    });

    it('may move secrets, which stay sealed, and learns nothing of them', async () => {
      const moved = await endpoint(
        jsonata('{"x": password, "auth": {"user": "a", "pass": token}, "list": [password, token], "kept": users}'),
      );
      const { data } = ok(await run(moved, { password: 'moved-1', token: 'moved-2', users: [{ secret: 'moved-3' }] }));
      const shown = { x: mask, auth: mask, list: [mask, mask], kept: [{ secret: mask }] };
      assert.deepEqual(data.variables, { ...shown, ...origin(moved) });
      for (const expression of [
        '{"x": "Bearer " & token}',
        '{"x": $string(token)}',
        '{"x": $keys(token)}',
        '{"x": $merge([token, {"a": 1}])}',
        '{"x": token ~> |$|{"b": 1}|}',
      ])
        refused(await run(await endpoint(jsonata(expression)), { token: 'learned-1' }), 422, /secret can be moved/);
      const blind = await endpoint(jsonata('{"x": token.`$sealed`, "y": token.tag, "z": $type(token)}'));
      assert.deepEqual(ok(await run(blind, { token: 'learned-2' })).data.variables, { z: 'object', ...origin(blind) });
      assert.deepEqual(textsKept(service, ['moved-1', 'moved-2', 'moved-3', 'learned-1', 'learned-2']), []);
    });

    it('makes nothing that a body could not bring: a worker gives it back', async () => {
      const before = ok(await asks('GET', '/jobs?limit=1')).metadata.total;
      for (const [expression, reason] of [
        ['{"x": {"$sealed": "a", "tag": "b"}}', /called \$sealed \(at \/x\/\$sealed\)/],
        ['{"x": [{"__proto__": {"a": 1}}]}', /called __proto__ \(at \/x\/0\/__proto__\)/],
        ['$merge([{"$payload": 1}])', /called \$payload/],
        ['{"$exact": ["1"]}', /called \$exact/],
        ['{"$same": true}', /called \$same/],
        ['{"x": $split(face, "")}', /lone surrogate \(at \/x\/0\)/],
        ['{$split(face, "")[0]: 1}', /lone surrogate/],
        ['{"x": 9007199254740993}', /beyond 2\^53-1 \(at \/x\)/],
      ] as const)
        refused(await run(await endpoint(jsonata(expression)), { face: '😀' }), 422, reason);
      assert.equal(ok(await asks('GET', '/jobs?limit=1')).metadata.total, before);
      const whole = await endpoint(jsonata('{"x": $substring(face, 0, 1)}'));
      assert.equal(ok(await run(whole, { face: '😀!' })).data.variables.x, '😀');
    });

    it('seals what it names like a secret', async () => {
      const naming = await endpoint(jsonata('{"password": site}'));
      assert.deepEqual(ok(await run(naming, { site: 'Bonn' })).data.variables, { password: mask, ...origin(naming) });
    });
  });

  describe('A manual trigger', () => {
    it('starts a job with its form data, below formData or as members', async () => {
      const wrapped = await manual({ formData: { site: 'Bonn' } });
      assert.deepEqual(ok(await runManual(wrapped)).data.variables, { formData: { site: 'Bonn' }, ...origin(wrapped) });
      const open = await manual({ formData: { site: 'Bonn' }, legacyWrapper: false });
      const { data } = ok(await runManual(open, {}));
      assert.deepEqual(data.variables, { site: 'Bonn', ...origin(open) });
      assert.deepEqual(data.watchers, ['admin']);
    });

    it('has {} for form data that is null', async () => {
      const trigger = await manual();
      for (const body of [undefined, {}, { formData: null }])
        assert.deepEqual(ok(await runManual(trigger, body)).data.variables, { formData: {}, ...origin(trigger) });
    });

    it('takes the form data of the request in the place of its own; the mask keeps a secret', async () => {
      const trigger = await manual({ formData: { site: 'Bonn', password: 'manual-hunter2' } });
      const own = ok(await runManual(trigger)).data;
      assert.deepEqual(own.variables.formData, { site: 'Bonn', password: mask });
      const kept = ok(await runManual(trigger, { formData: { site: 'Ulm', password: mask } })).data;
      assert.deepEqual(kept.variables.formData, { site: 'Ulm', password: mask });
      const sealed = async (id: string) => (await events(`job-${id}`))[0]!.data.variables.formData.password;
      assert.deepEqual(await sealed(kept._id), await sealed(own._id));
      const other = ok(await runManual(trigger, { formData: { password: 'another' } })).data;
      assert.notEqual((await sealed(other._id)).tag, (await sealed(own._id)).tag);
      refused(await runManual(trigger, { formData: { token: mask } }), 400, /"\/formData\/token"/);
      refused(
        await runManual(trigger, { formData: { a: { $sealed: 'x', tag: 'y' } } }),
        400,
        /\/formData\/a\/\$sealed/,
      );
      refused(await runManual(trigger, { formData: [1] }), 400, /"\/formData"/);
      refused(await runManual(trigger, { data: {} }), 400);
    });

    it('checks form data against its form, and a form that has changed is 409', async () => {
      const schema = { title: 'Ports', type: 'object', required: ['vlan'], properties: { vlan: { type: 'integer' } } };
      ok(await service.ask('POST', '/json-forms/forms', { name: 'Run ports', schema }));
      const trigger = await manual({ formId: 'Run ports', formData: { vlan: 10 } });
      ok(await runManual(trigger));
      refused(await runManual(trigger, { formData: { vlan: 'x' } }), 400, /"\/formData\/vlan"/);
      refused(await runManual(trigger, { formData: {} }), 400, /vlan/);
      ok(await runManual(trigger, { formData: { vlan: 20 } }));
      const changed = { ...schema, properties: { vlan: { type: 'integer', minimum: 0 } } };
      ok(await service.ask('PUT', '/json-forms/forms', { options: { name: 'Run ports', schema: changed } }));
      refused(await runManual(trigger), 409, /has changed/);
      refused(await runManual(trigger, { formData: { vlan: 20 } }), 409, /has changed/);
      ok(await asks('PATCH', `/triggers/${trigger._id}`, { formData: { vlan: 10 } }));
      ok(await runManual(trigger));
    });

    it('without the secret that an import left out is refused in words', async () => {
      const document = ok(await asks('GET', `/triggers/${(await manual())._id}`)).data;
      const imported = { ...document, formData: { site: 'Bonn', password: mask } };
      ok(await asks('PUT', '/triggers', { triggers: [imported], overwrite: true }));
      refused(await runManual(document), 409, /"\/formData\/password"/);
      ok(await runManual(document, { formData: { site: 'Bonn', password: 'given now' } }));
    });

    it('is found by its name, too', async () => {
      const { _id, name } = await manual();
      assert.equal(ok(await runManual({ _id: encodeURIComponent(name) })).data.trigger, _id);
    });

    it('is 409 when it is disabled, 404 by the id of another type and for callers who may not read it', async () => {
      refused(await runManual(await manual({ enabled: false })), 409, /disabled/);
      refused(await runManual(await endpoint()), 404);
      refused(await runManual({ _id: 'nowhere' }), 404);
      const actionId = await newAutomation({ gbac: { read: ['ops'], write: ['admins'] } });
      const { _id } = await manual({ actionId });
      const path = `${om}/triggers/manual/${_id}/run`;
      refused(await who.stranger('POST', path, {}), 404);
      refused(await who.reader('POST', path, {}), 403);
      ok(await who.member('POST', path, {}));
    });
  });

  describe('What came of runs', () => {
    const noted = async ({ _id }: { readonly _id: string }) =>
      (await events(`triggerRuns-${_id}`)).map(({ data }) => data);

    it('is noted in a stream of its own, gathered, and shown as lastExecuted', async () => {
      const trigger = await endpoint();
      assert.equal(trigger.lastExecuted, null);
      const first = ok(await run(trigger, {})).data;
      await until(async () => (await noted(trigger)).length === 1);
      assert.deepEqual(await noted(trigger), [{ count: 1, job: first._id, at: first.created }]);
      const jobs = [];
      for (let i = 0; i < 5; i++) jobs.push(ok(await run(trigger, {})).data);
      await until(async () => (await noted(trigger)).reduce((sum, { count }) => sum + count, 0) === 6);
      const notes = await noted(trigger);
      assert.ok(notes.length < 6, 'they are gathered');
      const last = jobs.at(-1);
      assert.deepEqual([notes.at(-1).job, notes.at(-1).at], [last._id, last.created]);
      const lastExecuted = Date.parse(last.created);
      const path = `/triggers/${trigger._id}`;
      await until(async () => ok(await asks('GET', path)).data.lastExecuted === lastExecuted);
      const list = ok(await asks('GET', `/triggers?multiEquals[name]=${encodeURIComponent(trigger.name)}`)).data;
      assert.equal(list[0].lastExecuted, lastExecuted);
      assert.equal(ok(await asks('PATCH', path, { description: 'x' })).data.lastExecuted, lastExecuted);
      const document = ok(await asks('GET', path)).data;
      const again = ok(await asks('PUT', '/triggers', { triggers: [{ ...document, lastExecuted: 5 }] }));
      assert.equal(again.data[0].data.lastExecuted, lastExecuted, 'ignored in imports');
      assert.equal(ok(await asks('PATCH', path, { enabled: true })).data.lastExecuted, lastExecuted);
      assert.equal(ok(await asks('DELETE', path)).data.lastExecuted, lastExecuted);
      assert.equal((await noted(trigger)).length, notes.length, 'the notes stay');
    });

    it('does not change the revision in the tag of a trigger, only the hash behind it', async () => {
      const trigger = await manual();
      const path = `/triggers/${trigger._id}`;
      const before = (await asks('GET', path)).headers.get('etag')!;
      ok(await runManual(trigger));
      await until(async () => ok(await asks('GET', path)).data.lastExecuted !== null);
      const now = (await asks('GET', path)).headers.get('etag')!;
      assert.notEqual(now, before);
      assert.equal(now.split('-')[0], before.split('-')[0]);
      ok(await asks('PATCH', path, { description: 'still mine' }, { 'If-Match': before }));
    });

    it('is kept over a stop', async () => {
      const trigger = await endpoint();
      for (let i = 0; i < 3; i++) ok(await run(trigger, {}));
      service = await service.restart();
      assert.equal(
        (await noted(trigger)).reduce((sum, { count }) => sum + count, 0),
        3,
      );
      assert.ok(ok(await asks('GET', `/triggers/${trigger._id}`)).data.lastExecuted > 0);
    });

    it('is counted by type and outcome', async () => {
      const counts = async (): Promise<Record<string, number>> => {
        const { text } = await service.ask('GET', '/metrics');
        const lines = text.matchAll(/^automation_platform_trigger_runs_total\{type="(\w+)",outcome="(\w+)"\} (\d+)$/gm);
        return Object.fromEntries([...lines].map(([, type, outcome, count]) => [`${type} ${outcome}`, Number(count)]));
      };
      service = await service.restart();
      const byBody = await endpoint({ schema: { required: ['site'] } });
      for (let i = 0; i < 3; i++) ok(await run(byBody, { site: 'Bonn' }));
      for (let i = 0; i < 2; i++) refused(await run(byBody, {}), 400);
      refused(await run(await endpoint({ enabled: false }), {}), 409);
      refused(await run(await endpoint(jsonata('[1]')), {}), 422);
      const byHand = await manual({ formData: {} });
      for (let i = 0; i < 2; i++) ok(await runManual(byHand));
      refused(await runManual(byHand, { formData: { token: mask } }), 400);
      refused(await runManual(await manual({ enabled: false })), 409);
      assert.deepEqual(await counts(), {
        'endpoint job': 3,
        'endpoint failed': 2,
        'endpoint disabled': 1,
        'endpoint transformation': 1,
        'manual job': 2,
        'manual failed': 1,
        'manual disabled': 1,
      });
    });
  });
});
