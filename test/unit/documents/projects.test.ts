import assert from 'node:assert/strict';
import {
  complete,
  decideImport,
  type ProjectRefs,
  project,
  remove,
  update,
  withoutProject,
  withProject,
} from '../../../src/domain/automation-studio/projects.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { maskBundle } from '../../../src/domain/prebuilts/prebuiltSecrets.ts';
import { specification } from '../../support/given.ts';

const id = '7e0a1b2c3d4e5f6071829301';
const ids = new Map([['7e0a1b2c3d4e5f6071829302', '7e0a1b2c3d4e5f6071829303']]);

describe('A project', () => {
  const given = specification(project);
  const authors = { created: '2026', createdBy: null, lastUpdated: '2026', lastUpdatedBy: null };
  const content = {
    project: { name: 'Sites', components: [] },
    components: [{ around: { type: 'jsonForm', document: {} }, prefixed: false, category: 'form', id: 'f' }],
    ids: {},
    digest: 'abc',
    bundles: [{ type: 'json-forms', data: { name: 'F' } }],
    parts: [{ category: 'form', id: 'f', names: [{ kind: 'form', name: 'F' }], bundle: 0 }],
    removed: [],
    installed: [{ type: 'jsonForm', _id: 'f', name: 'F' }],
    staying: [],
    failed: [],
    accounts: {},
  };
  const refs: ProjectRefs = { ...content, errors: [], bringsSecrets: false, members: [], authors };
  const imported = { topic: 'projectImported', data: { ...content, ...authors } } as const;
  const completed = { topic: 'projectCompleted', data: {} } as const;
  const other = { ...refs, digest: 'other', project: { name: 'Other', components: [] } };

  it('is unpacked by one event, which the same document does not repeat', () => {
    given().when(decideImport, {}, refs).then(imported);
    given(imported, completed)
      .when(decideImport, {}, { ...refs, parts: [] })
      .thenNothing();
    given(imported, completed)
      .when(decideImport, { conflictMode: 'overwrite' as const }, { ...refs, parts: [] })
      .thenNothing();
    given(imported, completed)
      .when(decideImport, {}, { ...refs, digest: 'of its export', parts: [] })
      .thenNothing();
  });

  it('is replaced by other content, or by a secret in clear, only when told to', () => {
    given(imported, completed).when(decideImport, {}, other).thenRefused('conflict', /_id/);
    given(imported, completed)
      .when(decideImport, {}, { ...refs, bringsSecrets: true })
      .thenRefused('conflict', /_id/);
    given(imported, completed)
      .when(decideImport, { conflictMode: 'overwrite' as const }, other)
      .then({ topic: 'projectImported', data: { ...imported.data, digest: 'other', project: other.project } });
  });

  it('is left alone while it is unpacked, and promises names as long', () => {
    const pending = { exists: true, project: {}, components: [], ids: {}, pending: content.parts };
    assert.deepEqual(project.reservations!(pending), [{ owner: 'form-f', name: { kind: 'form', name: 'F' } }]);
    given(imported).when(decideImport, {}, refs).thenRefused('unavailable');
    given(imported).when(update, { name: 'x' }).thenRefused('unavailable');
    given(imported).when(remove, {}, { removed: [], staying: [] }).thenRefused('unavailable');
    given(imported).when(complete, {}).then(completed);
    given(imported, completed).when(complete, {}).thenNothing();
  });

  it('is refused with members who are here, and with strict for one component', () => {
    given()
      .when(decideImport, {}, { ...refs, members: ['nora'] })
      .thenRefused('unprocessable', /nora/);
    given(imported, completed)
      .when(update, { members: [{ username: 'nora' }] })
      .thenRefused('unprocessable', /nora/);
    const errors = [{ index: 1, error: new RequestError('invalid', 'It does not fit') }];
    given()
      .when(decideImport, { strict: true }, { ...refs, errors })
      .thenRefused('invalid');
    given()
      .when(decideImport, {}, { ...refs, errors })
      .then(imported);
    given()
      .when(decideImport, {}, { ...refs, errors, components: [] })
      .thenRefused('invalid');
  });

  it('gives its documents names and ids of here, and takes them away again', () => {
    const document = {
      name: 'F',
      form: '7e0a1b2c3d4e5f6071829302',
      said: 'not 7e0a1b2c3d4e5f6071829302',
      deep: [{ of: `@${id}: W` }],
    };
    const here = withProject(document, { ids, from: id, to: id });
    assert.deepEqual(here, { ...document, name: `@${id}: F`, form: '7e0a1b2c3d4e5f6071829303' });
    const back = Object.fromEntries([...ids].map(([came, now]) => [now, came]));
    assert.deepEqual(withoutProject(here, id, false, back), document);
    const named = { name: `@${id}: F` };
    assert.deepEqual(withProject(named, { ids, from: id, to: id }), named);
    assert.deepEqual(withoutProject(named, id, true, {}), named);
    const another = withProject(document, { ids: new Map(), from: id, to: 'a'.repeat(24) });
    assert.deepEqual([another.name, another.deep], [`@${'a'.repeat(24)}: F`, [{ of: `@${'a'.repeat(24)}: W` }]]);
  });

  it('shows of a workflow all that is no secret of a task', () => {
    const data = {
      name: 'W',
      tasks: { a1: { variables: { incoming: { password: 'clear' } } } },
      transitions: {},
      inputSchema: { example: { key: 'FP-5' } },
    };
    const shown = maskBundle({ type: 'workflow', data }).data;
    assert.deepEqual(shown, { ...data, tasks: { a1: { variables: { incoming: { password: '********' } } } } });
  });
});
