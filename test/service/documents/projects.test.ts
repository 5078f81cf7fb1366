import assert from 'node:assert/strict';
import { packed } from '../../support/documents.ts';
import { ok, people, refused } from '../../support/people.ts';
import { startService } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

const list = '/automation-studio/projects';
const formId = '7e0a1b2c3d4e5f6071829302';
const next = { type: 'standard', state: 'success' };

/** A project in the words of other installations: without prefixes, with references by id and by name of a project. */
const project = (_id: string, more: object = {}) => ({
  _id,
  iid: 7,
  name: 'Sites',
  description: '',
  thumbnail: 'data:image/png;base64,AAAA',
  backgroundColor: '#FFFFFF',
  components: [
    {
      iid: 0,
      type: 'workflow',
      reference: '4fb7dc7d-73ee-4593-b1c8-6b3809c59316',
      folder: '/Sites',
      document: {
        name: 'Open a site',
        tasks: {
          workflow_start: {},
          workflow_end: {},
          a1: { name: 'ShowJsonForm', app: 'JsonForms', type: 'manual', variables: { incoming: { form_id: formId } } },
          a2: {
            name: 'childJob',
            app: 'WorkFlowEngine',
            variables: { incoming: { workflow: `@${_id}: Close a site`, variables: {} } },
          },
        },
        transitions: { workflow_start: { a1: next }, a1: { a2: next }, a2: { workflow_end: next } },
        inputSchema: { type: 'object', properties: {}, example: { key: 'FP-5' } },
        canvasVersion: 3,
      },
    },
    {
      iid: 1,
      type: 'jsonForm',
      reference: formId,
      folder: '/Sites',
      document: {
        id: formId,
        name: 'New site',
        description: '',
        struct: { type: 'object', items: [] },
        schema: { type: 'object', title: 'New site', required: [], properties: {} },
        uiSchema: {},
        bindingSchema: {},
        validationSchema: {},
        version: '2020.1',
        created: '2024-08-30T22:53:23.377Z',
        createdBy: 'somebody else',
      },
    },
    {
      iid: 2,
      type: 'mopCommandTemplate',
      reference: `@${_id}: Pre`,
      folder: '/',
      // This name has the project already.
      document: { name: `@${_id}: Pre`, os: '', passRule: true, ignoreWarnings: null, commands: [], tags: [] },
    },
    { iid: 3, type: 'picture', folder: '/', document: { name: 'Rack', password: '' } },
    { iid: 4, type: 'template', folder: '/', document: { name: 'Bad', template: 1 } },
  ],
  folders: [{ nodeType: 'folder', name: 'Sites', children: [{ iid: 0, nodeType: 'component' }] }],
  created: '2024-08-30T22:53:23.377Z',
  createdBy: { username: 'somebody', provenance: 'Elsewhere' },
  lastUpdated: '2024-08-31T22:53:23.377Z',
  lastUpdatedBy: { username: 'somebody' },
  ...more,
});

/** The components that come in: all but the template, which does not fit. */
const fitting = (given: ReturnType<typeof project>) => ({ ...given, components: given.components.slice(0, 4) });

