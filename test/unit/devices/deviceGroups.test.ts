import { decideImport, deviceGroupImport } from '../../../src/domain/configuration-manager/deviceGroupImports.ts';
import {
  addDevices,
  create,
  deviceGroup,
  remove,
  removeDevices,
  update,
} from '../../../src/domain/configuration-manager/deviceGroups.ts';
import { specification } from '../../support/given.ts';

const content = { name: 'Edge', description: '', devices: ['edge-01', 'edge-02'] };

describe('A device group', () => {
  const given = specification(deviceGroup);
  const created = { topic: 'deviceGroupCreated', data: content } as const;

  it('is made of devices that count once each', () => {
    given()
      .when(create, { name: 'Edge', devices: ['edge-01', 'edge-02', 'edge-01'] })
      .then(created);
    given()
      .when(create, { name: 'Edge', description: 'Of nothing' })
      .then({ topic: 'deviceGroupCreated', data: { name: 'Edge', description: 'Of nothing', devices: [] } });
  });
  it('changes the members that are given', () => {
    const refs = { referrers: [{ kind: 'compliance plan', name: 'Weekly' }] };
    const asked = { topic: 'deviceGroupUpdated', data: { devices: [], query: { tags: ['core'] } } } as const;
    given(created)
      .when(update, { devices: ['edge-03'], description: null }, refs)
      .then({ topic: 'deviceGroupUpdated', data: { devices: ['edge-03'] } });
    given(created)
      .when(update, { query: { tags: ['Core', 'core'] } }, refs)
      .then(asked);
    given(created, asked)
      .when(update, { devices: [] }, refs)
      .then({ topic: 'deviceGroupUpdated', data: { query: null } });
    given(created, asked)
      .when(update, { name: 'Edge', query: { tags: ['CORE'] } }, refs)
      .thenNothing();
    given(created)
      .when(update, { name: 'Rim' }, refs)
      .thenRefused('conflict', /Weekly/);
    given(created)
      .when(update, { devices: [], query: { ostype: 'eos' } }, refs)
      .thenRefused('invalid', /query/);
    given(created, asked)
      .when(addDevices, { devices: ['edge-03'] })
      .thenRefused('conflict', /query/);
    given(created)
      .when(addDevices, { devices: ['edge-02', 'edge-03', 'edge-03'] })
      .then({ topic: 'deviceGroupUpdated', data: { added: ['edge-03'] } });
    given(created)
      .when(removeDevices, { devices: ['edge-02', 'edge-09'] })
      .then({ topic: 'deviceGroupUpdated', data: { removed: ['edge-02'] } });
    given(created, { topic: 'deviceGroupUpdated', data: { added: ['edge-02'] } })
      .when(removeDevices, { devices: ['edge-09'] })
      .thenNothing();
  });
  it('goes unless a plan names it', () => {
    given(created).when(remove, {}, { referrers: [] }).then({ topic: 'deviceGroupDeleted', data: {} });
    given(created)
      .when(remove, {}, { referrers: [{ kind: 'compliance plan', name: 'Weekly' }] })
      .thenRefused('conflict', /Weekly/);
  });
});

describe('An import of device groups', () => {
  const given = specification(deviceGroupImport);
  const refs = (...groups: (typeof content)[]) => ({
    existing: new Map(groups.map((group) => [group.name, group])),
    ids: new Set<string>(),
    accounts: {},
  });
  const core = { name: 'Core', devices: ['core-01'] };

  it('is one decision on all that are new', () =>
    given()
      .when(decideImport, { groups: [core, content] }, refs(content))
      .then({
        topic: 'deviceGroupsImported',
        data: { groups: [{ _id: 'id of device group Core', name: 'Core', description: '', devices: ['core-01'] }] },
      }));
  it('of what is there already is nothing, whatever the order of devices', () => {
    given()
      .when(decideImport, { groups: [{ ...content, devices: ['edge-02', 'edge-01', 'edge-02'] }] }, refs(content))
      .thenNothing();
    given().when(decideImport, { groups: [] }, refs()).thenNothing();
  });
  it('names all that have other content', () =>
    given()
      .when(
        decideImport,
        { groups: [core, { ...content, devices: [] }, { name: 'DMZ', description: 'x' }] },
        refs(content, { ...content, name: 'DMZ' }),
      )
      .thenRefused('conflict', /Edge, DMZ.*groups\/1.*groups\/2/));
  it('refuses names that it has twice', () =>
    given()
      .when(decideImport, { groups: [core, content, core] }, refs())
      .thenRefused('invalid', /groups\/2\/name/));
});
