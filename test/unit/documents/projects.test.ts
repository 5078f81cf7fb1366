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
import { fold } from '../../../src/domain/engine/core.ts';
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
  const refs: ProjectRefs = { ...content, errors: [], bringsSecrets: false, access: [], authors };
  const imported = { topic: 'projectImported', data: { ...content, ...authors } } as const;
  const unnamed = { access: undefined, absent: [] };
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
    given(imported).when(update, { name: 'x' }, unnamed).thenRefused('unavailable');
    given(imported).when(remove, {}, { removed: [], staying: [] }).thenRefused('unavailable');
    given(imported).when(complete, {}).then(completed);
    given(imported, completed).when(complete, {}).thenNothing();
  });

  const of = (type: string, who: string, role: string) => ({ type, id: who, role });
  const access = [of('account', 'nora', 'owner'), of('group', 'noc', 'operator'), of('group', 'all', 'viewer')];
  const closed = { topic: 'projectImported', data: { ...imported.data, access } } as const;

  it('keeps those of its members who are here, and lets them do what their roles say', () => {
    given()
      .when(decideImport, {}, { ...refs, access })
      .then(closed);
    const state = fold(project, [closed]);
    assert.deepEqual(project.gbac!(state), {
      read: ['noc', 'all'],
      write: [],
      accounts: { read: ['nora'], write: ['nora'] },
    });
    assert.deepEqual(project.gbacBelow!(state, 'run').write, ['noc']);
    assert.deepEqual(project.gbacBelow!(state, 'change').write, []);
    assert.deepEqual(project.gbac!(project.initial), { read: [], write: [], accounts: { read: [], write: [] } });
  });

  it('stays closed when a document comes that names nobody who is here', () => {
    given(closed, completed)
      .when(decideImport, { conflictMode: 'overwrite' as const }, other)
      .then({ topic: 'projectImported', data: { ...closed.data, digest: 'other', project: other.project } });
    assert.deepEqual(
      fold(project, [closed, { topic: 'projectDeleted', data: { removed: [], staying: [] } }]).access,
      access,
    );
  });

  it('gets other members, if all of them are here and one is an owner', () => {
    const nora = { type: 'account' as const, username: 'nora', role: 'owner' as const };
    const owned = { access: [of('account', 'nora', 'owner')], absent: [] };
    const changed = { topic: 'projectChanged', data: { changed: { members: [nora] }, access: owned.access } } as const;
    given(imported, completed)
      .when(update, { members: [nora] }, owned)
      .then(changed);
    given(imported, completed, changed)
      .when(update, { members: [nora] }, owned)
      .thenNothing();
    given(imported, completed)
      .when(update, { members: [nora] }, { access: [], absent: [0] })
      .thenRefused('not_found', /members\/0/);
    given(imported, completed)
      .when(update, { members: [nora] }, { access: [of('account', 'nora', 'editor')], absent: [] })
      .thenRefused('invalid', /members/);
    given(imported, completed, changed)
      .when(update, { members: [] }, { access: [], absent: [] })
      .then({ topic: 'projectChanged', data: { changed: { members: [] }, access: [] } });
  });

  it('is refused with strict for one component', () => {
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
