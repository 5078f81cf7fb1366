import assert from 'node:assert/strict';
import { createForm, deleteForms } from '../../../src/commands/json-forms/forms.ts';
import { createAutomation } from '../../../src/commands/operations-manager/automations.ts';
import { createTrigger } from '../../../src/commands/operations-manager/triggers.ts';
import { change, create, importOne, trigger } from '../../../src/domain/operations-manager/triggers.ts';
import { forms } from '../../../src/projections/json-forms/forms.ts';
import { specification } from '../../support/given.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { manual } from '../../support/samples/triggerForms.ts';
import { stopping } from '../../support/stopping.ts';
import { outcome } from '../../support/writer.ts';

const given = specification(trigger);

const open = { gbac: { read: [], write: [] } };

const form = { schemaHash: 'h1', faults: [] };

const changedForm = { schemaHash: 'h2', faults: [] };

const unfit = { schemaHash: 'h2', faults: [{ path: '/vlan', message: 'is required' }] };

const content = { ...manual, migrationVersion: 3, legacyWrapper: true, formSchemaHash: 'h1' };

const created = { topic: 'triggerCreated', data: content } as const;

describe('A trigger with a form', () => {
  it('keeps the hash of the form, whatever it was given', () => {
    given()
      .when(create, manual, { ...open, form })
      .then(created);
    given()
      .when(create, { ...manual, formSchemaHash: 'made up' }, { ...open, form })
      .then(created);
    given()
      .when(create, { ...manual, formId: null, formSchemaHash: 'made up' }, open)
      .then({ topic: 'triggerCreated', data: { ...content, formId: null, formSchemaHash: null } });
  });

  it('refuses a form that is not there, and data that does not fit it', () => {
    given()
      .when(create, manual, { ...open, form: null })
      .thenRefused('not_found', /"\/formId"/);
    given()
      .when(create, manual, { ...open, form: unfit })
      .thenRefused('invalid', /"\/formData\/vlan"/);
  });

  it('takes the hash of a changed form when its data is sent again, and only then', () => {
    given(created)
      .when(change, { enabled: false }, open)
      .then({ topic: 'triggerChanged', data: { enabled: false } });
    given(created)
      .when(change, { formData: { vlan: 10 } }, { ...open, form })
      .thenNothing();
    given(created)
      .when(change, { formData: { vlan: 10 } }, { ...open, form: changedForm })
      .then({ topic: 'triggerChanged', data: { formSchemaHash: 'h2' } });
    given(created)
      .when(change, { formSchemaHash: 'made up' }, { ...open, form })
      .thenNothing();
    given(created)
      .when(change, { formData: {} }, { ...open, form: unfit })
      .thenRefused('invalid', /"\/formData\/vlan"/);
    given(created)
      .when(change, { formId: null }, open)
      .then({ topic: 'triggerChanged', data: { formId: null, formSchemaHash: null } });
  });

  it('is imported with the hash of the form that is here; that of the document is only kept', () => {
    const refs = { ...open, accounts: {}, form: changedForm };
    const authors = {
      created: '2020-01-01T00:00:00.000Z',
      createdBy: 'x',
      lastUpdated: '2020-01-01T00:00:00.000Z',
      lastUpdatedBy: 'x',
    };
    const document = { _id: '0123456789abcdef01234567', ...content, ...authors };
    const equal = Object.fromEntries(Object.keys(content).map((name) => [name, { $same: true }]));
    const imported = { ...document, ...equal, formSchemaHash: 'h1' };
    const restored = {
      topic: 'triggerRestored',
      data: { ...content, ...authors, formSchemaHash: 'h2', imported },
    } as const;
    given().when(importOne, { trigger: document }, refs).then(restored);
    given()
      .when(importOne, { trigger: { ...document, formSchemaHash: null } }, refs)
      .then({
        topic: 'triggerRestored',
        data: { ...content, ...authors, formSchemaHash: 'h2', imported: { ...imported, formSchemaHash: null } },
      });
    const unchanged = { ...open, accounts: {} };
    given(created).when(importOne, { trigger: document }, unchanged).thenNothing();
    given(restored).when(importOne, { trigger: document }, unchanged).thenNothing();
    given(restored)
      .when(importOne, { trigger: { ...document, formSchemaHash: 'h2' } }, unchanged)
      .thenNothing();
  });
});

describe('A trigger that comes to name a form while that is being deleted', () => {
  const { log, node } = nodesOnLog();
  const [automationId, formId, triggerId, deletionId] = ['a', 'f', 'd', 'e'].map((digit) => digit.repeat(24)) as [
    string,
    string,
    string,
    string,
  ];
  const withForm = async (one: TestNode): Promise<void> => {
    await one.command(createAutomation, automationId, { name: 'Ports' });
    await one.command(createForm, formId, { name: 'Ports' });
  };
  const remove = (n: TestNode) => outcome(n.command(deleteForms, deletionId, { ids: [formId] }));
  const save = (n: TestNode) => outcome(n.command(createTrigger, triggerId, { ...manual, actionId: automationId }));

  it('finds it gone, also before the form itself has heard of that', async () => {
    const one = await node();
    await withForm(one);
    await one.command(deleteForms, deletionId, { ids: [formId] });
    assert.ok(await one.tools.find(forms, formId), 'nothing follows from events on this node');
    assert.equal(await save(one), 'not_found');
  });

  for (const moment of ['before', 'after'] as const) {
    for (const append of [1, 2]) {
      for (const [what, first, second] of [
        ['deletes the form', remove, save],
        ['saves the trigger', save, remove],
      ] as const) {
        it(`from another node: the one that ${what} stops ${moment} append ${append}, one of the two is refused`, async () => {
          const held = stopping(log.store, append, moment);
          const one = await node(held.store);
          await withForm(one);
          const two = await node();
          held.arm();
          const slow = first(one);
          await held.atStop;
          const quick = await second(two);
          held.resume();
          const outcomes = [await slow, quick];
          assert.equal(
            outcomes.filter((result) => result === 'conflict' || result === 'not_found').length,
            1,
            JSON.stringify(outcomes),
          );
        });
      }
    }
  }
});
