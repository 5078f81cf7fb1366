import assert from 'node:assert/strict';
import { perRevision } from '../../../src/commands/engine/perRevision.ts';

describe('Values of revisions', () => {
  const counting = (most: number) => {
    const read: string[] = [];
    const values = perRevision({ make: (text: string) => ({ text }), sizeOf: ({ text }) => text.length, most });
    const of = (id: string, revision: number, text: string) =>
      values.of({ id, revision }, () => {
        read.push(text);
        return text;
      }).text;
    return { read, of, known: (id: string, revision: number) => values.find({ id, revision })?.text };
  };

  it('are computed once for each revision of each document', () => {
    const { read, of, known } = counting(1000);
    assert.equal(known('a', 1), undefined);
    assert.deepEqual(
      [of('a', 1, 'one'), of('a', 1, 'other'), of('a', 2, 'two'), of('b', 1, 'three')],
      ['one', 'one', 'two', 'three'],
    );
    assert.deepEqual(read, ['one', 'two', 'three']);
    assert.equal(known('a', 2), 'two');
  });

  it('are forgotten, the oldest first, when they take too much memory; a large one is kept too', () => {
    const { of, known } = counting(10);
    of('a', 1, '1234');
    of('b', 1, '1234');
    of('c', 1, 'x'.repeat(100));
    assert.deepEqual([known('a', 1), known('b', 1), known('c', 1)], [undefined, '1234', 'x'.repeat(100)]);
  });
});
