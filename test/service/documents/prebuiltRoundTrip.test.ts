import assert from 'node:assert/strict';
import fc from 'fast-check';
import { maskNamed } from '../../../src/domain/engine/secretFields.ts';
import type { Bundle, PrebuiltDocument } from '../../../src/domain/prebuilts/prebuiltSchemas.ts';
import { ok } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const maybe = <T>(member: string, value: fc.Arbitrary<T>) =>
  fc.option(
    value.map((one) => ({ [member]: one })),
    { nil: {} },
  );
/** Exports show secrets otherwise. */
const hasNoSecret = (value: unknown): boolean => maskNamed(value) === value;
/** JSON that bodies may hold: no `__proto__`, no integers beyond 2^53-1. */
const json = fc
  .jsonValue({ maxDepth: 3 })
  .filter((value) => hasNoSecret(value) && !/__proto__|\d{16}|e\+/.test(JSON.stringify(value)));
const object = fc
  .dictionary(
    fc.string({ minLength: 1, maxLength: 8 }).filter((key) => key !== '__proto__'),
    json,
    { maxKeys: 4 },
  )
  .filter(hasNoSecret);
let ids = 0;
/** Another id each time: packages of former runs are there still. */
const id = fc.constant(24).map((digits) => (++ids).toString(16).padStart(digits, '0'));
const all = (...some: readonly fc.Arbitrary<object>[]): fc.Arbitrary<Record<string, unknown>> =>
  fc.tuple(...some).map((members) => Object.assign({}, ...members));

/** A bundle whose document bears the name. */
const bundle = (name: string): fc.Arbitrary<Bundle> =>
  fc.oneof(
    fc.record({
      type: fc.constantFrom('forms', 'json-forms'),
      data: all(
        fc.constant({ name }),
        maybe('_id', id),
        maybe('description', fc.option(text)),
        maybe('uiSchema', object),
        maybe('tags', fc.array(json, { maxLength: 3 })),
        maybe('version', text),
        maybe('createdBy', text),
      ),
    }),
    fc.record({
      type: fc.constant('template'),
      data: all(
        fc.constant({ name }),
        fc.record({ template: text }),
        maybe('_id', id),
        maybe('data', object),
        maybe('group', text),
        maybe('tags', fc.array(json, { maxLength: 3 })),
      ),
    }),
    fc.record({
      type: fc.constantFrom('mop-template', 'mop-analytic-template'),
      data: all(
        fc.constant({ name }),
        maybe('_id', id),
        maybe('description', text),
        maybe('passRule', fc.boolean()),
        maybe('created', fc.nat()),
      ),
    }),
    fc.record({
      type: fc.constant('golden-config'),
      data: all(
        fc.constant({ name }),
        maybe('_id', id),
        fc.record({
          versions: fc.uniqueArray(fc.constantFrom('initial', 'v2', 'v3'), { minLength: 1 }).chain((versions) =>
            fc.tuple(
              ...versions.map((version) =>
                all(
                  fc.record({
                    root: fc
                      .tuple(id, fc.uniqueArray(id, { maxLength: 3 }))
                      .filter(([root, below]) => !below.includes(root))
                      .map(([configId, below]) => ({
                        name: 'base',
                        configId,
                        children: below.map((child) => ({ name: child, configId: child, children: [] })),
                      })),
                  }),
                  fc.constant({ name: version }),
                  maybe('variables', object),
                ),
              ),
            ),
          ),
        }),
      ),
    }),
    id.chain((_id) =>
      fc.record({
        type: fc.constant('automation'),
        data: all(
          fc.constant({ _id, name, componentType: null, componentName: null }),
          fc.record({
            description: text,
            gbac: fc.constantFrom({}, { read: [], write: [] }, { write: ['operators'] }),
          }),
          maybe(
            'triggers',
            fc.uniqueArray(id, { maxLength: 2 }).chain((ids) =>
              fc.tuple(
                ...ids.map((trigger) =>
                  all(
                    fc.constant({
                      _id: trigger,
                      name: trigger,
                      actionType: 'automations',
                      actionId: _id,
                      type: 'manual',
                      formId: null,
                    }),
                    fc.record({ enabled: fc.boolean(), formData: fc.option(object) }),
                  ),
                ),
              ),
            ),
          ),
        ),
      }),
    ),
    fc.record({
      type: fc.constantFrom('adapter', 'integration', 'integration-model'),
      data: object,
    }),
  ) as fc.Arbitrary<Bundle>;

/** Packages of any shape. */
const packages = (run: () => number): fc.Arbitrary<PrebuiltDocument> =>
  fc
    .nat(6)
    .chain((size) =>
      fc.record({
        metadata: all(
          fc.constant({ name: '' }),
          fc.record({
            version: text,
            description: text,
            author: text,
            license: text,
            repository: all(maybe('type', fc.constantFrom('local', 'git', 'hosted_git')), maybe('path', text)),
            PlatformDependencies: object,
          }),
          maybe('keywords', fc.array(text, { maxLength: 3 })),
          maybe('hostedGitId', fc.nat()),
        ),
        manifest: all(
          fc.record({ bundleName: text }),
          maybe(
            'artifacts',
            fc.array(all(maybe('id', text), maybe('type', fc.constantFrom('forms', 'workflow'))), { maxLength: 2 }),
          ),
          maybe('fingerprint', text),
          maybe('createdEpoch', text),
        ),
        bundles: fc.tuple(...Array.from({ length: size }, (_, i) => bundle(`document ${i}`))),
        readme: text,
      }),
    )
    .map((whole) => {
      // So must their names be.
      const mark = `run ${run()}`;
      const bundles = whole.bundles.map((one) =>
        'name' in one.data ? { ...one, data: { ...one.data, name: `${mark} ${String(one.data.name)}` } } : one,
      );
      return JSON.parse(
        JSON.stringify({ ...whole, metadata: { ...whole.metadata, name: mark }, bundles }),
      ) as PrebuiltDocument;
    });

describe('What is exported of a prebuilt', function () {
  this.timeout(300_000);
  const services: TestService[] = [];
  before(async () => {
    for (let i = 0; i < 2; i++) services.push(await startService());
  });
  after(async () => {
    for (const service of services) await service.stop();
  });

  it('is the package as it came, and installs elsewhere as the same', async () => {
    let runs = 0;
    const [here, elsewhere] = services as [TestService, TestService];
    const install = async (service: TestService, prebuilt: PrebuiltDocument) =>
      ok(await service.ask('POST', '/prebuilts/import', { prebuilt }));
    const exported = async (
      service: TestService,
      { metadata: { name } }: PrebuiltDocument,
    ): Promise<PrebuiltDocument> => ok(await service.ask('GET', `/prebuilts/${encodeURIComponent(name)}/export`));
    await fc.assert(
      fc.asyncProperty(
        packages(() => ++runs),
        async (given) => {
          const { status, data } = await install(here, given);
          assert.equal(status, 'Created');
          assert.equal(data.installed.length + data.kept.length, given.bundles.length);
          const out = await exported(here, given);
          const { artifacts, fingerprint, createdEpoch } = out.manifest;
          assert.deepEqual(out, { ...given, manifest: { artifacts, fingerprint, createdEpoch, ...given.manifest } });
          assert.equal((await install(here, out)).status, 'OK');
          assert.deepEqual(await exported(here, given), out);
          await install(elsewhere, out);
          assert.deepEqual(await exported(elsewhere, given), out);
        },
      ),
      { numRuns: process.env.SOAK_ROUNDS ? 200 : 10, endOnFailure: true },
    );
  });
});
