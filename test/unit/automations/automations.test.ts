import assert from 'node:assert/strict';
import { fold } from '../../../src/domain/engine/core.ts';
import { automation, change, create, remove, restore } from '../../../src/domain/operations-manager/automations.ts';
import { specification } from '../../support/given.ts';

const given = specification(automation);

const everybody = { read: [], write: [] };

const content = { name: 'Backup', description: '', componentType: null, componentName: null, gbac: everybody };

const created = { topic: 'automationCreated', data: content } as const;

const known = { unknownGroups: [] };

describe('An automation', () => {
  it('is created with what the request says, the rest empty', () => {
    given().when(create, { name: 'Backup' }, known).then(created);
    given()
      .when(
        create,
        {
          name: 'Backup',
          description: 'Nightly',
          componentType: 'workflows',
          componentName: 'backup',
          gbac: { write: ['ops'] },
        },
        known,
      )
      .then({
        topic: 'automationCreated',
        data: {
          name: 'Backup',
          description: 'Nightly',
          componentType: 'workflows',
          componentName: 'backup',
          gbac: { read: [], write: ['ops'] },
        },
      });
  });

  it('takes groups as names or group objects, each once', () => {
    given()
      .when(
        create,
        { name: 'Backup', gbac: { read: ['noc', { name: 'noc', provenance: 'local' }], write: [{ name: 'ops' }] } },
        known,
      )
      .then({ topic: 'automationCreated', data: { ...content, gbac: { read: ['noc'], write: ['ops'] } } });
  });

  it('refuses groups that may read where no group may write', () => {
    given()
      .when(create, { name: 'Backup', gbac: { read: ['noc'] } }, known)
      .thenRefused('invalid', /\/gbac\/write/);
    given(created)
      .when(change, { gbac: { read: ['noc'], write: [] } }, known)
      .thenRefused('invalid', /at least one group that may write/);
  });

  it('refuses groups that nobody has, naming all', () => {
    given()
      .when(create, { name: 'Backup', gbac: { write: ['x', 'ops', 'y'] } }, { unknownGroups: ['x', 'y'] })
      .thenRefused('not_found', /"x\\?".*"y\\?"/);
  });

  it('changes only what the request says, and nothing when that is so already', () => {
    given(created)
      .when(change, { description: 'Nightly' }, known)
      .then({ topic: 'automationChanged', data: { description: 'Nightly' } });
    given(created, { topic: 'automationChanged', data: { description: 'Nightly' } })
      .when(change, { name: 'Backup', description: 'Nightly' }, known)
      .thenNothing();
    given(created).when(change, {}, known).thenNothing();
  });

  it('keeps the list of groups that a change does not name', () => {
    given(created, { topic: 'automationChanged', data: { gbac: { read: [], write: ['ops'] } } })
      .when(change, { gbac: { read: ['noc'] } }, known)
      .then({ topic: 'automationChanged', data: { gbac: { read: ['noc'], write: ['ops'] } } });
  });

  it('is deleted, and keeps its access lists for whoever asks afterwards', () => {
    given(created).when(remove, undefined).then({ topic: 'automationDeleted', data: {} });
    const closed = fold(automation, [
      { topic: 'automationCreated', data: { ...content, gbac: { read: [], write: ['ops'] } } },
      { topic: 'automationDeleted', data: {} },
    ]);
    assert.deepEqual(
      [automation.exists(closed), automation.gbac!(closed), automation.names!(closed)],
      [false, { read: [], write: ['ops'] }, []],
    );
  });

  it('is brought to what an import decided, always with an event', () => {
    const document = {
      ...content,
      description: 'Old',
      created: '2020-01-01T00:00:00.000Z',
      createdBy: 'a',
      lastUpdated: '2020-01-02T00:00:00.000Z',
      lastUpdatedBy: null,
    };
    given().when(restore, document).then({ topic: 'automationRestored', data: document });
    given({ topic: 'automationRestored', data: document })
      .when(restore, document)
      .then({ topic: 'automationRestored', data: document });
  });
});
