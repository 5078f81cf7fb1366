import assert from 'node:assert/strict';
import fc from 'fast-check';
import { notBuilt } from '../../../src/http/compatibility/notBuilt.ts';
import { positionOf } from '../../support/hostile.ts';
import { oddWorkflow } from '../../support/oddWorkflows.ts';
import { ok, refused } from '../../support/people.ts';
import { seed } from '../../support/sample.ts';
import type { Answer } from '../../support/service.ts';
import { usePeople, useService } from '../../support/useService.ts';
import { ours, worker, workflow } from '../../support/workflowSamples.ts';

const mask = '********';

const firstFault = (answer: Answer, status: number): any => {
  refused(answer, status);
  return answer.body.metadata.errors[0];
};

describe('Workflows as documents, over HTTP', () => {
  const path = '/operations-manager/workflows';
  const service = useService();
  const some = usePeople(service);
  afterEach(() => assert.deepEqual(service.lines, []));
  const make = async (document: object) => ok(await service.ask('POST', path, document)).data;

  it('keep all members in their order, numbers as they are written; the import of an export changes nothing', async () => {
    const document =
      '{"uuid":"u","tasks":{"workflow_start":{"x":1.0},"7f":{"name":"stub","app":"WorkFlowEngine"},"12":{},' +
      '"workflow_end":{}},"name":"@0123456789abcdef01234567: Kept","transitions":{"workflow_start":{"7f":{"state":' +
      '"success","type":"standard"}}},"created":"yesterday","createdBy":{"username":"nobody","x":1},"sla":12345678901234567890}';
    const bring = async (text: string) => ok(await service.ask('PUT', path, `{"workflows":[${text}]}`)).data[0].data;
    const { _id, lastUpdated } = await bring(document);
    const { text } = await service.ask('GET', `${path}/${_id}/export`);
    assert.equal(text, document);
    assert.equal((await bring(text)).lastUpdated, lastUpdated);
    const copy = ok(await service.ask('GET', `${path}/${_id}`)).data;
    assert.equal(ok(await service.ask('PUT', `${path}/${_id}`, copy)).data.name, copy.name);
  });

  describe('at the addresses of other programs', () => {
    const studio = '/automation-studio';
    const list = async (query: string) => ok(await service.ask('GET', `${studio}/workflows?${query}`));
    const body = workflow({ a: worker({ port: 7 }, { app: 'Ports', name: 'open', location: 'Adapter' }) }, [
      'start -> a',
      'a -> end',
    ]);

    it('are made, found by equals, shown in part, changed, exported and deleted', async () => {
      const document = { ...body, name: 'Their / workflow', sla: 1.5, tags: ['x'] };
      const { created, edit } = ok(await service.ask('POST', `${studio}/automations`, { automation: document }));
      assert.equal(ok(await service.ask('GET', edit)).data._id, created._id);
      const found = await list(`equals[name]=${encodeURIComponent(document.name)}`);
      assert.deepEqual([found.total, found.items[0].tasks, found.next], [1, document.tasks, null]);
      assert.deepEqual(await list(`equals[_id]=${created._id}`), found);
      assert.deepEqual((await list('starts-with[name]=their&include=name,sla')).items, [
        { name: document.name, sla: 1.5 },
      ]);
      assert.equal((await list('contains[name]=/&exclude=tasks')).items[0].tasks, undefined);
      const detailed = `${studio}/workflows/detailed/Their%20/%20workflow`;
      assert.equal(ok(await service.ask('GET', detailed))._id, created._id);
      const update = { ...document, description: 'Changed' };
      const { updated } = ok(await service.ask('PUT', `${studio}/automations/${created._id}`, { update }));
      assert.equal(updated.description, 'Changed');
      const options = { name: document.name };
      const exported = ok(await service.ask('POST', '/workflow_builder/export', { options }));
      assert.deepEqual([exported.description, exported.sla], ['Changed', 1.5]);
      ok(await service.ask('DELETE', '/workflow_builder/workflows/delete/Their%20%2F%20workflow'));
      refused(await service.ask('GET', detailed), 404);
    });

    it('come in one by one, in pages, with those of projects only if they are asked for', async () => {
      const project = '@0123456789abcdef01234568: ';
      const automations = ['Page 1', 'Page 2', `${project}Page 3`].map((name) => ({ ...body, name }));
      const { imported } = ok(await service.ask('POST', `${studio}/automations/import`, { automations }));
      assert.deepEqual(
        imported.map(({ success }: any) => success),
        [true, true, true],
      );
      assert.deepEqual(imported[0].original, automations[0]);
      const again = [automations[0], { ...automations[1], description: 'Other' }];
      const taken = ok(await service.ask('POST', `${studio}/automations/import`, { automations: again })).imported;
      assert.deepEqual(
        taken.map(({ success }: any) => success),
        [true, false],
      );
      assert.match(taken[1].message, /other content/);
      const page = await list('contains[name]=page&limit=1&skip=1');
      assert.deepEqual([page.total, page.count, page.start, page.end], [3, 1, 1, 2]);
      assert.deepEqual(
        [page.next, page.previous].map((address) => /skip=\d+/.exec(address)?.[0]),
        ['skip=2', 'skip=0'],
      );
      assert.equal((await list('contains[name]=page&exclude-project-members=true')).total, 2);
      assert.equal((await list('contains[name]=page&exclude-project-members=false')).total, 3);
      for (const query of ['equals[color]=red', 'exclude-project-members=2', 'colour=red'])
        refused(await service.ask('GET', `${studio}/workflows?${query}`), 400);
    });

    it('of templates are made without a text, found by name and type, changed, exported, taken in and deleted', async () => {
      const templates = `${studio}/templates`;
      const template = { name: 'Their template', group: 'Site', type: 'textfsm', description: '' };
      const { created, edit } = ok(await service.ask('POST', templates, { template }));
      assert.equal(ok(await service.ask('GET', edit)).template, '');
      const { updated } = ok(
        await service.ask('PUT', `${templates}/${created._id}`, { update: { template: 'Value X' } }),
      );
      assert.deepEqual([updated.template, updated.group], ['Value X', 'Site']);
      assert.deepEqual(ok(await service.ask('GET', `${templates}/${created._id}`)), updated);
      const found = ok(await service.ask('GET', `${templates}?equals[name]=Their%20template&equals[type]=textfsm`));
      assert.deepEqual([found.total, found.items], [1, [updated]]);
      const exported = ok(await service.ask('GET', `${templates}/${created._id}/export`));
      ok(await service.ask('DELETE', `${templates}/${created._id}`));
      refused(await service.ask('GET', `${templates}/${created._id}`), 404);
      const { imported } = ok(await service.ask('POST', `${templates}/import`, { templates: [exported] }));
      assert.deepEqual(
        [imported[0].success, imported[0].original, imported[0].created.template],
        [true, exported, 'Value X'],
      );
      refused(await service.ask('POST', `${templates}/import`, exported), 400);
      const { reader } = some;
      refused(await reader('PUT', `${templates}/${created._id}`, { update: { template: 'Value Y' } }), 403);
    });

    it('are for those who have the method, and tasks are listed of what the caller may read', async () => {
      const { reader: ask } = some;
      refused(await ask('POST', `${studio}/automations`, { automation: { ...body, name: 'Mine' } }), 403);
      ok(await ask('GET', `${studio}/workflows`));
      const tasks: readonly any[] = ok(await service.ask('GET', '/workflow_builder/tasks/list'));
      const foreign = tasks.find(({ app }) => app === 'Ports');
      assert.deepEqual([foreign.name, foreign.location], ['open', 'Adapter']);
      assert.ok(tasks.some(({ app, name }) => app === 'WorkFlowEngine' && name === 'query'));
      const apps: readonly any[] = ok(await service.ask('GET', `${studio}/apps/list`));
      assert.ok(apps.some(({ name, type }) => name === 'Ports' && type === 'Adapter'));
      const inputsArray = [{ location: 'Adapter', pckg: 'Ports', method: 'open' }];
      const [one] = ok(
        await service.ask('POST', `${studio}/multipleTaskDetails?dereferenceSchemas=true`, { inputsArray }),
      );
      assert.deepEqual(one.variables.incoming, { port: {} });
      refused(await service.ask('GET', `${studio}/locations/Adapter/packages/Ports/tasks/close`), 404);
    });

    it('of the process, its parts, devices, texts, command templates and profiles answer as their rows do', async () => {
      const { member: operator, reader, outsider: nobody } = some;
      const get = async (path: string) => ok(await nobody('GET', `/health/${path}`));
      const { cpus, freemem, totalmem } = await get('system');
      assert.ok(cpus.length > 0 && freemem < totalmem);
      const { pid, versions, version } = await get('server');
      assert.ok(pid > 0 && versions.node);
      const status = ok(await service.ask('GET', '/health/status'));
      assert.deepEqual([status.version, status.apps, status.services[0].status], [version, 'running', 'running']);
      const { results, total } = await get('applications?contains[id]=manager&limit=2&sort=id');
      assert.deepEqual([results.length, results[0].id, total], [2, 'agent-session-manager', 6]);
      assert.equal((await get('applications?equals=STOPPED&equalsField=state')).total, 0);

      const lab = {
        name: 'their lab',
        type: 'lab',
        properties: {},
        devices: [{ name: 'theirs', ostype: 'cisco-ios' }],
      };
      ok(await service.ask('POST', '/configuration_manager/adapters', lab));
      const adapters = async (query: string) => ok(await reader('GET', `/health/adapters?${query}`));
      const { results: found } = await adapters('equals=their%20lab&equalsField=id');
      assert.deepEqual(
        found.map(({ id, state, connection }: any) => [id, state, connection.state]),
        [['their lab', 'RUNNING', 'UNKNOWN']],
      );
      assert.equal((await adapters('equals[state]=RUNNING&startsWith=THEIR&startsWithField=id')).total, 1);
      refused(await nobody('GET', '/health/adapters'), 403);
      for (const query of [
        'equals=x',
        'equalsField=id',
        'equals=x&equalsField=colour',
        'equals=x&equalsField=id&equalsField=id',
      ])
        refused(await reader('GET', `/health/adapters?${query}`), 400);

      const run = { command: 'show version', devices: ['theirs'] };
      const [answer] = ok(await operator('POST', '/mop/RunCommandDevices', run));
      assert.deepEqual([answer.device, answer.raw, answer.result], ['theirs', 'show version', true]);
      refused(await reader('POST', '/mop/RunCommandDevices', run), 403);
      const text =
        '{"template":"{{ n }}-{{ list | join }}","variables":{"n":12345678901234567890,"list":[1,2]},"options":{}}';
      assert.equal(ok(await reader('POST', '/configuration_manager/jinja2', text)), '12345678901234567890-12');

      const mop = { _id: 'x', name: 'Their / clock', ignoreWarnings: true, tags: null, created: 0, createdBy: '' };
      const { ops, insertedIds } = ok(await operator('POST', '/mop/createTemplate', { mop }));
      assert.deepEqual([ops[0].name, insertedIds], [mop.name, { 0: ops[0]._id }]);
      const changed = { mop: { ...ops[0], os: 'ios', ignoreWarnings: true } };
      ok(await operator('PUT', '/mop/updateTemplate/Their%20/%20clock', changed));
      assert.equal(ok(await reader('GET', '/mop/listATemplate/Their%20%2F%20clock'))[0].os, 'ios');

      const profile = {
        id: 'theirs',
        launchDelay: 2,
        applicationProps: { directory: 'x' },
        uiProps: { home: 'start', new_user: 'x' },
        alarmProps: [{ ip: '192.0.2.1', type: 'trap', properties: { retries: 1, description: 'stays' } }],
      };
      ok(await service.ask('POST', '/profiles/import', { properties: profile }));
      const shown = ok(await service.ask('GET', '/profiles/theirs'));
      assert.deepEqual(
        [shown.uiProps, shown.alarmProps[0].properties, shown.launchDelay],
        [{ home: 'start' }, { description: 'stays' }, undefined],
      );
      refused(await reader('POST', '/profiles/import', { properties: { id: 'mine' } }), 403);
      ok(await service.ask('POST', '/profiles/import', { properties: { ...shown, id: 'again', alarmProps: [] } }));
    });

    it('are said not to be built where they have no meaning, to those who are logged in', async () => {
      for (const [address, message] of Object.entries(notBuilt)) {
        const [path = '', method = 'GET'] = address.split(' ').reverse();
        const called = path.replace('*', '/a/b').replace(/:\w+/, 'x');
        refused(await service.as(null)(method, called), 401);
        const { code, message: told } = firstFault(await service.ask(method, called), 501);
        assert.deepEqual([code, told], ['not_built', message], address);
      }
      const none = '0'.repeat(24);
      for (const path of [`/adaptersA`, `/health/system/x`, `/operations_manager/none`])
        refused(await service.ask('GET', path), 404);
      refused(await service.ask('GET', `/operations_manager/jobs/${none}`), 404);
      ok(await service.ask('GET', '/operations_manager/jobs?limit=1'));
    });

    it('evaluate and look into values as tasks do', async () => {
      const evaluate = (groups: unknown, more = {}) =>
        service.ask('POST', '/workflow_engine/runEvaluationGroups', { evaluation_groups: groups, ...more });
      const row = (first: unknown, operator: string, second: unknown) => ({
        operand_1: first,
        operator,
        operand_2: { task: 'static', variable: second },
      });
      const [yes, no] = [row(10, '>', '9'), row('a', '==', 'b')];
      assert.equal(ok(await evaluate([{ operator: 'OR', evaluations: [yes, no] }])), true);
      assert.equal(ok(await evaluate([{ operator: 'AND', evaluations: [yes, no] }])), false);
      assert.equal(ok(await evaluate([{ evaluations: [no] }, { evaluations: [yes] }], { all_true_flag: true })), false);
      refused(await evaluate([{ operator: 'XOR', evaluations: [yes] }]), 422);
      refused(await evaluate([{ evaluations: [row(1, 'like', 1)] }]), 422);
      const query = async (text: string, obj: unknown) =>
        ok(
          await service.ask('POST', '/workflow_engine/query', { query: text, obj, pass_on_null: false, job_id: 'any' }),
        );
      assert.deepEqual(await query('[**].name', [[{ name: 'a' }], [{ name: 'b' }]]), ['a', 'b']);
      assert.equal(await query('x.y', { x: {} }), null);
    });
  });

  const many = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));
  const wide = many(1998, (i) => `t${i}`);
  const dense = many(140, (i) => `d${i}`);
  const workers = (ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, worker()]));
  /** Documents that are as large as can be, or name themselves. */
  const large: readonly any[] = [
    workflow(
      workers(wide),
      wide.flatMap((id) => [`start -> ${id}`, `${id} -> end`]),
    ),
    workflow(workers(wide), ['start -> t0', ...wide.slice(1).map((id, i) => `t${i} -loop-> ${id}`), 't1997 -> end']),
    workflow(workers(dense), [
      'start -> d0',
      ...dense.flatMap((from, i) => dense.slice(i + 1).map((to) => `${from} -> ${to}`)),
      ...dense.slice(1).map((id) => `d0 <-failure- ${id}`),
      'd139 -> end',
    ]),
    workflow({ a: ours('childJob', { workflow: 'Hostile 3', data_array: [1, 2] }) }, ['start -> a', 'a -> end']),
    workflow({ a: ours('push', { item_to_push: '$var.a.job_variable_value' }) }, ['start -> a', 'a -> end']),
    workflow({ a: worker({ x: 'y'.repeat(65_536) }, { summary: 'y'.repeat(65_536), name: 'y'.repeat(65_536) }) }, [
      'start -> a',
      'a -> end',
    ]),
  ];

  it('of any form are kept or refused, and start or say why not', async function () {
    this.timeout(3_600_000);
    const count = process.env.SOAK_ROUNDS ? 2000 : 30;
    const drawn = fc.sample(oddWorkflow, { numRuns: count, seed });
    let started = 0;
    for (const [i, document] of [...large, ...drawn].entries()) {
      const name = `Hostile ${i}`;
      const saved = await service.ask('POST', path, { ...document, name });
      assert.ok(saved.status === 200 || saved.status === 400, saved.text);
      const validated = await service.ask('POST', `${path}/validate`, { ...document, name });
      assert.equal(validated.status, saved.status, validated.text);
      if (saved.status !== 200) continue;
      const { _id, faults } = saved.body.data;
      const job = await service.ask('POST', '/operations-manager/jobs/start', { workflow: _id });
      assert.ok(job.status === 422 || (job.status === 200 && faults.length === 0), job.text);
      if (job.status !== 200) continue;
      started++;
      const { _id: id } = job.body.data;
      const shown = ok(await service.ask('GET', `/operations-manager/jobs/${id}`)).data;
      assert.equal(Object.keys(shown.tasks).length, Object.keys(document.tasks).length);
      await service.ask('POST', '/operations-manager/jobs/cancel', { jobIds: [id] });
    }
    assert.ok(started > 4, `${started} were started`);
  });

  it('are shown with faults and warnings; lists count tasks and faults', async () => {
    const made = await make(
      workflow({ a: worker(), b: ours('childJob', { workflow: 'Nobody' }) }, ['start -> a', 'a -> b', 'b -> nowhere'], {
        name: 'Faulty',
      }),
    );
    assert.deepEqual(made.faults.map(({ code }: { code: string }) => code).sort(), ['edge', 'end']);
    assert.deepEqual(made.warnings.map(({ code }: { code: string }) => code).sort(), ['child', 'error', 'unreachable']);
    const listed = ok(await some.reader('GET', `${path}?multiEquals[name]=Faulty`)).data;
    assert.deepEqual([listed[0].tasks, listed[0].faults, listed[0].description], [2, 2, '']);
    const { faults, warnings } = ok(await some.reader('POST', `${path}/validate`, { ...made, name: 'Other' })).data;
    assert.deepEqual({ faults, warnings }, { faults: made.faults, warnings: made.warnings });
    await make(workflow({}, ['start -> end'], { name: '@0123456789abcdef01234567: Nobody' }));
    const { warnings: fewer } = ok(await service.ask('GET', `${path}/Faulty`)).data;
    assert.ok(!fewer.some(({ code }: { code: string }) => code === 'child'));
  });

  it('are counted with their faults at each revision, and with those of the transformations that they name as of now', async () => {
    const steps = { a: ours('transformation', { tr_id: 'Later' }), b: ours('transformation', { tr_id: 'Later' }) };
    const made = await make(workflow(steps, ['start -> a', 'a -> b', 'b -> end'], { name: 'Counted' }));
    const counted = async () => {
      const [{ tasks, faults }] = ok(await some.reader('GET', `${path}?multiEquals[name]=Counted`)).data;
      return { tasks, faults };
    };
    assert.deepEqual(await counted(), { tasks: 2, faults: 2 });
    const later = { name: 'Later', incoming: [], outgoing: [], steps: [], functions: [], comments: [] };
    const { _id } = ok(await service.ask('POST', '/template_builder/transformations', later)).data;
    assert.deepEqual(await counted(), { tasks: 2, faults: 0 });
    ok(
      await service.ask('PUT', `${path}/${made._id}`, workflow({ a: worker() }, ['a -> nowhere'], { name: 'Counted' })),
    );
    const { faults } = ok(await service.ask('GET', `${path}/${made._id}`)).data;
    assert.deepEqual(await counted(), { tasks: 1, faults: faults.length });
    ok(await service.ask('DELETE', `/template_builder/transformations/${_id}`));
  });

  it('are refused for their form, and change nothing then', async () => {
    const flow = workflow({}, ['start -> end'], { name: 'Refused' });
    for (const [wrong, at] of [
      [{ ...flow, tasks: { 'a b': {} } }, '/tasks/a b'],
      [{ ...flow, tasks: [] }, '/tasks'],
      [{ ...flow, transitions: undefined }, '/transitions'],
      [{ ...flow, name: '' }, '/name'],
      [{ ...flow, description: 'x'.repeat(1024 * 1024) }, ''],
      [{ ...flow, tasks: Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`t${i}`, {}])) }, '/tasks'],
    ] as const)
      assert.equal(firstFault(await service.ask('POST', path, wrong), 400).path ?? '', at);
    refused(await service.ask('GET', `${path}/Refused`), 404);
  });

  it('mask what inputs say themselves, and nothing that only names it; the mask keeps it', async () => {
    const incoming = {
      password: 'in-the-clear',
      token: '$var.job.token',
      variables: { secret: { task: 'static', value: 'in-the-clear' }, apiKey: { task: 'job', variable: 'x' } },
      pairs: [{ key: 'site', value: 'Bonn' }],
    };
    const flow = workflow({ a: worker(incoming) }, ['start -> a', 'a -> end'], { name: 'Secretive', token: 'open' });
    const made = await make(flow);
    const shown = {
      ...incoming,
      password: mask,
      variables: { ...incoming.variables, secret: { task: 'static', value: mask } },
    };
    assert.deepEqual(made.tasks.a.variables.incoming, shown);
    assert.equal(made.token, 'open');
    const stored = async () => (await service.ask('GET', `/audit/resources/workflow/${made._id}`)).body;
    const replaced = ok(await service.ask('PUT', `${path}/Secretive`, made)).data;
    assert.equal(replaced.lastUpdated, made.lastUpdated);
    assert.doesNotMatch(JSON.stringify(await stored()), /in-the-clear/);
    refused(await service.ask('POST', path, { ...made, name: 'Copy' }), 400, /keeps a secret/);
    const [copied] = ok(
      await service.ask('PUT', path, { workflows: [{ ...made, _id: undefined, name: 'Copy' }] }),
    ).data;
    assert.deepEqual(copied.missingSecrets, [
      '/workflows/0/tasks/a/variables/incoming/password',
      '/workflows/0/tasks/a/variables/incoming/variables/secret/value',
    ]);
  });

  it('are saved only by who has the methods of what their tasks do, restored likewise', async () => {
    const flow = workflow({}, ['start -> end'], { name: 'Sends' });
    const sends = {
      ...flow,
      tasks: { ...flow.tasks, a: { app: 'MOP', name: 'RunCommandTemplate', type: 'automatic' } },
    };
    const methods = ['createWorkflow', 'getWorkflow', 'replaceWorkflow', 'importWorkflows'].map((name) => ({
      provenance: 'operations-manager',
      name,
    }));
    ok(
      await service.ask('POST', '/authorization/roles', {
        name: 'authors',
        allowedMethods: [...methods, { provenance: 'audit', name: 'restoreResource' }],
      }),
    );
    ok(
      await service.ask('POST', '/authorization/accounts', {
        username: 'author',
        password: 'correct horse',
        assignedRoles: ['authors'],
      }),
    );
    const ask = (method: string, to: string, body: object) =>
      service.ask(method, to, body, {}, { user: 'author', password: 'correct horse' });
    const { _id } = ok(await ask('POST', path, flow)).data;
    for (const [method, to, body] of [
      ['POST', path, { ...sends, name: 'Other' }],
      ['PUT', `${path}/Sends`, sends],
      ['PUT', path, { workflows: [sends], overwrite: true }],
    ] as const) {
      const fault = firstFault(await ask(method, to, body), 403);
      assert.deepEqual([fault.task, fault.method], ['a', 'runCommandTemplate']);
    }
    ok(await service.ask('PUT', `${path}/Sends`, sends));
    const position = await positionOf(service);
    ok(await service.ask('PUT', `${path}/Sends`, flow));
    const restore = { kind: 'workflow', id: _id, position };
    refused(await ask('POST', '/audit/restore', restore), 403);
    assert.ok(ok(await service.ask('POST', '/audit/restore', restore)).data.tasks.a);
    ok(await service.ask('DELETE', `${path}/Sends`));
    assert.ok(ok(await service.ask('POST', '/audit/restore', restore)).data.tasks.a);
    assert.equal(ok(await service.ask('GET', `${path}/${_id}?asOf=${position}`)).data.name, 'Sends');
  });

  it('keep name and place while an automation names them', async () => {
    const flow = workflow({}, ['start -> end']);
    for (const name of ['@0123456789abcdef01234567: Held', 'Free']) await make({ ...flow, name });
    const automation = ok(
      await service.ask('POST', '/operations-manager/automations', {
        name: 'Holds',
        componentType: 'workflows',
        componentName: 'Held',
      }),
    ).data;
    const held = `${path}/${encodeURIComponent('@0123456789abcdef01234567: Held')}`;
    refused(await service.ask('DELETE', held), 409, /Holds/);
    refused(await service.ask('PUT', held, { ...flow, name: 'Renamed' }), 409, /Holds/);
    ok(await service.ask('DELETE', `${path}/Free`));
    ok(await service.ask('DELETE', `/operations-manager/automations/${automation._id}`));
    ok(await service.ask('DELETE', held));
  });
});
