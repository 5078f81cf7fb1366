import assert from 'node:assert/strict';
import fc from 'fast-check';
import { exactText, exactValue, plainValue } from '../../src/index.ts';

const number = fc.oneof(
  fc.constantFrom('1.0', '1', '-0', '1e5', '1.50', '12345678901234567890', '9'.repeat(400)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);
const name = fc.oneof(
  fc.constantFrom('10', '9', '1', '01', 'a', 'b', '', '"', '\\', '4294967294', '{', '\u2028'),
  fc.string(),
);
const { value: texts } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    number,
    fc.constantFrom('true', 'false', 'null'),
    fc.string().map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc.uniqueArray(fc.tuple(name, tie('value')), { maxLength: 6, selector: ([key]) => key }).map(
      (members) =>
        `{${members
          .filter(([key]) => key !== '__proto__')
          .map(([key, of]) => `${JSON.stringify(key)}:${of}`)
          .join(',')}}`,
    ),
  ),
}));
const spaced = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|[[\]{},:]/g, (token) => (token.length === 1 ? ` ${token}\n\t` : token));

describe('JSON as it was written', () => {
  it('is marked where JavaScript would lose something, and nowhere else', () => {
    const marks: Readonly<Record<string, unknown>> = {
      '{"a":1,"b":[1.5,"x",null,true],"c":{}}': { a: 1, b: [1.5, 'x', null, true], c: {} },
      '{ "1" : 1, "2" : 2 }': { 1: 1, 2: 2 },
      '[1.0, -0, 12345678901234567890]': [{ $exact: '1.0' }, { $exact: '-0' }, { $exact: '12345678901234567890' }],
      '{"2":{"b":0},"1":{"b":0,"1":0}}': { 1: { 1: 0, b: 0, $exact: ['b', '1'] }, 2: { b: 0 }, $exact: ['2', '1'] },
    };
    for (const [text, value] of Object.entries(marks)) assert.deepEqual(exactValue(text), value, text);
  });

  it('survives being read and written, stored as JSON in between', () => {
    fc.assert(
      fc.property(texts, (text) => {
        assert.equal(exactText(JSON.parse(JSON.stringify(exactValue(text)))), text);
        assert.equal(exactText(exactValue(spaced(text))), text);
      }),
      { numRuns: 2000 },
    );
  });

  it('without its marks is what JSON.parse reads', () => {
    fc.assert(
      fc.property(texts, (text) => {
        assert.deepEqual(plainValue(exactValue(text)), JSON.parse(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('takes what only looks like a mark for what it is', () => {
    for (const value of [
      { $exact: 'no number' },
      { $exact: '1.0', a: 1 },
      { $exact: ['a'], b: 1 },
      { $exact: ['a', 'a'], a: 1, b: 2 },
      { $exact: [], a: 1 },
      { $exact: 5 },
      { $exact: '1}' },
    ])
      assert.deepEqual(JSON.parse(exactText(value)), value);
    assert.equal(exactText({ a: undefined, b: { $exact: '1.0' } }), '{"b":1.0}');
  });

  it('is read in time and stack that the text sets', () => {
    const deep = `${'{"2":0,"1":'.repeat(64)}1.0${'}'.repeat(64)}`;
    assert.equal(exactText(exactValue(deep)), deep);
    const long = `[1.0,"${'\\\\\\"'.repeat(200_000)}"]`;
    assert.equal(exactText(exactValue(long)), long);
  });
});
