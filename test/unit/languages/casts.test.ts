import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { type Cast, cast } from '../../../src/domain/template-builder/casts.ts';

const is = (type: Cast, rendered: string, value: unknown): void =>
  assert.deepEqual(JSON.parse(cast(rendered, type)), value);
const refused = (type: Cast, rendered: string, shown = rendered): void =>
  assert.throws(
    () => cast(rendered, type),
    (error) => {
      assert.ok(error instanceof RequestError && error.code === 'unprocessable');
      assert.deepEqual([error.faults[0]?.path, error.faults[0]?.rendered], ['/castDataType', shown]);
      assert.ok(error.message.includes(shown));
      return true;
    },
  );

describe('A rendered text is cast to', () => {
  it('a string as it is', () => {
    for (const text of ['', ' a\n', '"quoted"', 'true', '\u{1f600}', '\ud800']) is('string', text, text);
  });

  it('a number, white space around it aside', () => {
    for (const [text, value] of [
      ['42', 42],
      [' -1.5e3\n', -1500],
      ['0', 0],
      ['0.1', 0.1],
    ] as const)
      is('number', text, value);
    for (const text of ['', 'forty', '1,5', '+1', '01', '.5', '5.', '0x10', 'NaN', 'Infinity', '1e400', '1 2', '"1"'])
      refused('number', text);
  });

  it('a number with all its digits', () =>
    assert.equal(cast('12345678901234567890', 'number'), '12345678901234567890'));

  it('a boolean, in any case', () => {
    for (const text of ['true', 'True', ' TRUE\n']) is('boolean', text, true);
    for (const text of ['false', 'False', 'fAlSe']) is('boolean', text, false);
    for (const text of ['', 'yes', '1', 'truely', 'true false', '"true"']) refused('boolean', text);
  });

  it('an object or a list', () => {
    is('object', '\n{"a": [1, {"b": null}]}\n', { a: [1, { b: null }] });
    is('object', '[]', []);
    for (const text of ['', '{', '1', '"a"', 'null', 'true', "{'a': 1}", '[1,]', '{} {}']) refused('object', text);
  });

  it('an object however deep it is nested', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    assert.equal(cast(deep, 'object'), deep);
  });

  it('or refused with its first 200 characters, none cut in two', () => {
    refused('number', 'x'.repeat(1000), 'x'.repeat(200));
    refused('number', '\u{1f600}'.repeat(1000), '\u{1f600}'.repeat(200));
  });
});
