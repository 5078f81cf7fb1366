import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok, refused } from './people.ts';
import { startService, type TestService } from './service.ts';

const mask = '********';
const configs = '/configuration_manager';

describe('imports of odd documents, over HTTP', () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const exported = (path: string, words = '?as=imported') => service.ask('GET', `${path}/export${words}`);
  /** Whether a file of the service has the text. */
  const isStored = (text: string): boolean =>
    readdirSync(service.folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
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
        bundles: [{ type: 'workflow', data: { name: 'W' }, access: { apiKey: secret } }],
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
    const text = JSON.stringify({ ...rest, manifest: 0 }).replace(
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
});
