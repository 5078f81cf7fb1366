import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exactText, exactValue, isObject } from '@automation-platform/json';
import { isSecretOfDocument } from '../../../src/domain/engine/secretFields.ts';
import { ok } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';

const folder = process.env.TEST_PUBLISHED_PACKAGES ?? '';

const files = folder === '' ? [] : readdirSync(folder).filter((name) => name.endsWith('.json'));

/** The JSON text with real secrets as an export shows them. */
const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(masked);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isSecretOfDocument(name, value) && member !== '' && member !== null ? '********' : masked(member),
    ]),
  );
};

/** The service for the n-th package of a name: versions of one package have the same name, and much else in common. */
const services: TestService[] = [];
const versions = new Map<string, number>();
const serviceFor = async (name: string): Promise<TestService> => {
  const version = versions.get(name) ?? 0;
  versions.set(name, version + 1);
  services[version] ??= await startService();
  return services[version];
};

/** Packages that others have published: TEST_PUBLISHED_PACKAGES names a folder with one in each file. */
describe('published packages', () => {
  before(function () {
    if (files.length === 0) this.skip();
  });
  after(async () => {
    for (const service of services) await service.stop();
  });

  for (const file of files.length > 0 ? files : ['TEST_PUBLISHED_PACKAGES names no folder of them'])
    it(`${file}: in, out equal, in again without a change`, async () => {
      const text = readFileSync(join(folder, file), 'utf8').replace(/^\ufeff/, '');
      const prebuilt = exactValue(text);
      const brought = exactText(prebuilt);
      const wanted = exactText(masked(prebuilt));
      const { name } = JSON.parse(text).metadata;
      const service = await serviceFor(name);
      const { data } = ok(await service.ask('POST', '/prebuilts/import', `{"prebuilt":${brought}}`));
      assert.deepEqual(data.refused, []);
      const back = await service.ask('GET', `/prebuilts/${data._id}/export?as=imported`);
      assert.equal(exactText(exactValue(back.text)), wanted);
      // A secret in clear is other content, even if it is the right one.
      const agains = brought === wanted ? [brought, back.text] : [back.text];
      for (const again of agains) {
        const answer = ok(await service.ask('POST', '/prebuilts/import', `{"prebuilt":${again}}`));
        assert.equal(answer.message, 'The prebuilt is installed already');
      }
    });
});
