import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { type TSchema, Type } from 'typebox';
import { Check } from 'typebox/value';
import { aggregates } from '../../../src/commands/all.ts';
import { topicsOfAll } from '../../../src/domain/engine/topicsOfEngine.ts';
import { describedTopics } from '../../../src/domain/topics.ts';
import { splitStream } from '../../../src/store/event.ts';

const samples = new URL('../../golden/events/', import.meta.url);
const described = new Map(describedTopics.map(({ aggregate, topics }) => [aggregate, topics]));

describe('topics of events', () => {
  it('are described once for each kind of stream', () => {
    assert.equal(described.size, describedTopics.length);
    for (const aggregate of described.keys()) assert.ok(aggregates.includes(aggregate), aggregate.category);
  });

  for (const aggregate of aggregates.filter(({ published }) => !published))
    it(`of ${aggregate.category} are all described, in a sentence`, () => {
      const topics = described.get(aggregate) ?? assert.fail('put it into the topics.ts of its area');
      assert.deepEqual(Object.keys(topics).sort(), Object.keys(aggregate.evolve).sort());
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
  for (const { stream, topic, source, data } of stored.filter((sample) => sample.source === undefined))
    it(`of stored events: ${topic} ${JSON.stringify(data).slice(0, 40)} fits its schema`, () => {
      assert.equal(source, undefined);
      const topics = describedTopics.find(({ aggregate }) => aggregate.category === splitStream(stream).category);
      const all: Readonly<Record<string, readonly [string, TSchema]>> = { ...topicsOfAll, ...topics?.topics };
      assert.ok(Check(all[topic]![1], data), JSON.stringify(data));
    });

  it('have schemas that refuse other data', () => {
    const [, schema] = described.get(aggregates.find(({ category }) => category === 'job')!)!.jobsMoved ?? [
      '',
      Type.Never(),
    ];
    assert.equal(Check(schema, {}), false);
  });
});
