import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { Check } from 'typebox/value';
import { aggregates } from '../../../src/domain/all.ts';
import { topicIn } from '../../../src/domain/topics.ts';
import { splitStream } from '../../../src/store/event.ts';

const samples = new URL('../../golden/events/', import.meta.url);

describe('topics of events', () => {
  it('are of one kind of stream each', () =>
    assert.equal(new Set(aggregates.map(({ category }) => category)).size, aggregates.length));

  for (const { category, topics } of aggregates.filter(({ published }) => !published))
    it(`of ${category} are described in a sentence`, () => {
      for (const [description] of Object.values(topics)) assert.match(description, /^[A-Z].*[^.]$/);
    });

  const stored = readdirSync(samples).flatMap(
    (file) =>
      JSON.parse(readFileSync(new URL(file, samples), 'utf8')) as readonly {
        readonly stream: string;
        readonly topic: string;
        readonly source?: string;
        readonly data: unknown;
      }[],
  );
  for (const { stream, topic, data } of stored.filter((sample) => sample.source === undefined))
    it(`of stored events: ${topic} ${JSON.stringify(data).slice(0, 40)} fits its schema`, () => {
      const [, schema] = topicIn(splitStream(stream).category, topic) ?? assert.fail('no such topic');
      assert.ok(Check(schema, data), JSON.stringify(data));
    });

  it('have schemas that refuse other data', () => {
    const [, schema] = topicIn('jobMoveDecision', 'jobsMoved') ?? assert.fail('no such topic');
    assert.equal(Check(schema, {}), false);
  });
});
