import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { formDeletion, formDeletions } from '../../../src/domain/json-forms/formDeletions.ts';
import { checkedStruct, importedStruct, type Struct } from '../../../src/domain/json-forms/formStructs.ts';
import { create, form, importOne, remove, update } from '../../../src/domain/json-forms/forms.ts';
import { context, specification } from '../../support/given.ts';

const given = specification(form);

const none = { referrers: [] };

const content = {
  name: 'Ports',
  description: null,
  struct: { type: 'object', items: [] },
  schema: { type: 'object', title: 'Ports', properties: {} },
  uiSchema: {},
  validationSchema: {},
  bindingSchema: {},
  version: '1.0.0',
  tags: [],
  namespace: null,
};

const created = { topic: 'formCreated', data: content } as const;

const trigger = { kind: 'trigger', name: 'By hand' };

describe('A form', () => {
  it('needs a name, and has an empty layout and schema unless given', () =>
    given().when(create, { name: 'Ports' }, none).then(created));

  it('keeps what it is given, but for times and authors', () => {
    const more = {
      description: 'All',
      struct: { type: 'object', items: [], extra: 1 },
      schema: { type: 'array', title: 'T', 'x-any': true },
      uiSchema: { a: 1 },
      bindingSchema: null,
      version: '2',
      tags: [1, 'a'],
      namespace: { name: 'p' },
    };
    given()
      .when(create, { name: 'Ports', ...more, created: '2020-01-01T00:00:00.000Z', createdBy: 'x' }, none)
      .then({ topic: 'formCreated', data: { ...content, ...more } });
  });

  it('refuses a schema that cannot be compiled', () =>
    given()
      .when(create, { name: 'Ports' }, { ...none, schemaFault: 'remote reference' })
      .thenRefused('invalid', /remote reference.*"\/schema"/));

  it('changes what an update says, and nothing when that is so already', () => {
    given(created)
      .when(update, { name: 'Ports', description: 'All' }, none)
      .then({ topic: 'formChanged', data: { description: 'All' } });
    given(created, { topic: 'formChanged', data: { description: 'All' } })
      .when(update, { name: 'Ports', description: 'All' }, none)
      .thenNothing();
    given(created)
      .when(update, { ...content, created: '2020-01-01T00:00:00.000Z' }, none)
      .thenNothing();
    given(created)
      .when(update, { struct: { type: 'object', items: [{}] } }, none)
      .thenRefused('invalid', /"\/options\/struct\/items\/0\/type"|"\/options\/struct\/items\/0\/nodeId"/);
    given(created)
      .when(update, { _id: 'a'.repeat(24), id: 'b'.repeat(24) }, none)
      .thenRefused('invalid', /"\/options\/id"/);
  });

  it('keeps its name while a trigger names it by that', () => {
    given(created)
      .when(update, { name: 'Interfaces' }, none)
      .then({ topic: 'formChanged', data: { name: 'Interfaces' } });
    given(created)
      .when(update, { name: 'Interfaces' }, { referrers: [trigger] })
      .thenRefused('conflict', /By hand/);
  });

  it('goes once', () => {
    given(created).when(remove, undefined).then({ topic: 'formDeleted', data: {} });
    given(created, { topic: 'formDeleted', data: {} }).when(remove, undefined).thenNothing();
  });
});

describe('An imported form', () => {
  const refs = { ...none, accounts: { jo: 'c'.repeat(24) } };
  const authors = {
    created: '2020-01-01T00:00:00.000Z',
    createdBy: 'jo',
    lastUpdated: '2021-01-01T00:00:00.000Z',
    lastUpdatedBy: 'somebody',
  };
  const document = { _id: context.id, id: context.id, ...content, ...authors };
  const equalMembers = Object.fromEntries(Object.keys(content).map((name) => [name, { $same: true }]));
  const imported = { _id: context.id, id: context.id, ...equalMembers, ...authors };
  const data = { ...content, ...authors, createdBy: 'c'.repeat(24), imported };
  const restored = { topic: 'formRestored', data } as const;

  it('keeps times and authors', () => given().when(importOne, { form: document }, refs).then(restored));
  it('has the times and authors of the import where it has no usable ones', () =>
    given()
      .when(
        importOne,
        { form: { ...document, created: 'long ago', createdBy: null, lastUpdatedBy: { username: 'jo', email: '' } } },
        refs,
      )
      .then({
        topic: 'formRestored',
        data: {
          ...data,
          created: context.now,
          createdBy: context.actor.id,
          lastUpdatedBy: 'c'.repeat(24),
          imported: {
            ...imported,
            created: 'long ago',
            createdBy: null,
            lastUpdatedBy: { username: 'jo', email: '' },
          },
        },
      }));
  it('is no change when it is so already', () =>
    given(restored).when(importOne, { form: document }, refs).thenNothing());
  it('refuses other content under a used id or name unless it may overwrite', () => {
    const other = { ...document, version: '2' };
    given(restored)
      .when(importOne, { form: other }, refs)
      .thenRefused('conflict', /"\/_id"/);
    given(restored)
      .when(importOne, { form: other, overwrite: true }, refs)
      .then({ topic: 'formRestored', data: { ...restored.data, version: '2' } });
    given(restored)
      .when(importOne, { form: { ...document, _id: 'd'.repeat(24), id: 'd'.repeat(24) } }, refs)
      .thenRefused('conflict', /"\/name"/);
    given(restored)
      .when(importOne, { form: { ...document, _id: 'd'.repeat(24), id: 'd'.repeat(24) }, overwrite: true }, refs)
      .thenNothing();
  });
  it('renames no form that a trigger names', () =>
    given(restored)
      .when(importOne, { form: { ...document, name: 'Other' }, overwrite: true }, { ...refs, referrers: [trigger] })
      .thenRefused('conflict', /By hand/));
});

