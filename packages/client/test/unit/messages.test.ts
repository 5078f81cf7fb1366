import assert from 'node:assert/strict';
import { plainText, wordsIn } from '../../src/index.ts';

describe('words of others', () => {
  it('do nothing on a terminal but show themselves', () => {
    assert.equal(plainText('a\u001b[31mb\u202ec\u200bd\ne'), 'a [31mb c d\ne');
    assert.equal(wordsIn('a\nb'), 'a b');
  });

  it('are one line of a sensible length', () => {
    assert.deepEqual([wordsIn('x'.repeat(1000)).length, wordsIn('x'.repeat(1001)).length], [1000, 1001]);
    assert.match(wordsIn('x'.repeat(1001)), /x…$/);
  });
});
