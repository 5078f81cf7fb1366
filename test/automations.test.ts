import assert from 'node:assert/strict';
import { automation, change, create, remove, restore } from '../src/domain/automations.ts';
import { fold } from '../src/domain/core.ts';
import { specification } from './given.ts';

const given = specification(automation);
const everybody = { read: [], write: [] };
const content = { name: 'Backup', description: '', componentType: null, componentName: null, gbac: everybody };
const created = { type: 'automationCreated', data: content } as const;
const known = { unknownGroups: [] };

describe('An automation', () => {
  it('is created with what the request says, the rest empty', () => {
    given().when(create, { name: 'Backup' }, known).then(created);
    given().when(create, { name: 'Backup', description: 'Nightly', componentType: 'workflows', componentName: 'backup', gbac: { write: ['ops'] } }, known)
      .then({ type: 'automationCreated', data: { name: 'Backup', description: 'Nightly', componentType: 'workflows', componentName: 'backup', gbac: { read: [], write: ['ops'] } } });
  });

  it('takes groups as names or group objects, each once', () => {
    given().when(create, { name: 'Backup', gbac: { read: ['noc', { name: 'noc', provenance: 'local' }], write: [{ name: 'ops' }] } }, known)
      .then({ type: 'automationCreated', data: { ...content, gbac: { read: ['noc'], write: ['ops'] } } });
  });

  it('refuses groups that may read where no group may write', () => {
    given().when(create, { name: 'Backup', gbac: { read: ['noc'] } }, known).thenRefused('invalid', /\/gbac\/write/);
    given(created).when(change, { gbac: { read: ['noc'], write: [] } }, known).thenRefused('invalid', /at least one group that may write/);
  });

  it('refuses groups that nobody has, naming all', () => {
    given().when(create, { name: 'Backup', gbac: { write: ['x', 'ops', 'y'] } }, { unknownGroups: ['x', 'y'] }).thenRefused('not_found', /"x\\?".*"y\\?"/);
  });

  it('changes only what the request says, and nothing when that is so already', () => {
    given(created).when(change, { description: 'Nightly' }, known).then({ type: 'automationChanged', data: { description: 'Nightly' } });
    given(created, { type: 'automationChanged', data: { description: 'Nightly' } }).when(change, { name: 'Backup', description: 'Nightly' }, known).thenNothing();
    given(created).when(change, {}, known).thenNothing();
  });

  it('keeps the list of groups that a change does not name', () => {
    given(created, { type: 'automationChanged', data: { gbac: { read: [], write: ['ops'] } } }).when(change, { gbac: { read: ['noc'] } }, known)
      .then({ type: 'automationChanged', data: { gbac: { read: ['noc'], write: ['ops'] } } });
  });

  it('is deleted, and keeps its access lists for whoever asks afterwards', () => {
    given(created).when(remove, undefined).then({ type: 'automationDeleted', data: {} });
    const closed = fold(automation, [{ type: 'automationCreated', data: { ...content, gbac: { read: [], write: ['ops'] } } }, { type: 'automationDeleted', data: {} }]);
    assert.deepEqual([automation.exists(closed), automation.gbac!(closed), automation.names!(closed)], [false, { read: [], write: ['ops'] }, []]);
  });

  it('is brought to what an import decided, always with an event', () => {
    const document = { ...content, description: 'Old', created: '2020-01-01T00:00:00.000Z', createdBy: 'a', lastUpdated: '2020-01-02T00:00:00.000Z', lastUpdatedBy: null };
    given().when(restore, document).then({ type: 'automationRestored', data: document });
    given({ type: 'automationRestored', data: document }).when(restore, document).then({ type: 'automationRestored', data: document });
  });
});
