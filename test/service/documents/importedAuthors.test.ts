import assert from 'node:assert/strict';
import { exactText, exactValue, type Members } from '@automation-platform/json';
import fc from 'fast-check';
import { withMembers, withoutMembers } from '../../../src/domain/engine/exactMembers.ts';
import { automations } from '../../support/foreign/automations.ts';
import { analyticTemplates, commandTemplates } from '../../support/foreign/commandTemplates.ts';
import { forms, oldForms } from '../../support/foreign/forms.ts';
import type { Kind, Request } from '../../support/foreign/kind.ts';
import { scheduledJobs } from '../../support/foreign/scheduledJobs.ts';
import { templates } from '../../support/foreign/templates.ts';
import { ownTrees, publishedTrees } from '../../support/foreign/trees.ts';
import { positionOf } from '../../support/hostile.ts';
import { sampled } from '../../support/sample.ts';
import { useService } from '../../support/useService.ts';

type Sign = (document: Members, signature: Members) => Members;
type Signed = Kind & {
  /** The document with these times and authors. */
  readonly sign: Sign;
  /** Times as the kind has them. */
  readonly at: (time: string) => unknown;
};

const iso = (time: string): string => time;
const signedKinds: readonly Signed[] = [
  ...[commandTemplates, analyticTemplates].map((kind) => ({ ...kind, sign: withMembers, at: Date.parse })),
  ...[templates, forms, oldForms, ownTrees, automations].map((kind) => ({ ...kind, sign: withMembers, at: iso })),
  {
    ...publishedTrees,
    sign: (document, signature) => {
      const [first, ...others] = document.data as readonly Members[];
      return withMembers(document, { data: [withMembers(first ?? {}, signature), ...others] });
    },
    at: iso,
  },
  // Without an id of its own, a job with other times is another job.
  { ...scheduledJobs, sign: (job, signature) => withMembers(job, { _id: `id of ${job.name}`, ...signature }), at: iso },
];

const replacing = ({ body = '', ...request }: Request): Request => ({
  ...request,
  body: `${body.slice(0, -1)},"overwrite":true}`,
});

const ada = { _id: '5aaaaaaaaaaaaaaaaaaaaaaa', username: 'ada', firstname: 'Ada', provenance: 'Local AAA' };

describe('imports with overwrite bring times and authors, over HTTP', () => {
  const service = useService();

  const asked = async ({ method, path, body }: Request) => {
    const answer = await service.ask(method, path, body);
    assert.equal(answer.status, 200, `${answer.text}\n${body}`);
    return answer;
  };

  /** Whether the request stores an event. */
  const stores = async (request: Request): Promise<boolean> => {
    const before = await positionOf(service);
    await asked(request);
    return (await positionOf(service)) > before;
  };

  for (const {
    name,
    documents,
    importing,
    exporting,
    inside = (text: string) => text,
    needs = [],
    sign,
    at,
  } of signedKinds)
    it(`${name}: other times, other authors, other words for them`, async () => {
      for (const request of needs) await asked(request);
      const sample = sampled(fc.sample(documents, { numRuns: 8, seed: 13 }), 1);
      const exportIn = async (document: Members, words: '' | '?as=imported'): Promise<string> => {
        const { path, body, ...request } = exporting(document);
        const options = words === '' ? body?.replace(',"as":"imported"', '') : body;
        const { text } = await asked({
          ...request,
          path: path.replace('?as=imported', words),
          ...(body && { body: options! }),
        });
        return exactText(exactValue(inside(text)));
      };
      for (const document of sample) {
        const first = { created: at('2020-01-01T00:00:00.000Z'), createdBy: 'ada', lastUpdatedBy: ada };
        const times = { created: at('2020-01-01T00:00:00.000Z'), lastUpdated: at('2021-02-03T04:05:06.789Z') };
        const versions: readonly Members[] = [
          first,
          { ...first, ...times },
          { ...first, ...times, createdBy: ada },
          { ...first, ...times, createdBy: ada, lastUpdatedBy: 'bob' },
          ...(at === iso ? [{ ...first, ...times, created: '2020-01-01T01:00:00+01:00' }] : []),
        ].map((signature) =>
          sign(
            withoutMembers(document, (member) => member in { ...first, ...times }),
            signature,
          ),
        );
        for (const version of versions) {
          const request = replacing(importing(exactText(version)));
          assert.ok(await stores(request), `nothing is stored: ${request.body}`);
          assert.equal(await exportIn(version, '?as=imported'), exactText(version));
          assert.ok(!(await stores(request)), `stored again: ${request.body}`);
        }
        const last = versions.at(-1)!;
        for (const words of ['?as=imported', ''] as const) {
          const again = importing(await exportIn(last, words));
          for (const request of [again, replacing(again)])
            assert.ok(!(await stores(request)), `an export is a change: ${request.body}`);
        }
        assert.equal(await exportIn(last, '?as=imported'), exactText(last));
      }
    });

  it('packages: those of their documents', async () => {
    const form = { id: '1', name: 'Site', created: '2020-01-01T00:00:00.000Z', createdBy: ada };
    const ofTemplate = { name: 'Banner', template: '', lastUpdated: '2020-01-01T00:00:00.000Z', lastUpdatedBy: ada };
    const actionId = '5bbbbbbbbbbbbbbbbbbbbbbb';
    const trigger = { _id: '5ccccccccccccccccccccccc', type: 'manual', name: 'By hand', enabled: true, actionId };
    const automation = (created: string) => ({
      _id: actionId,
      name: 'Deploy',
      description: '',
      componentType: null,
      componentName: null,
      gbac: { read: [], write: [] },
      triggers: [{ ...trigger, actionType: 'automations', formId: null, formData: null, created }],
    });
    const packageOf = (...documents: readonly object[]): Request => ({
      method: 'POST',
      path: '/prebuilts/import',
      body: JSON.stringify({
        prebuilt: {
          metadata: {
            name: 'Sites',
            version: '1',
            description: '',
            author: '',
            license: '',
            repository: { type: 'local', hostname: '', path: '' },
            PlatformDependencies: {},
          },
          manifest: { bundleName: 'Sites', artifacts: [] },
          bundles: documents.map((data, i) => ({ type: ['json-forms', 'template', 'automation'][i], data })),
          readme: '',
        },
        options: { overwrite: true },
      }),
    });
    const laterForm = { ...form, created: '2021-01-01T00:00:00.000Z', createdBy: 'ada' };
    const laterTemplate = { ...ofTemplate, lastUpdatedBy: 'bob' };
    const [earlier, later] = ['2020-01-01T00:00:00.000Z', '2021-01-01T00:00:00.000Z'].map(automation);
    assert.ok(await stores(packageOf(form, ofTemplate, earlier!)));
    const next = packageOf(laterForm, laterTemplate, later!);
    assert.ok(await stores(next));
    assert.ok(!(await stores(next)));
    for (const [path, document] of [
      ['/json-forms/forms/Site', laterForm],
      ['/template_builder/templates/Banner', laterTemplate],
    ] as const)
      assert.deepEqual((await asked({ method: 'GET', path: `${path}/export?as=imported` })).body, document);
    const { data } = (
      await asked({ method: 'GET', path: `/operations-manager/automations/${actionId}/export?as=imported` })
    ).body;
    assert.deepEqual(data, later);
  });
});