describe('The deletion of forms', () => {
  const given = specification(formDeletion);
  const decided = { topic: 'formsDeleted', data: { ids: ['a', 'b'] } } as const;
  it('is one decision, which is complete once', () => {
    given()
      .when(formDeletions.decide, { ids: ['a', 'b', 'a'] }, { missing: [], referrers: [] })
      .then(decided);
    given(decided).when(formDeletions.complete, undefined).then({ topic: 'formDeletionCompleted', data: {} });
    given(decided, { topic: 'formDeletionCompleted', data: {} }).when(formDeletions.complete, undefined).thenNothing();
  });
  it('of none is nothing', () =>
    given().when(formDeletions.decide, { ids: [] }, { missing: [], referrers: [] }).thenNothing());
  it('names all forms that are not there, and all triggers that are in the way', () => {
    given()
      .when(formDeletions.decide, { ids: ['a', 'b'] }, { missing: ['a', 'b'], referrers: [trigger] })
      .thenRefused('not_found', /a, b/);
    given()
      .when(
        formDeletions.decide,
        { ids: ['a'] },
        { missing: [], referrers: [trigger, { kind: 'trigger', name: '(hidden)' }] },
      )
      .thenRefused('conflict', /By hand.*hidden/);
  });
});

describe('The layout of a form', () => {
  const base = { nodeId: 'n', title: 'T', description: '' };
  const check = (...items: object[]) => checkedStruct({ type: 'object', items }, '/struct').items;
  const faulty = (item: object, path: string) =>
    assert.throws(
      () => check(item),
      (error) => {
        assert.ok(error instanceof RequestError && error.code === 'invalid');
        assert.equal(error.faults[0]?.path, path);
        return true;
      },
    );

  it('has items of every kind, with whatever else they say', () => {
    const items = [
      {
        ...base,
        type: 'array',
        items: [{ ...base, type: 'boolean', default: null, enum: [{ id: 1, value: true }] }],
        required: ['a'],
        collapsed: true,
        minItems: null,
        'x-any': {},
      },
      { ...base, type: 'number', placeholder: '', required: false, minimum: 0.5, maximum: null, default: null },
      { ...base, type: 'string', placeholder: 'x', required: true, pattern: '^x', minLength: 1 },
      { ...base, type: 'string', format: 'data-url' },
      { ...base, type: 'string', enum: ['a'], enumNames: ['A'], binding: true, sourcePointer: '/x' },
    ];
    assert.deepEqual(check(...items), items);
  });

  it('fills in the defaults of choices, once', () => {
    const [choice] = check({ ...base, type: 'string', radio: true });
    assert.deepEqual(choice, { ...base, type: 'string', radio: true, enum: [], enumNames: [], binding: false });
    assert.deepEqual(check(choice), [choice]);
  });

  it('refuses items that are not as their kind is, and says where', () => {
    for (const member of ['nodeId', 'title', 'description'])
      faulty({ ...base, type: 'boolean', [member]: undefined }, `/struct/items/0/${member}`);
    faulty({ ...base, type: 'object' }, '/struct/items/0/items');
    faulty(base, '/struct/items/0/type');
    faulty({ ...base, type: 'number', required: true }, '/struct/items/0/placeholder');
    faulty({ ...base, type: 'number', placeholder: '' }, '/struct/items/0/required');
    faulty({ ...base, type: 'number', placeholder: '', required: true, minimum: 'low' }, '/struct/items/0/minimum');
    faulty({ ...base, type: 'boolean', enum: [{ id: 1 }] }, '/struct/items/0/enum/0/value');
    faulty({ ...base, type: 'string', enum: 'a' }, '/struct/items/0/enum');
    faulty({ ...base, type: 'string', minLength: -1 }, '/struct/items/0/minLength');
    faulty(
      { ...base, type: 'object', items: [{ ...base, type: 'object', items: [3] }] },
      '/struct/items/0/items/0/items/0',
    );
  });

  it('is bounded in depth and size', () => {
    const deep = (levels: number): object => ({
      ...base,
      type: 'object',
      items: levels === 1 ? [] : [deep(levels - 1)],
    });
    const wide = (count: number): Struct => ({
      type: 'object',
      items: Array.from({ length: count }, () => ({ ...base, type: 'boolean' })),
    });
    check(deep(16));
    assert.throws(() => check(deep(17)), /16 levels/);
    checkedStruct(wide(2000), '');
    assert.throws(() => checkedStruct(wide(2001), ''), /2000 items/);
    importedStruct(wide(2000), '');
    assert.throws(() => importedStruct(wide(2001), ''), /2000 items/);
  });
});
