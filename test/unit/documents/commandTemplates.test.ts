import assert from 'node:assert/strict';
import {
  type CommandTemplateEvent,
  change,
  commandTemplate,
  contentOf,
  create,
  importOne,
  patternsIn,
  remove,
} from '../../../src/domain/mop/commandTemplates.ts';
import { context, specification } from '../../support/given.ts';
import { content, document } from '../../support/samples/commandTemplates.ts';

const given = specification(commandTemplate);

const created: CommandTemplateEvent = { topic: 'commandTemplateCreated', data: content };

const deleted: CommandTemplateEvent = { topic: 'commandTemplateDeleted', data: {} };

const times = {
  created: '1970-01-01T00:00:00.001Z',
  lastUpdated: '1970-01-01T00:00:00.002Z',
  createdBy: 'bbbbbbbbbbbbbbbbbbbbbbbb',
  lastUpdatedBy: null,
};

const stored = { ...document, created: 1, lastUpdated: 2, createdBy: 'nora', lastUpdatedBy: null };

/** The document as its event has it: the name is the same in the content. */
const imported = { ...stored, name: { $same: true } };

const restored: CommandTemplateEvent = { topic: 'commandTemplateRestored', data: { ...content, ...times, imported } };

const accounts = { accounts: { nora: 'bbbbbbbbbbbbbbbbbbbbbbbb' } };

const referrers = { referrers: [{ kind: 'automation', name: 'Nightly' }] };

const compared = (rule: object) => ({
  mop: { ...document, commands: [{ rules: [{ rule: '(\\d+)', eval: '#comparison' as const, ...rule }] }] },
});

describe('command templates: decisions', () => {
  it('creates with defaults filled in', () => given().when(create, { mop: document }, {}).then(created));
  it('refuses patterns that cannot be used, by their place in the request', () =>
    given()
      .when(create, { mop: document }, { patternFaults: [{ message: 'No pattern', path: '/commands/0/rules/0/rule' }] })
      .thenRefused('invalid', /"\/mop\/commands\/0\/rules\/0\/rule"/));
  it('keeps the secrets of the namespace when it is sent as it is shown', () => {
    const namespace = { name: 'red', token: { $sealed: 'x', tag: 'y' } };
    given({ topic: 'commandTemplateRestored', data: { ...content, namespace, ...times } })
      .when(change, { mop: { ...document, os: 'eos', namespace: { name: 'red', token: '********' } } }, {})
      .then({ topic: 'commandTemplateChanged', data: { os: 'eos' } });
  });
  it('wants of a comparison what it compares by, and takes what a designer left behind', () => {
    given()
      .when(create, compared({}), {})
      .thenRefused('invalid', /rules\/0\/ruleB.*rules\/0\/evaluator/);
    given()
      .when(create, compared({ ruleB: '1', evaluator: '%' }), {})
      .thenRefused('invalid', /rules\/0\/percentage/);
    given()
      .when(create, compared({ ruleB: '', evaluator: '<' }), {})
      .thenRefused('invalid', /rules\/0\/ruleB/);
    const left = [
      { ruleB: '1', evaluator: '<', percentage: 1 },
      { eval: 'contains', ruleB: '/(/', evaluator: '<' },
      { eval: 'RegEx', ruleB: '' },
      { rule: '' },
    ];
    for (const rule of left)
      assert.equal(create({ exists: false }, compared(rule) as never, { ...context, refs: {} }).length, 1);
  });
  it('has patterns in rules that search, and in what they are compared with', () => {
    const compared = { eval: '#comparison', evaluator: '=' } as const;
    const rules = [
      { rule: '(a)', eval: 'contains' },
      { rule: '(b)', eval: 'RegEx', flags: { case: true } },
      { rule: '(c)', eval: '!RegEx' },
      { rule: '(d)', ruleB: '/(e)/', ...compared },
      { rule: '(f)', ruleB: '(g)', ...compared },
    ];
    assert.deepEqual(patternsIn(contentOf({ name: 'Check', commands: [{ rules }] })), [
      { path: '/commands/0/rules/1/rule', text: '(b)', flags: { case: true } },
      { path: '/commands/0/rules/2/rule', text: '(c)' },
      { path: '/commands/0/rules/3/rule', text: '(d)' },
      { path: '/commands/0/rules/3/ruleB', text: '/(e)/' },
      { path: '/commands/0/rules/4/rule', text: '(f)' },
    ]);
  });
  it('changes what is other, and nothing the second time', () => {
    const mop = { ...document, passRule: false, _id: context.id, created: 5 };
    given(created)
      .when(change, { mop }, {})
      .then({ topic: 'commandTemplateChanged', data: { passRule: false } });
    given(created, { topic: 'commandTemplateChanged', data: { passRule: false } })
      .when(change, { mop }, {})
      .thenNothing();
  });
  it('brings back to its default what the document leaves out', () =>
    given(created)
      .when(change, { mop: { name: 'Check' } }, {})
      .then({ topic: 'commandTemplateChanged', data: { commands: [] } }));
  it('takes no document of another template for a change', () =>
    given(created)
      .when(change, { mop: { ...document, _id: 'other' } }, {})
      .thenRefused('invalid', /\/mop\/_id/));
  it('keeps the name that automations know it by', () => {
    given(created)
      .when(change, { mop: { ...document, name: 'Other' } }, referrers)
      .thenRefused('conflict', /Nightly/);
    given(created)
      .when(change, { mop: { ...document, os: 'ios' } }, referrers)
      .then({ topic: 'commandTemplateChanged', data: { os: 'ios' } });
    given(created)
      .when(importOne, { template: { ...document, name: 'Other' }, overwrite: true }, referrers)
      .thenRefused('conflict', /Nightly/);
  });
  it('takes a document in with its times and authors, once', () => {
    given().when(importOne, { template: stored }, accounts).then(restored);
    given(restored).when(importOne, { template: stored }, accounts).thenNothing();
  });
  it('takes other content in only over what is there when told so', () => {
    const other = { ...stored, os: 'ios' };
    given(restored).when(importOne, { template: other }, accounts).thenRefused('conflict');
    given(restored)
      .when(importOne, { template: other, overwrite: true }, accounts)
      .then({
        topic: 'commandTemplateRestored',
        data: { ...content, os: 'ios', ...times, imported: { ...imported, os: { $same: true } } },
      });
  });
  it('deletes what nobody refers to', () => {
    given(created).when(remove, {}, {}).then(deleted);
    given(created)
      .when(remove, {}, referrers)
      .thenRefused('conflict', /Nightly/);
    assert.equal(commandTemplate.exists({ exists: false }), false);
  });
});
