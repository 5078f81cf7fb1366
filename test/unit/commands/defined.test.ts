import { deepStrictEqual } from 'node:assert/strict';
import { defined } from '../../../src/domain/engine/defined.ts';

describe('Optional fields', () => {
  it('are absent where they are undefined, and keep null, false, zero and the empty text', () => {
    deepStrictEqual(Object.keys(defined({ a: undefined, b: null, c: false, d: 0, e: '', f: 'x' })), [
      'b',
      'c',
      'd',
      'e',
      'f',
    ]);
  });
});
