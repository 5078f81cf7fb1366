import {
  create,
  remove,
  type ServiceGroupEvent,
  serviceGroup,
} from '../../../src/domain/gateway-manager/serviceGroups.ts';
import { specification } from '../../support/given.ts';

const given = specification(serviceGroup);

const created: ServiceGroupEvent = {
  topic: 'serviceGroupCreated',
  data: { name: 'Push', cluster_id: '', description: '', is_default: false, groups: [], services: [] },
};

const known = { unknownGroups: [] };

const services = [
  { id: 'a', name: 'A' },
  { id: 'b', name: 'A' },
];

describe('service groups: decisions', () => {
  it('are created with every field', () => {
    given().when(create, { name: 'Push' }, known).then(created);
    const all = { name: 'Push', cluster_id: 'eu', description: 'd', is_default: true, services };
    given()
      .when(create, { ...all, groups: ['g', { name: 'g' }] }, known)
      .then({ topic: 'serviceGroupCreated', data: { ...all, groups: ['g'] } });
  });
  it('refuse groups that nobody has, and a service twice', () => {
    given()
      .when(create, { name: 'Push', groups: ['x', 'y'] }, { unknownGroups: ['x', 'y'] })
      .thenRefused('not_found', /x, y/);
    given()
      .when(create, { name: 'Push', services: [...services, { id: 'a', name: 'again' }] }, known)
      .thenRefused('invalid', /services\/2\/id/);
  });
  it('are deleted', () => given(created).when(remove, {}).then({ topic: 'serviceGroupDeleted', data: {} }));
});
