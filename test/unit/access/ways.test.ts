import assert from 'node:assert/strict';
import { type Memberships, waysOf } from '../../../src/http/authentication/ways.ts';

const at = '2026-01-01T00:00:00.000Z';
const signed = { created: at, lastUpdated: at };
const group = (name: string, memberOf: readonly string[] = [], assignedRoles: readonly string[] = []) =>
  ({ _id: name, name, provenance: 'local', description: '', memberOf, assignedRoles, ...signed }) as any; // only what ways need
const role = (name: string) => ({ _id: name, name, description: '', allowedMethods: [], ...signed }) as any; // as above

const ofAnna = (more: Partial<Memberships> & { readonly own?: object }): Memberships => ({
  account: { provenance: 'corp', memberOf: [], assignedRoles: [], externalGroups: [], ...more.own } as any, // as above
  mappings: [],
  groups: [],
  roles: [],
  ...more,
});

describe('ways to rights', () => {
  it('are all that there are: assigned, by groups above groups, and by mappings', () => {
    const memberships = ofAnna({
      own: { memberOf: ['noc'], assignedRoles: ['viewer'] },
      mappings: [{ provenance: 'corp', externalGroup: 'Net', platformGroups: ['tier', 'noc'] }] as any, // as above
      groups: [
        group('noc', ['staff'], ['viewer']),
        ...[group('staff', ['readers'], ['guest']), group('tier', ['staff']), group('readers')],
      ],
      roles: [role('viewer'), role('guest')],
    });
    const net = { by: 'mapping', provenance: 'corp', externalGroup: 'Net' };
    assert.deepEqual(waysOf(memberships, []), {
      adminBy: [],
      groups: [
        {
          name: 'readers',
          ways: [
            { by: 'group', group: 'readers' },
            { ...net, group: 'readers' },
          ],
        },
      ],
      roles: [
        { name: 'viewer', ways: [{ by: 'assigned' }, { by: 'group', group: 'noc' }, { ...net, group: 'noc' }] },
        {
          name: 'guest',
          ways: [
            { by: 'group', group: 'staff' },
            { ...net, group: 'staff' },
          ],
        },
      ],
    });
  });

  it('to the rights of an admin follow the groups that the profile names, and end in circles', () => {
    const memberships = ofAnna({
      own: { memberOf: ['a'] },
      groups: [group('a', ['b']), group('b', ['a', 'admins']), group('admins')],
    });
    assert.deepEqual(waysOf(memberships, []).adminBy, [{ by: 'group', group: 'admins' }]);
    assert.deepEqual(waysOf(memberships, ['b']).adminBy, [{ by: 'group', group: 'b' }]);
    assert.deepEqual(waysOf(memberships, [{ group: 'b', provenance: 'corp' }]).adminBy, []);
  });
});
