import { decideImport, deviceGroupImport } from '../../../src/domain/configuration-manager/deviceGroupImports.ts';
import { create, deviceGroup, remove } from '../../../src/domain/configuration-manager/deviceGroups.ts';
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
