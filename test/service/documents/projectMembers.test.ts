import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';
import { ours, workflow } from '../../support/workflowSamples.ts';

const list = '/automation-studio/projects';
const om = '/operations-manager';
const id = '7e0a1b2c3d4e5f6071829401';
const ids = {
  workflow: '7e0a1b2c3d4e5f6071829402',
  template: '7e0a1b2c3d4e5f6071829403',
  transformation: '7e0a1b2c3d4e5f6071829404',
  form: '7e0a1b2c3d4e5f6071829405',
};
const name = (word: string): string => `@${id}: ${word}`;
const next = { type: 'standard', state: 'success' };
const password = 'a long enough password';

const roles = ['owner', 'editor', 'operator', 'viewer'] as const;
type Role = (typeof roles)[number] | 'stranger';

const project = {
  _id: id,
  name: 'Sites',
  components: [
    {
      type: 'workflow',
      reference: ids.workflow,
      document: {
        _id: ids.workflow,
        name: 'Open a site',
        tasks: {
          workflow_start: {},
          workflow_end: {},
          a1: { name: 'ViewData', app: 'WorkFlowEngine', type: 'manual', variables: { incoming: { body: 'b' } } },
        },
        transitions: { workflow_start: { a1: next }, a1: { workflow_end: next } },
      },
    },
    {
      type: 'template',
      reference: ids.template,
      document: { _id: ids.template, name: 'Banner', type: 'jinja2', template: 'hidden words', data: {} },
    },
    {
      type: 'transformation',
      reference: ids.transformation,
      document: { _id: ids.transformation, name: 'Shape', incoming: [], outgoing: [], steps: [] },
    },
    {
      type: 'jsonForm',
      reference: ids.form,
      document: {
        id: ids.form,
        name: 'New site',
        struct: { type: 'object', items: [] },
        schema: { type: 'object', title: 'New site', required: [], properties: {} },
        uiSchema: {},
        bindingSchema: {},
        validationSchema: {},
        version: '2020.1',
      },
    },
    { type: 'mopCommandTemplate', document: { name: 'Pre', os: '', passRule: true, commands: [] } },
  ],
  folders: [],
  members: [
    { type: 'account', username: 'owner', role: 'owner' },
    { type: 'user', username: 'editor', role: 'editor' },
    { type: 'group', name: 'drivers', role: 'operator' },
    { type: 'group', name: 'lookers', role: 'viewer' },
    { type: 'account', username: 'somebody elsewhere', role: 'owner' },
  ],
};

