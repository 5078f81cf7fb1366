import assert from 'node:assert/strict';
import { applyPatch } from '@automation-platform/json';
import fc from 'fast-check';
import { type PatchOperation, patchBetween } from '../../../src/domain/engine/jsonPatch.ts';

/** Applies a patch as RFC 6902 says. */
const patched = (document: unknown, operations: readonly PatchOperation[]): unknown => {
  const holder: { root: unknown } = { root: structuredClone(document) };
  for (const operation of operations) {
    const steps = operation.path.split('/').slice(1);
    const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = names.pop();
    const parent = names.reduce<any>((value, name) => value[name], holder.root); // any JSON
    if (last === undefined) holder.root = 'value' in operation ? operation.value : undefined;
    else if (!Array.isArray(parent)) {
      if (operation.op === 'remove') assert.ok(Reflect.deleteProperty(parent, last));
      else {
        assert.equal(Object.hasOwn(parent, last), operation.op === 'replace', operation.path);
        Object.defineProperty(parent, last, {
          value: operation.value,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      }
    } else {
      const at = Number(last);
      assert.ok(at < parent.length || (operation.op === 'add' && at === parent.length), operation.path);
      if (operation.op === 'remove') parent.splice(at, 1);
      else parent.splice(at, operation.op === 'replace' ? 1 : 0, operation.value);
    }
  }
  return holder.root;
};

describe('a JSON Patch', () => {
  it('makes the second value of the first one, whatever they are', () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, 0, 1, 'a', '', '~', '/'),
        fc.array(tie('value'), { maxLength: 5 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'a/b', '~', '', '__proto__', 'length'), tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(json, json, (before, after) => {
        const operations = patchBetween(before, after);
        for (const document of [patched(before, operations), applyPatch(before, operations).document])
          assert.deepEqual(JSON.parse(JSON.stringify(document)), JSON.parse(JSON.stringify(after)));
        assert.deepEqual(patchBetween(after, after), []);
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps what is the same at both ends of a list', () => {
    assert.deepEqual(patchBetween([1, 2, 3], [1, 9, 2, 3]), [{ op: 'add', path: '/1', value: 9 }]);
    assert.deepEqual(patchBetween([1, 2, 3, 4], [1, 4]), [
      { op: 'remove', path: '/1' },
      { op: 'remove', path: '/1' },
    ]);
    assert.deepEqual(patchBetween([{ a: 1 }, 2], [{ a: 3 }, 2]), [{ op: 'replace', path: '/0/a', value: 3 }]);
  });

  it('takes a number that is written differently as a whole, and the order of members as no difference', () => {
    const number = (written: string) => ({ $exact: written });
    assert.deepEqual(patchBetween({ n: number('1.0') }, { n: number('1.00') }), [
      { op: 'replace', path: '/n', value: number('1.00') },
    ]);
    assert.deepEqual(patchBetween({ 1: 'a', b: 1, $exact: ['b', '1'] }, { 1: 'a', b: 2, $exact: ['1', 'b'] }), [
      { op: 'replace', path: '/b', value: 2 },
    ]);
  });
});