describe('projects', function () {
  this.timeout(60_000);
  const service = useService();
  const ask = (method: string, path: string, body?: unknown) => service.ask(method, path, body);
  const unpack = async (given: object, more: object = {}) =>
    ok(await ask('POST', `${list}/import`, { project: given, ...more }));
  const shown = async (id: string) => ok(await ask('GET', `${list}/${id}`)).data;
  const exported = async (id: string) => ok(await ask('GET', `${list}/${id}/export`)).data;
  const names = async (path: string): Promise<readonly string[]> => {
    const body = ok(await ask('GET', path));
    return (body.results ?? body.data ?? body).map(({ name }: { readonly name: string }) => name);
  };

  it('come in as resources, are shown as they are now, and go out equal', async () => {
    const id = '7e0a1b2c3d4e5f6071829301';
    const given = project(id);
    const { data, metadata } = await unpack(given);
    assert.deepEqual(
      metadata.installed.map(({ type, name }: { readonly type: string; readonly name: string }) => [type, name]),
      [
        ['workflow', `@${id}: Open a site`],
        ['jsonForm', `@${id}: New site`],
        ['mopCommandTemplate', `@${id}: Pre`],
      ],
    );
    assert.deepEqual(
      [metadata.total, metadata.kept[0].name, metadata.failedComponents[0].name, metadata.failedComponents[0].code],
      [5, 'Rack', 'Bad', 'invalid'],
    );
    assert.equal(data.components[1].reference, formId);
    assert.deepEqual(await exported(id), fitting(given));
    assert.ok((await names('/json-forms/forms')).includes(`@${id}: New site`));

    ok(await ask('PUT', '/json-forms/forms', { options: { id: formId, description: 'changed here' } }));
    assert.equal((await shown(id)).components[1].document.description, 'changed here');
    const changed = await exported(id);
    assert.equal(changed.components[1].document.description, 'changed here');
    assert.equal(changed.components[1].document.name, 'New site');
    assert.deepEqual(changed.components[0], given.components[0]);
  });

  it('are no change when they come again, nor does their export change anything; another service takes it', async () => {
    const id = '7e0a1b2c3d4e5f6071829311';
    const given = project(id);
    const { data } = await unpack(given);
    const there = await exported(id);
    for (const again of [given, there]) {
      const { message, data: after } = await unpack(again);
      assert.equal(message, 'The project is here already');
      assert.deepEqual(after, data);
    }
    // The form of the first project has the id: here it has another one, and the workflow names that.
    const [workflow, form] = (await shown(id)).components;
    assert.notEqual(form.reference, formId);
    assert.equal(workflow.document.tasks.a1.variables.incoming.form_id, form.reference);
    assert.deepEqual(there, fitting(given));

    const other = await startService();
    try {
      ok(await other.ask('POST', `${list}/import`, { project: there }));
      assert.deepEqual(ok(await other.ask('GET', `${list}/${id}/export`)).data, fitting(given));
    } finally {
      await other.stop();
    }
  });

  it('of other content are refused, replace what is there, or become others with new ids', async () => {
    const id = '7e0a1b2c3d4e5f6071829321';
    const given = project(id);
    const first = (await unpack(given)).data;
    const other = { ...project(id), name: 'Other sites', components: given.components.slice(0, 1) };
    refused(await ask('POST', `${list}/import`, { project: other }), 409, /_id/);
    assert.deepEqual(await exported(id), fitting(given));

    const another = (await unpack(other, { conflictMode: 'insert-new' })).data;
    assert.notEqual(another._id, id);
    const { document } = (await shown(another._id)).components[0];
    assert.equal(document.name, `@${another._id}: Open a site`);
    assert.equal(document.tasks.a2.variables.incoming.workflow, `@${another._id}: Close a site`);
    assert.deepEqual(await exported(id), fitting(given));

    const { data, metadata } = await unpack(other, { conflictMode: 'overwrite' });
    assert.equal(data.name, 'Other sites');
    assert.equal(data.components[0].reference, first.components[0].reference);
    assert.deepEqual(metadata.kept, []);
    assert.deepEqual(await exported(id), other);
    assert.ok(!(await names('/json-forms/forms')).includes(`@${id}: New site`));
  });

  it('take their components with them, but for those that something outside names', async () => {
    const id = '7e0a1b2c3d4e5f6071829331';
    await unpack(project(id));
    const automation = { name: 'Opening', componentType: 'workflows', componentName: `@${id}: Open a site` };
    ok(await ask('POST', '/operations-manager/automations', automation));
    const { metadata } = ok(await ask('DELETE', `${list}/${id}`));
    assert.deepEqual(
      metadata.deletedComponents.map(({ type }: { readonly type: string }) => type),
      ['jsonForm', 'mopCommandTemplate'],
    );
    assert.deepEqual(
      metadata.kept.map(({ name }: { readonly name: string }) => name),
      [`@${id}: Open a site`],
    );
    refused(await ask('GET', `${list}/${id}`), 404);
    assert.ok(!(await names('/mop/listTemplates')).includes(`@${id}: Pre`));
    assert.ok((await names('/operations-manager/workflows')).includes(`@${id}: Open a site`));

    // The workflow that stayed is taken in again.
    const back = await unpack(project(id));
    assert.equal(back.metadata.installed.length, 3);
    assert.deepEqual(await exported(id), fitting(project(id)));
    const kept = ok(await ask('DELETE', `${list}/${id}?components=keep`)).metadata;
    assert.deepEqual(kept.deletedComponents, []);
    assert.ok((await names('/mop/listTemplates')).includes(`@${id}: Pre`));
  });

  it('take a transformation with them that only their own workflows name', async () => {
    const id = '7e0a1b2c3d4e5f6071829351';
    const document = (n: number, name: string, more: object) => ({ _id: `7e0a1b2c3d4e5f607182936${n}`, name, ...more });
    const shape = document(1, 'Shape', { incoming: [], outgoing: [], steps: [], functions: [] });
    const task = {
      name: 'transformation',
      app: 'WorkFlowEngine',
      location: 'Application',
      variables: { incoming: { tr_id: shape._id } },
    };
    const flow = (n: number, name: string) =>
      document(n, name, { tasks: { workflow_start: {}, workflow_end: {}, a1: task }, transitions: {} });
    const components = [
      { iid: 0, type: 'transformation', folder: '/', reference: shape._id, document: shape },
      { iid: 1, type: 'workflow', folder: '/', reference: '', document: flow(2, 'Shaping') },
    ];
    const bring = () => unpack(project(id, { name: 'Shapes', components, folders: [] }));
    await bring();
    const outside = ok(await ask('POST', '/operations-manager/workflows', flow(3, 'Outside'))).data;
    const gone = async () => {
      const { metadata } = ok(await ask('DELETE', `${list}/${id}`));
      return metadata.deletedComponents.map(({ type }: { readonly type: string }) => type);
    };
    assert.deepEqual(await gone(), ['workflow']);
    ok(await ask('DELETE', `/operations-manager/workflows/${outside._id}`));
    await bring();
    assert.deepEqual(await gone(), ['transformation', 'workflow']);
    refused(await ask('GET', `/template_builder/transformations/${shape._id}`), 404);
  });

  it('keep members who are not here for exports', async () => {
    const id = '7e0a1b2c3d4e5f6071829341';
    const member = (username: string) => ({
      type: 'account',
      role: 'owner',
      reference: id,
      username,
      provenance: 'aaa',
    });
    const members = [member('nobody here')];
    const given = project(id, { members });
    const { data } = await unpack(given);
    assert.deepEqual(data.members, []);
    assert.deepEqual((await exported(id)).members, members);
  });

  it('become again what they were', async () => {
    const { data } = ok(await ask('POST', list, { name: 'Trier' }));
    const position = Number(
      (await ask('PATCH', `${list}/${data._id}`, { name: 'Bonn' })).headers.get('x-event-position'),
    );
    ok(await ask('DELETE', `${list}/${data._id}`));
    const restore = { kind: 'project', id: data._id, position };
    ok(await ask('POST', '/audit/restore', restore));
    assert.equal(ok(await ask('GET', `${list}/Bonn`)).data._id, data._id);
    ok(await ask('POST', '/audit/restore', { ...restore, position: position - 1 }));
    assert.equal(ok(await ask('GET', `${list}/${data._id}`)).data.name, 'Trier');
  });

  describe('in packages', () => {
    const install = (name: string, bundles: readonly object[], options: object = {}) =>
      ask('POST', '/prebuilts/import', { prebuilt: packed(name, bundles as never), options });
    const outcome = ({ installed, refused }: any) => [
      installed.map(({ type, name }: any) => `${type} ${name}`),
      refused.map(({ type, name, within, path }: any) => `${type} ${name} ${within} ${path}`),
    ];

    it('are unpacked, with the automation that names what they hold', async () => {
      const id = '7e0a1b2c3d4e5f6071829351';
      const given = { ...project(id), components: project(id).components.slice(1) };
      const automation = {
        _id: '7e0a1b2c3d4e5f6071829352',
        name: 'Open the site',
        description: '',
        componentType: null,
        componentName: null,
        gbac: {},
        triggers: [
          {
            _id: '7e0a1b2c3d4e5f6071829353',
            name: 'By hand',
            enabled: true,
            actionType: 'automations',
            actionId: '7e0a1b2c3d4e5f6071829352',
            type: 'manual',
            formId: `@${id}: New site`,
            formData: null,
          },
        ],
      };
      const bundles = [
        { type: 'automation', data: automation },
        { type: 'project', data: given },
      ];
      refused(
        await install('with a project', bundles, { strict: true }),
        400,
        /bundles\/1\/data\/components\/3\/document/,
      );
      const expected = [
        ['automation Open the site', 'project Sites', `json-forms @${id}: New site`, `mop-template @${id}: Pre`],
        ['template Bad Sites /prebuilt/bundles/1/data/components/3/document/template'],
      ];
      assert.deepEqual(outcome(ok(await install('with a project', bundles, { dryRun: true })).data), expected);
      assert.equal((await ask('GET', `${list}/${id}`)).status, 404);
      const { data } = ok(await install('with a project', bundles));
      assert.deepEqual(outcome(data), expected);
      const shownThere = ok(await ask('GET', '/operations-manager/automations/Open%20the%20site/export')).data;
      assert.equal(shownThere.triggers[0].formId, `@${id}: New site`);
      assert.deepEqual(
        (await shown(id)).components.map(({ name }: any) => name),
        [`@${id}: New site`, `@${id}: Pre`, 'Rack'],
      );
      assert.deepEqual(await exported(id), { ...given, components: given.components.slice(0, 3) });
      const out = ok(await ask('GET', `/prebuilts/${data._id}/export?as=imported`));
      assert.deepEqual(out.bundles, bundles);
      for (const again of [bundles, out.bundles])
        assert.equal(ok(await install('with a project', again)).message, 'The prebuilt is installed already');
      const { missing } = ok(await ask('GET', `/prebuilts/${data._id}/readiness`));
      assert.deepEqual(
        missing.map(({ kind, name }: any) => [kind, name]),
        [
          ['template', 'Bad'],
          ['workflow', ''],
        ],
      );
    });

    it('keep their secrets, are replaced on request, and are refused under the id of another project', async () => {
      const id = '7e0a1b2c3d4e5f6071829361';
      const task = { name: 'send', app: 'Mailer', variables: { incoming: { password: 'open sesame' } } };
      const flow = {
        name: 'Tell',
        tasks: { workflow_start: {}, workflow_end: {}, a1: task },
        transitions: { workflow_start: { a1: next }, a1: { workflow_end: next } },
      };
      const holding = (more: object) => ({ _id: id, name: 'Telling', token: 'shared', components: [], ...more });
      const component = { iid: 1, type: 'workflow', reference: 'x', folder: '/', document: flow };
      const bundles = [{ type: 'project', data: holding({ components: [component] }) }];
      const { data } = ok(await install('secretive', bundles));
      const out = await ask('GET', `/prebuilts/${data._id}/export?as=imported`);
      assert.doesNotMatch(out.text, /open sesame|shared/);
      const log = JSON.stringify(ok(await ask('GET', '/operations-manager/events?limit=100')));
      assert.doesNotMatch(log, /open sesame/);
      assert.deepEqual(data.missingSecrets, undefined);
      const [document] = (await shown(id)).components.map((one: any) => one.document);
      assert.equal(document.tasks.a1.variables.incoming.password, '********');

      const other = [
        { type: 'project', data: holding({ components: [] }) },
        { type: 'picture', data: { name: 'P' } },
      ];
      const taken = ok(await install('another', other)).data;
      assert.deepEqual(outcome(taken), [[], ['project Telling undefined /prebuilt/bundles/0/data/_id']]);
      const changed = { ...component, document: { ...flow, description: 'changed' } };
      const next2 = [{ type: 'project', data: holding({ components: [changed] }) }];
      refused(await install('secretive', next2), 409);
      ok(await install('secretive', next2, { overwrite: true }));
      assert.equal((await shown(id)).components[0].document.description, 'changed');
    });

    it('hide the package from those who may not read them', async () => {
      const id = '7e0a1b2c3d4e5f6071829371';
      const members = [{ type: 'account', role: 'owner', username: 'admin' }];
      const { data } = ok(await install('closed', [{ type: 'project', data: { ...fitting(project(id)), members } }]));
      const { member } = await people(service);
      assert.equal((await member('GET', `/prebuilts/${data._id}`)).status, 404);
      refused(await member('POST', '/prebuilts/import', { prebuilt: packed('closed', []) }), 409);
    });
  });
});
