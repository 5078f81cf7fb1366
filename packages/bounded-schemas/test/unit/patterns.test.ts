import assert from 'node:assert/strict';
import { linearPattern, SchemaError } from '../../src/index.ts';

describe('regular expressions', () => {
  const isTooLarge = (error: unknown): boolean => error instanceof SchemaError && error.message.includes('too large');

  it('that repeat too much are refused without being compiled, which would take seconds', () => {
    for (const text of [
      'a{0,1000}'.repeat(100),
      '((a{10}){10}){10}'.repeat(50),
      '[\\p{L}\\d]{999}'.repeat(60),
      '(?:a{2}b{3,}){999}'.repeat(50),
      '(?<n>\\p{L}{30}|x){900}',
    ])
      for (let i = 0; i < 10; i++) assert.throws(() => linearPattern(`${text}${i}`, {}), isTooLarge, text);
  });
  it('that only look as if are compiled', () => {
    for (const text of [
      '[{999}{999}{999}{999}{999}]',
      '\\{999}\\{999}\\{999}\\{999}\\{999}',
      'a{999}',
      '(?:ab){500}',
      '(?P<octet>\\d{1,3}\\.){3}',
      'a{0}',
    ])
      assert.ok(linearPattern(text, {}).instructions < 2000, text);
  });
});
