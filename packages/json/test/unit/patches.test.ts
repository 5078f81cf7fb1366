import assert from 'node:assert/strict';
import { applyPatch, type PatchOperation } from '../../src/index.ts';

const rowsOf = (before: unknown, ...patch: readonly PatchOperation[]) =>
  applyPatch(before, patch).members.map(({ path, before, after }) => [path, before, after]);

describe('what a patch changed', () => {
  it('is each member of a document that was made or deleted', () => {
    const made: PatchOperation = { op: 'replace', path: '', value: { name: 'a', tags: ['x'] } };
    assert.deepEqual(rowsOf(undefined, made), [
      ['/name', undefined, 'a'],
      ['/tags', undefined, ['x']],
    ]);
    assert.deepEqual(rowsOf({ name: 'a' }, { op: 'replace', path: '', value: null }), [['/name', 'a', undefined]]);
  });

  it('has the value before, also where operations before it have moved the items of a list', () => {
    const before = { list: [1, 2, { a: 3 }, 4], 'a/b~': 'old' };
    const patch: readonly PatchOperation[] = [
      { op: 'remove', path: '/list/0' },
      { op: 'remove', path: '/list/0' },
      { op: 'replace', path: '/list/0/a', value: 9 },
      { op: 'add', path: '/list/1', value: 8 },
      { op: 'replace', path: '/a~1b~0', value: 'new' },
      { op: 'add', path: '/__proto__', value: 1 },
    ];
    assert.deepEqual(rowsOf(before, ...patch), [
      ['/list/0', 1, undefined],
      ['/list/0', 2, undefined],
      ['/list/0/a', 3, 9],
      ['/list/1', undefined, 8],
      ['/a~1b~0', 'old', 'new'],
      ['/__proto__', undefined, 1],
    ]);
    const { document } = applyPatch(before, patch);
    assert.equal(JSON.stringify(document), '{"list":[{"a":9},8,4],"a/b~":"new","__proto__":1}');
    assert.deepEqual(before.list, [1, 2, { a: 3 }, 4]);
  });

  it('says nothing of the time before a document that is not known', () => {
    assert.deepEqual(rowsOf(undefined, { op: 'replace', path: '/list/3', value: 1 }), [['/list/3', undefined, 1]]);
    assert.equal(applyPatch(undefined, [{ op: 'replace', path: '/a', value: 1 }]).document, undefined);
  });
});
