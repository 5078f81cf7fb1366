import {
  create,
  type RoleContent,
  type RoleRefs,
  remove,
  role,
  update,
} from '../../../src/domain/authorization/roles.ts';
import { specification } from '../../support/given.ts';

const method = (name: string) => ({ provenance: 'mop', name });
const refs: RoleRefs = { methods: [method('exportTemplate'), method('createTemplate')], referrers: [] };
const viewer: RoleContent = { name: 'viewer', description: '', allowedMethods: [method('exportTemplate')] };
const given = specification(role);
const created = { topic: 'roleCreated', data: viewer } as const;

describe('roles', () => {
  it('list methods, each once', () =>
    given()
      .when(create, { name: 'viewer', allowedMethods: [method('exportTemplate'), method('exportTemplate')] }, refs)
      .then(created));
  it('name all methods that there are not', () =>
    given()
      .when(
        create,
        {
          name: 'viewer',
          allowedMethods: [method('a'), method('exportTemplate'), { provenance: 'x', name: 'createTemplate' }],
        },
        refs,
      )
      .thenRefused('not_found', /mop\/a.*allowedMethods\/0.*x\/createTemplate.*allowedMethods\/2/s));
  it('replace their list', () =>
    given(created)
      .when(update, { allowedMethods: [method('createTemplate')] }, refs)
      .then({ topic: 'roleUpdated', data: { allowedMethods: [method('createTemplate')] } }));
  it('may keep a method that is no more', () =>
    given(created)
      .when(update, { allowedMethods: [method('exportTemplate')], description: 'x' }, { ...refs, methods: [] })
      .then({ topic: 'roleUpdated', data: { description: 'x' } }));
  it('that change to what they are do nothing', () =>
    given(created).when(update, { name: 'viewer' }, refs).thenNothing());
  it('that are referred to cannot be renamed', () =>
    given(created)
      .when(update, { name: 'x' }, { ...refs, referrers: [{ kind: 'group', name: 'noc' }] })
      .thenRefused('conflict', /noc/));
  it('that are referred to cannot be deleted', () =>
    given(created)
      .when(remove, {}, { ...refs, referrers: [{ kind: 'group', name: 'noc' }] })
      .thenRefused('conflict', /noc/));
  it('can be deleted', () => given(created).when(remove, {}, refs).then({ topic: 'roleDeleted', data: {} }));
});
