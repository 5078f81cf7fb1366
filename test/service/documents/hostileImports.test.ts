import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok, refused } from '../../support/people.ts';
import { useService } from '../../support/useService.ts';

const mask = '********';
const configs = '/configuration_manager';

describe('imports of odd documents, over HTTP', () => {
  const service = useService();

  const exported = (path: string, words = '?as=imported') => service.ask('GET', `${path}/export${words}`);
  /** Whether a file of the log has the text. */
  const isStored = (text: string): boolean =>
    readdirSync(service.folder, { withFileTypes: true })
      .filter(({ name }) => name.startsWith('events.db'))
      .some(({ name }) => readFileSync(join(service.folder, name)).includes(text));

  const packageOf = (
    name: string,
    more: { readonly metadata?: object; readonly bundles?: readonly object[] } = {},
  ) => ({
    metadata: {
      name,
      version: '1',
      description: '',
      author: '',
      license: '',
      repository: { type: 'local', hostname: '', path: '' },
      PlatformDependencies: {},
      ...more.metadata,
    },
    manifest: { bundleName: name },
    bundles: more.bundles ?? [],
    readme: '',
  });
  const importPackage = (prebuilt: object, options = {}) =>
    service.ask('POST', '/prebuilts/import', { prebuilt, options });

  it('packages: secrets outside of the documents are sealed, kept by the mask, and missing elsewhere', async () => {
    const withSecret = (secret: string) => ({
      ...packageOf('Secretive', {
        metadata: { PlatformDependencies: { store: { token: secret } }, registry: { password: secret } },
        bundles: [{ type: 'integrationModel', data: { name: 'W' }, access: { apiKey: secret } }],
      }),
      login: { secret },
    });
    const { missingSecrets, _id } = ok(await importPackage(withSecret('in-the-clear'))).data;
    assert.equal(missingSecrets, undefined);
    assert.ok(!isStored('in-the-clear'));
    for (const words of ['', '?as=imported']) {
      const { text, body } = await exported(`/prebuilts/${_id}`, words);
      assert.doesNotMatch(text, /in-the-clear|sealed/);
      assert.deepEqual(body.login, { secret: mask });
      assert.equal(ok(await importPackage(body)).message, 'The prebuilt is installed already');
    }
    for (const path of ['/prebuilts', `/prebuilts/${_id}`])
      assert.doesNotMatch((await service.ask('GET', path)).text, /in-the-clear|sealed/);
    refused(await importPackage(withSecret('in-the-clear')), 409, /name/);
    const elsewhere = { ...withSecret(mask), metadata: { ...withSecret(mask).metadata, name: 'Elsewhere' } };
    assert.deepEqual(ok(await importPackage(elsewhere)).data.missingSecrets, [
      '/prebuilt/metadata/PlatformDependencies/store/token',
      '/prebuilt/metadata/registry/password',
      '/prebuilt/login/secret',
      '/prebuilt/bundles/0/access/apiKey',
    ]);
  });

  it('packages: an export can be imported, whatever the members of other products are and are called', async () => {
    const { manifest, ...rest } = packageOf('Odd', { metadata: { gitlabId: 1.5 } });
    const text = JSON.stringify({ ...rest, manifest: 0, 10: 'x' }).replace(
      '"manifest":0',
      `"manifest":{"2":0,"bundleName":${JSON.stringify(manifest.bundleName)},"1":1.0}`,
    );
    const { _id } = ok(await service.ask('POST', '/prebuilts/import', text)).data;
    for (const words of ['', '?as=imported']) {
      const export_ = (await exported(`/prebuilts/${_id}`, words)).text;
      assert.match(export_, /"manifest":{"2":0,"bundleName":"Odd","1":1.0/);
      ok(await service.ask('POST', '/prebuilts/import', export_));
    }
    const bad = packageOf('Bad', { metadata: { PlatformDependencies: undefined, otherDependencies: 'none' } });
    refused(await importPackage(bad), 400, /PlatformDependencies/);
  });

  it('packages: secrets of published golden configurations that are no texts', async () => {
    const root = { name: 'base', attributes: {}, children: [] };
    const data = { data: [{ name: 'Site', version: 'initial', root, variables: { auth: { pin: 'in-the-list' } } }] };
    const given = packageOf('Sites', { bundles: [{ type: 'golden-config', data }] });
    const { _id } = ok(await importPackage(given)).data;
    assert.ok(!isStored('in-the-list'));
    refused(await importPackage(given), 409, /name/);
    const again = (await exported(`/prebuilts/${_id}`)).body;
    assert.equal(ok(await importPackage(again)).message, 'The prebuilt is installed already');
  });

  it('golden configurations: a missing secret is listed, too, where the form of the document is another one', async () => {
    const node = { name: 'base', configId: 'a'.repeat(24), children: [] };
    const own = { name: 'Forms', versions: [{ name: 'initial', root: node, variables: { token: mask } }] };
    const published = {
      data: [
        {
          name: 'Forms',
          version: 'initial',
          root: { name: 'base', attributes: { configId: 'a'.repeat(24) }, children: [] },
          variables: { token: mask },
        },
      ],
    };
    const missing = async (tree: object) =>
      ok(await service.ask('POST', `${configs}/import/configs`, { trees: [tree], overwrite: true })).data[0]
        .missingSecrets;
    assert.deepEqual(await missing(own), ['/trees/0/versions/0/variables/token']);
    assert.deepEqual(await missing(published), ['/trees/0/data/0/variables/token']);
    assert.deepEqual(await missing(own), ['/trees/0/versions/0/variables/token']);
  });

  it('templates and triggers show no secret that an import has brought, and a change keeps it', async () => {
    const { _id } = ok(
      await service.ask('POST', '/template_builder/import/templates', {
        templates: [{ name: 'Tagged', template: '', tags: [{ tag_password: 'pa55' }] }],
      }),
    ).data[0].data;
    const trigger = {
      _id: 'd'.repeat(24),
      type: 'endpoint',
      name: 'Call',
      enabled: true,
      actionType: 'automations',
      actionId: 'c'.repeat(24),
      options: { call_secret: 'pa55' },
      verb: 'POST',
      routeName: 'call',
      schema: null,
      jst: { call_token: 'pa55' },
    };
    const automation = {
      _id: trigger.actionId,
      name: 'Calls',
      description: '',
      componentType: null,
      componentName: null,
      gbac: { read: [], write: [] },
      triggers: [trigger],
    };
    ok(await service.ask('PUT', '/operations-manager/automations', { automations: [automation] }));
    const paths = [`/template_builder/templates/${_id}`, `/operations-manager/triggers/${trigger._id}`] as const;
    const [tagged, call] = await Promise.all(paths.map(async (path) => ok(await service.ask('GET', path))));
    assert.deepEqual(tagged.tags, [{ tag_password: mask }]);
    assert.deepEqual([call.data.options, call.data.jst], [{ call_secret: mask }, { call_token: mask }]);
    const changed = [
      await service.ask('PUT', paths[0], { name: 'Tagged', tags: tagged.tags, description: 'x' }),
      await service.ask('PATCH', paths[1], { options: call.data.options, jst: call.data.jst, enabled: false }),
    ].map((answer) => ok(answer).data);
    assert.deepEqual(changed[0].tags, [{ tag_password: mask }]);
    assert.deepEqual(
      [changed[1].options, changed[1].jst, changed[1].enabled],
      [call.data.options, call.data.jst, false],
    );
    for (const name of ['tag_password', 'call_secret', 'call_token']) assert.ok(!isStored(`"${name}":"${mask}"`), name);
  });

  it('golden configurations and templates: the export of what replaced another id is no change', async () => {
    const routes = [
      [
        `${configs}/import/configs`,
        'trees',
        `${configs}/configs`,
        { versions: [{ name: 'initial', root: { name: 'base', configId: 'c'.repeat(24), children: [] } }] },
      ],
      ['/template_builder/import/templates', 'templates', '/template_builder/templates', { template: '' }],
    ] as const;
    for (const [path, member, list, more] of routes) {
      const name = `Replaced ${member}`;
      const take = (document: object, overwrite = false) =>
        service.ask('POST', path, { [member]: [document], overwrite });
      ok(await take({ _id: 'a'.repeat(24), name, ...more }));
      ok(await take({ _id: 'b'.repeat(24), name, ...more, further: 1 }, true));
      const again = (await exported(`${list}/${encodeURIComponent(name)}`)).body;
      assert.equal(again._id, 'b'.repeat(24));
      ok(await take(again));
    }
  });

  it('triggers: a form may get its choices when it is filled in', async () => {
    const schema = {
      type: 'object',
      title: '',
      properties: { site: { type: 'string', enum: [] }, size: { enum: [1] } },
    };
    ok(await service.ask('POST', '/json-forms/import/forms', { forms: [{ id: 'choices', name: 'Choices', schema }] }));
    const actionId = 'e'.repeat(24);
    const importing = (formData: object) => {
      const trigger = { _id: 'f'.repeat(24), type: 'manual', name: 'By hand', enabled: true, actionId };
      const triggers = [{ ...trigger, actionType: 'automations', formId: 'choices', formData }];
      const automation = { _id: actionId, name: 'Choosing', description: '', componentType: null, componentName: null };
      const automations = [{ ...automation, gbac: { read: [], write: [] }, triggers }];
      return service.ask('PUT', '/operations-manager/automations', { automations });
    };
    refused(await importing({ site: 'here', size: 2 }), 400, /formData\/size/);
    refused(await importing({ site: 5 }), 400, /formData\/site/);
    ok(await importing({ site: 'here', size: 1 }));
  });
});