describe('members of projects', function () {
  this.timeout(60_000);
  const service = useService();
  const as = new Map<Role, ReturnType<typeof service.as>>();
  const ask = (who: Role | 'admin', method: string, path: string, body?: unknown) =>
    who === 'admin' ? service.ask(method, path, body) : as.get(who)!(method, path, body);
  const every = async (
    method: string,
    path: string,
    expected: Readonly<Record<Role, number>>,
    body?: (who: Role) => unknown,
  ): Promise<void> => {
    for (const who of [...roles, 'stranger'] as const) {
      const { status, text } = await ask(who, method, path, body?.(who));
      assert.equal(status, expected[who], `${who} ${method} ${path}: ${text}`);
    }
  };
  const total = async (who: Role | 'admin', path: string): Promise<number> => {
    const body = ok(await ask(who, 'GET', path));
    return body.total ?? body.metadata?.total ?? body.length;
  };
  const child = (incoming: object) =>
    workflow({ c: ours('childJob', { variables: {}, ...incoming }) }, ['start -> c', 'c -> end']);
  const trigger = (more: object) => ({
    name: 'By hand',
    type: 'manual',
    actionType: 'automations',
    enabled: true,
    formId: null,
    formData: null,
    formSchemaHash: null,
    legacyWrapper: false,
    ...more,
  });
  let actionId = '';
  const errorOf = async (id: string): Promise<string> => {
    let now: any; // answers are whatever the route says
    await until(async () => {
      now = ok(await ask('admin', 'GET', `${om}/jobs/${id}`)).data;
      return now.status === 'error';
    }, 'the error');
    return JSON.stringify(now.error);
  };
  const start = async (who: Role, workflow: string): Promise<string> => {
    const options = { variables: { shape: name('Shape') } };
    return ok(await ask(who, 'POST', `${om}/jobs/start`, { workflow, options })).data._id;
  };

  /** Documents outside of the project that name its components. */
  const addOutside = async () => {
    const quick = workflow({ set: ours('newVariable', { name: 'n', value: 1 }) }, ['start -> set', 'set -> end']);
    const documents = {
      Open: quick,
      Outside: child({ workflow: name('Open a site') }),
      'Outside by id': child({ workflow: ids.workflow }),
      'Outside by no name': child({ workflow: 'Nothing' }),
      Shapes: child({ workflow: 'Open', data_array: [{}], loopType: 'parallel', transformation: '$var.job.shape' }),
    };
    for (const [word, document] of Object.entries(documents))
      ok(await ask('admin', 'POST', `${om}/workflows`, { ...document, name: word }));
    const automation = { name: 'Elsewhere', componentType: 'workflows', componentName: 'Open' };
    actionId = ok(await ask('admin', 'POST', `${om}/automations`, automation)).data._id;
  };
  const reads = { owner: 200, editor: 200, operator: 200, viewer: 200, stranger: 404 };
  const runs = { ...reads, viewer: 403 };
  const changes = { ...runs, operator: 403 };
  const owns = { ...changes, editor: 403 };
  let position = 0;

  before(async () => {
    for (const group of ['drivers', 'lookers'])
      ok(await ask('admin', 'POST', '/authorization/groups', { name: group, description: '' }));
    const groupOf: Partial<Record<Role, string>> = { operator: 'drivers', viewer: 'lookers' };
    for (const username of [...roles, 'stranger'] as const) {
      const memberOf = ['operators', groupOf[username] ?? []].flat();
      ok(await ask('admin', 'POST', '/authorization/accounts', { username, password, memberOf }));
      as.set(username, service.as({ user: username, password }));
    }
    const { body, headers } = await service.ask('POST', `${list}/import`, { project: { ...project, members: [] } });
    assert.equal(body.metadata.failedComponents.length, 0, JSON.stringify(body));
    position = Number(headers.get('x-event-position'));
    ok(await ask('stranger', 'GET', `${list}/${id}`));
    ok(await ask('admin', 'POST', `${list}/import`, { project, conflictMode: 'overwrite' }));
    await addOutside();
  });

  it('are those of the document who are here; the export has all of them', async () => {
    const { members } = ok(await ask('admin', 'GET', `${list}/${id}`)).data;
    assert.deepEqual(
      members.map(({ type, name, role }: Record<string, string>) => [type, name, role]),
      [
        ['account', 'owner', 'owner'],
        ['account', 'editor', 'editor'],
        ['group', 'drivers', 'operator'],
        ['group', 'lookers', 'viewer'],
      ],
    );
    assert.deepEqual(ok(await ask('viewer', 'GET', `${list}/${id}/export`)).data.members, project.members);
    refused(await ask('admin', 'DELETE', '/authorization/groups/drivers'), 409);
  });

  it('alone see it, each component, and what there was before', async () => {
    const paths = [
      `${list}/${id}`,
      `${list}/${id}/export`,
      `${om}/workflows/${ids.workflow}`,
      `${om}/workflows/${ids.workflow}/export`,
      `/template_builder/templates/${ids.template}`,
      `/template_builder/templates/${encodeURIComponent(name('Banner'))}/export`,
      `/template_builder/transformations/${ids.transformation}`,
      `/json-forms/forms/${ids.form}`,
    ];
    for (const path of paths) {
      await every('GET', path, reads);
      await every('GET', `${path}?asOf=${position}`, reads);
    }
    for (const path of [
      list,
      `${om}/workflows`,
      '/template_builder/templates',
      '/template_builder/transformations',
      '/json-forms/forms?limit=5',
      '/mop/listTemplates',
    ]) {
      assert.equal((await total('viewer', path)) - (await total('stranger', path)), 1, path);
      assert.equal(await total('viewer', path), await total('admin', path), path);
    }
    for (const [kind, of] of [['project', id], ...Object.entries(ids)]) {
      const path = `/audit/events?resource=${kind}/${of}`;
      const [seen, hidden] = [await ask('viewer', 'GET', path), await ask('stranger', 'GET', path)];
      assert.ok(JSON.stringify(seen.body).includes(`${kind}`), path);
      assert.ok(!JSON.stringify(hidden.body).includes(`${kind}-${of}`), `${path} ${hidden.text}`);
    }
  });

  it('alone find one by its name where no answer is an empty one', async () => {
    const path = `/mop/listATemplate/${encodeURIComponent(name('Pre'))}`;
    assert.equal(ok(await ask('viewer', 'GET', path)).length, 1);
    assert.deepEqual(ok(await ask('stranger', 'GET', path)), []);
  });

  it('who edit it change its components, and nobody else comes in by a name', async () => {
    const described = (who: Role) => ({ description: `by ${who}` });
    await every('PUT', `/template_builder/templates/${ids.template}`, changes, described);
    const fresh = (who: Role) => ({ name: name(`of ${who}`), template: 'x' });
    await every('POST', '/template_builder/templates', { ...changes, stranger: 403 }, fresh);
    ok(await ask('stranger', 'POST', '/template_builder/templates', { name: 'outside', template: 'x' }));
    const renamed = (who: Role) => ({ name: name(`from ${who}`) });
    refused(await ask('stranger', 'PUT', '/template_builder/templates/outside', renamed('stranger')), 403);
    refused(await ask('stranger', 'POST', `${list}/import`, { project, conflictMode: 'overwrite' }), 409);
    const planted = (word: string) => ({
      type: 'template',
      data: { name: word, type: 'jinja2', template: 'x', data: {} },
    });
    const prebuilt = {
      metadata: {
        name: 'Planted',
        version: '1.0.0',
        description: '',
        author: '',
        license: '',
        repository: {},
        PlatformDependencies: {},
      },
      manifest: { bundleName: 'Planted', fingerprint: '', createdEpoch: '1', artifacts: [] },
      bundles: [planted(name('planted')), planted('free')],
      readme: '',
    };
    const { data } = ok(await ask('stranger', 'POST', '/prebuilts/import', { prebuilt }));
    assert.deepEqual([data.installed.length, data.refused.length, data.refused[0].code], [1, 1, 'forbidden']);
  });

  it('alone reach a component, by whatever route', async () => {
    const flow = project.components[0]?.document;
    const pre = name('Pre');
    const commands = { name: pre, os: '', passRule: true, commands: [] };
    const rows: readonly (readonly [method: string, path: string, body?: unknown])[] = [
      ['PUT', `${om}/workflows/${ids.workflow}`, { ...flow, name: name('Open a site'), canvasVersion: 4 }],
      ['DELETE', `${om}/workflows/${ids.workflow}`],
      [
        'PUT',
        `/template_builder/transformations/${ids.transformation}`,
        { name: name('Shape'), incoming: [], outgoing: [], steps: [], more: 1 },
      ],
      ['DELETE', `/template_builder/transformations/${ids.transformation}`],
      ['DELETE', `/template_builder/templates/${ids.template}`],
      ['PUT', '/json-forms/forms', { options: { id: ids.form, description: 'x' } }],
      ['DELETE', '/json-forms/forms', { ids: [ids.form] }],
      ['POST', `/mop/updateTemplate/${encodeURIComponent(pre)}`, { mop: { ...commands, os: 'x' } }],
      ['POST', `/mop/deleteTemplate/${encodeURIComponent(pre)}`],
    ];
    for (const [method, path, body] of rows) {
      refused(await ask('stranger', method, path, body), 404);
      refused(await ask('viewer', method, path, body), 403);
    }
    for (const path of [
      `${om}/workflows/${ids.workflow}/validate`,
      `${om}/workflows/${ids.workflow}/simulate`,
      `/template_builder/transformations/${ids.transformation}/validate`,
    ])
      await every('POST', path, reads, () => ({}));
    refused(await ask('stranger', 'POST', '/mop/export', { type: 'templates', options: { name: pre } }), 404);
  });

  it('who operate it run its components', async () => {
    await every('POST', `/template_builder/templates/${ids.template}/renderJinja`, runs, () => ({}));
    await every('POST', `/template_builder/transformations/${ids.transformation}/run`, runs, () => ({ incoming: {} }));
    // There is no such device.
    const asked = { owner: 404, editor: 404, operator: 404, viewer: 403, stranger: 404 };
    await every('POST', '/mop/RunCommandTemplate', asked, () => ({ template: name('Pre'), devices: ['none'] }));
    await every('POST', `${om}/jobs/start`, runs, () => ({ workflow: ids.workflow, options: {} }));
    ok(
      await ask('stranger', 'POST', '/template_builder/templates', {
        name: 'thief',
        template: `{% include "${name('Banner')}" %}`,
      }),
    );
    const stolen = await ask('stranger', 'POST', '/template_builder/templates/thief/renderJinja', {});
    assert.ok(!stolen.text.includes('hidden words'), stolen.text);
  });

  it('see and move its jobs, also those that an automation starts', async () => {
    ok(
      await ask('admin', 'POST', `${om}/automations`, {
        name: 'Open',
        componentType: 'workflows',
        componentName: name('Open a site'),
      }),
    );
    await every('POST', `${om}/jobs/start`, runs, () => ({ workflow: 'Open', options: {} }));
    const job = ok(await ask('operator', 'POST', `${om}/jobs/start`, { workflow: 'Open', options: {} })).data._id;
    await every('GET', `${om}/jobs/${job}`, reads);
    await every('GET', `${om}/jobs/${job}/tasks/a1`, reads);
    await every('GET', `${om}/tasks/${job}.a1.1`, reads);
    assert.equal(await total('stranger', `${om}/jobs`), 0);
    assert.equal(await total('stranger', `${om}/tasks`), 0);
    assert.ok((await total('viewer', `${om}/tasks`)) > 0);
    refused(await ask('viewer', 'POST', `${om}/jobs/pause`, { jobIds: [job] }), 403, /jobIds/);
    refused(await ask('stranger', 'POST', `${om}/jobs/pause`, { jobIds: [job] }), 404);
    refused(await ask('viewer', 'POST', `${om}/tasks/${job}.a1.1/finish`, { result: 'success' }), 403);
    ok(await ask('operator', 'POST', `${om}/tasks/${job}.a1.1/finish`, { result: 'success' }));
  });

  it('count for children of jobs, which begin with the rights of the account that started the job', async () => {
    const hidden = await errorOf(await start('stranger', 'Outside'));
    assert.match(hidden, /There is no workflow/);
    assert.equal(
      hidden.replaceAll(name('Open a site'), 'Nothing'),
      await errorOf(await start('stranger', 'Outside by no name')),
    );
    assert.match(await errorOf(await start('stranger', 'Outside by id')), /There is no workflow/);
    assert.match(await errorOf(await start('viewer', 'Outside')), /may see the workflow, but not run it/);
    assert.match(await errorOf(await start('stranger', 'Shapes')), /There is no transformation/);
    const id = await start('operator', 'Outside');
    await until(async () => {
      const { tasks } = ok(await ask('admin', 'GET', `${om}/jobs/${id}`)).data;
      return tasks.c.children?.[0]?.status === 'running';
    }, 'the child');
  });

  it('count for jobs of actions', async () => {
    const models = '/lifecycle-manager/resources';
    const action = (word: string, workflow: string) => ({ name: word, type: 'update', workflow });
    const actions = [action('By name', name('Open a site')), action('By a part', 'Open a site')];
    const { data } = ok(await ask('admin', 'POST', models, { name: 'Sites', schema: {}, actions }));
    ok(await ask('admin', 'POST', `${models}/Sites/instances`, { name: 'Bonn', instanceData: {} }));
    const jobOf = async (who: Role, n: number): Promise<string> => {
      const body = { actionId: data.actions[n]._id, instance: 'Bonn', inputs: {} };
      return ok(await ask(who, 'POST', `${models}/Sites/run-action`, body)).data.tasks[0].job;
    };
    const isRun = async (job: string): Promise<boolean> =>
      (await ask('admin', 'GET', `${om}/jobs/${job}`)).text.includes('"a1"');
    const refusedJob = await jobOf('stranger', 0);
    assert.match(await errorOf(refusedJob), /may not run its component/);
    assert.equal(await isRun(refusedJob), false);
    const job = await jobOf('operator', 1);
    assert.equal(await isRun(job), true);
    ok(await ask('admin', 'POST', `${om}/jobs/cancel`, { jobIds: [job] }));
    assert.equal(await isRun(await jobOf('stranger', 1)), false);
  });

  it('count for triggers at each run: for their transformation and their form', async () => {
    const shaping = {
      ...{ name: 'Shaping', type: 'endpoint', verb: 'POST', routeName: 'shaping', schema: null },
      ...{ actionType: 'automations', actionId, enabled: true, jst: name('Shape') },
    };
    refused(await ask('stranger', 'POST', `${om}/triggers`, shaping), 404, /jst/);
    ok(await ask('admin', 'POST', `${om}/triggers`, shaping));
    const run = (id: string) => `${om}/triggers/manual/${id}/run`;
    refused(await ask('stranger', 'POST', `${om}/triggers/endpoint/shaping`, {}), 422, /no transformation/);
    ok(await ask('operator', 'POST', `${om}/triggers/endpoint/shaping`, {}));
    const formed = (formId: string) => trigger({ actionId, name: 'Formed', formId, formData: {} });
    const missing = await ask('stranger', 'POST', `${om}/triggers`, formed('none'));
    const hidden = await ask('stranger', 'POST', `${om}/triggers`, formed(ids.form));
    assert.equal(hidden.status, missing.status);
    assert.equal(hidden.text.replaceAll(ids.form, 'none'), missing.text);
    const { _id: withForm } = ok(await ask('viewer', 'POST', `${om}/triggers`, formed(ids.form))).data;
    refused(await ask('stranger', 'POST', run(withForm), {}), 409, /is gone/);
    ok(await ask('viewer', 'POST', run(withForm), {}));
  });

  it('alone learn names from exports and faults', async () => {
    const named = { name: 'By id', componentType: 'template', componentName: ids.template };
    const byId = ok(await ask('admin', 'POST', `${om}/automations`, named)).data._id;
    for (const [automation, hidden, word] of [
      [actionId, ids.form, 'New site'],
      [byId, ids.template, 'Banner'],
    ] as const) {
      const path = `${om}/automations/${automation}/export`;
      assert.ok((await ask('viewer', 'GET', path)).text.includes(name(word)), path);
      const { text } = await ask('stranger', 'GET', path);
      assert.ok(text.includes(hidden) && !text.includes(name(word)), text);
    }
    const transforming = (tr_id: string) =>
      workflow({ a: ours('transformation', { tr_id, variableMap: {} }) }, ['start -> a', 'a -> end']);
    const faults = async (who: Role, document: object) =>
      ok(await ask(who, 'POST', `${om}/workflows/validate`, document)).data;
    const unknown = transforming('7e0a1b2c3d4e5f60718294ff');
    const hidden = JSON.stringify(await faults('stranger', transforming(ids.transformation))).replaceAll(
      ids.transformation,
      '-',
    );
    assert.equal(hidden, JSON.stringify(await faults('stranger', unknown)).replaceAll('7e0a1b2c3d4e5f60718294ff', '-'));
    assert.deepEqual((await faults('operator', transforming(ids.transformation))).faults, []);
    const childOf = (workflow: string) => child({ workflow });
    assert.equal(
      JSON.stringify(await faults('stranger', childOf(ids.workflow))).replaceAll(ids.workflow, '-'),
      JSON.stringify(await faults('stranger', childOf('none'))).replaceAll('none', '-'),
    );
    assert.deepEqual((await faults('viewer', childOf(ids.workflow))).warnings, []);
  });

  it('alone learn its id from an import as another project', async () => {
    const insert = { project, conflictMode: 'insert-new' };
    const { data, metadata } = ok(await ask('stranger', 'POST', `${list}/import`, insert));
    assert.notEqual(data._id, id);
    assert.deepEqual(metadata.failedComponents, []);
    ok(await ask('admin', 'DELETE', `${list}/${data._id}`));
  });

  it('and groups decide about each answer of a list, though answers are kept', async () => {
    const path = `${om}/automations?limit=100`;
    const closed = { name: 'Closed', gbac: { read: [], write: ['lookers'] } };
    ok(await ask('admin', 'POST', `${om}/automations`, closed));
    const shows = async (who: Role | 'admin'): Promise<boolean> =>
      (await ask(who, 'GET', path)).text.includes('Closed');
    const all = await total('admin', path);
    for (const who of ['viewer', 'stranger', 'admin', 'viewer', 'stranger'] as const) {
      const isHidden = who === 'stranger';
      assert.equal(await shows(who), !isHidden, who);
      assert.equal(await total(who, path), isHidden ? all - 1 : all, who);
    }
    const join = async (...groups: readonly string[]): Promise<void> =>
      void ok(await ask('admin', 'PATCH', '/authorization/accounts/stranger', { memberOf: ['operators', ...groups] }));
    await join('lookers');
    assert.equal(await shows('stranger'), true);
    await join();
    assert.equal(await shows('stranger'), false);
  });

  it('are changed by owners, and go on counting when the project is gone', async () => {
    await every('PATCH', `${list}/${id}`, owns, () => ({ description: 'd' }));
    refused(
      await ask('owner', 'PATCH', `${list}/${id}`, { members: [{ type: 'group', name: 'none', role: 'owner' }] }),
      404,
      /members\/0/,
    );
    const members = [
      { type: 'account', username: 'owner', role: 'owner' },
      { type: 'account', username: 'stranger', role: 'viewer' },
    ];
    ok(await ask('owner', 'PATCH', `${list}/${id}`, { members }));
    const swapped = { ...reads, editor: 404, operator: 404, viewer: 404, stranger: 200 };
    await every('GET', `/template_builder/templates/${ids.template}`, swapped);
    await every('DELETE', `${list}/${id}?components=keep`, {
      owner: 200,
      editor: 404,
      operator: 404,
      viewer: 404,
      stranger: 403,
    } as never);
    await every('GET', `/template_builder/templates/${ids.template}`, swapped);
    refused(await ask('editor', 'POST', `${list}/import`, { project }), 409);
  });
});
