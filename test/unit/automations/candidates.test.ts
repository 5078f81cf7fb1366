import assert from 'node:assert/strict';
import { compileUserSchema } from '@automation-platform/bounded-schemas';
import fc from 'fast-check';
import { candidates } from '../../../src/runners/triggers/candidates.ts';

const old = 'http://json-schema.org/draft-07/schema#';
const recent = 'https://json-schema.org/draft/2020-12/schema';
/** A filter as it comes out of the log: JSON.parse makes `__proto__` a member like others. */
const json = (text: string): unknown => JSON.parse(text);

const fits = (schema: unknown, payload: unknown): boolean => {
  if (schema === null) return true;
  const made = compileUserSchema(schema);
  return made.ok && made.matches(payload).valid;
};

/** Which of the filters the index gives for a payload, by their names. */
const found = (filters: Readonly<Record<string, unknown>>, payload: unknown): readonly string[] => {
  const index = candidates();
  for (const [id, schema] of Object.entries(filters)) index.set(id, { source: 's', topic: 't', schema });
  return index.find('s', 't', payload).sort();
};
const pinning = (member: string, values: readonly unknown[]) => ({
  required: [member],
  properties: { [member]: { enum: values } },
});

describe('candidates of an event', () => {
  it('are found by source and topic, both the same to the letter', () => {
    const index = candidates();
    index.set('1', { source: 'a', topic: 'b', schema: null });
    index.set('2', { source: 'a', topic: 'B', schema: null });
    index.set('3', { source: 'a:b', topic: 'c', schema: null });
    index.set('4', { source: 'a', topic: 'b:c', schema: null });
    index.set('5', { source: '__proto__', topic: 'toString', schema: null });
    assert.deepEqual(index.find('a', 'b', {}), ['1']);
    assert.deepEqual(index.find('a:b', 'c', {}), ['3']);
    assert.deepEqual(index.find('a', 'b:c', {}), ['4']);
    assert.deepEqual(index.find('__proto__', 'toString', {}), ['5']);
    assert.deepEqual(index.find('constructor', 'toString', {}), []);
    assert.deepEqual(index.find('a', 'hasOwnProperty', {}), []);
  });

  it('follow changes and removals', () => {
    const index = candidates();
    index.set('1', { source: 's', topic: 't', schema: pinning('a', [1]) });
    index.set('1', { source: 's', topic: 't', schema: pinning('a', [2]) });
    assert.deepEqual(index.find('s', 't', { a: 1 }), []);
    assert.deepEqual(index.find('s', 't', { a: 2 }), ['1']);
    index.set('1', { source: 's', topic: 'u', schema: null });
    assert.deepEqual(index.find('s', 't', { a: 2 }), []);
    assert.deepEqual(index.find('s', 'u', 5), ['1']);
    index.remove('1');
    index.remove('1');
    assert.deepEqual(index.find('s', 'u', 5), []);
  });

  it('are those whose constants the payload has', () => {
    const filters = {
      const: { required: ['a'], properties: { a: { const: 1 } } },
      enum: pinning('a', [1, 2]),
      within: { allOf: [{ required: ['a'] }, { properties: { a: { allOf: [{ const: 1 }] } } }] },
      other: pinning('a', ['1']),
      none: pinning('a', []),
      free: { required: ['a'] },
      optional: { properties: { a: { const: 3 } } },
    };
    assert.deepEqual(found(filters, { a: 1 }), ['const', 'enum', 'free', 'optional', 'within']);
    assert.deepEqual(found(filters, { a: 2 }), ['enum', 'free', 'optional']);
    assert.deepEqual(found(filters, {}), ['free', 'optional']);
  });

  it('compare as JSON does', () => {
    const filters = {
      number: json('{"required":["a"],"properties":{"a":{"const":1.0}}}'),
      zero: json('{"required":["a"],"properties":{"a":{"const":-0}}}'),
      object: pinning('a', [{ x: 1, y: [2] }]),
      text: pinning('a', ['x']),
      large: pinning('a', [{ x: 'x'.repeat(5000), y: 1 }]),
    };
    assert.deepEqual(found(filters, { a: 1 }), ['number']);
    assert.deepEqual(found(filters, { a: 0 }), ['zero']);
    assert.deepEqual(found(filters, { a: { y: [2.0], x: 1 } }), ['object']);
    assert.deepEqual(found(filters, { a: { y: 1, x: 'x'.repeat(5000) } }), ['large']);
  });

  it('are all that do not ask for an object when the payload is none', () => {
    const filters = { any: pinning('a', [1]), object: { ...pinning('a', [1]), type: 'object' } };
    for (const payload of [5, null, 'a', [1]]) assert.deepEqual(found(filters, payload), ['any']);
  });

  it('are pinned by nothing that stands beside a $ref of draft-07', () => {
    const beside = { ...pinning('a', [1]), $ref: '#/definitions/all', definitions: { all: true } };
    const member = {
      required: ['a'],
      properties: { a: { const: 1, $ref: '#/definitions/all' } },
      definitions: { all: true },
    };
    const filters = Object.fromEntries(
      Object.entries({ beside, member }).flatMap(([name, schema]) => [
        [`${name} old`, { $schema: old, ...schema }],
        [`${name} new`, { $schema: recent, ...schema }],
      ]),
    );
    assert.deepEqual(found(filters, { a: 2 }), ['beside old', 'member old']);
    assert.deepEqual(found(filters, { a: 1 }), ['beside new', 'beside old', 'member new', 'member old']);
  });

  it('may be ten of 10,000 on one topic, and of them one with two members pinned', () => {
    const index = candidates();
    for (let i = 0; i < 10_000; i++) {
      index.set(`one ${i}`, { source: 's', topic: 'one', schema: pinning('device', [`r${i % 1000}`]) });
      const both = { allOf: [pinning('kind', [i % 100]), pinning('site', [Math.floor(i / 100)])] };
      index.set(`two ${i}`, { source: 's', topic: 'two', schema: both });
    }
    assert.equal(index.find('s', 'one', { device: 'r7' }).length, 10);
    assert.deepEqual(index.find('s', 'two', { kind: 7, site: 12 }), ['two 1207']);
    assert.equal(index.find('s', 'two', { kind: 7 }).length, 0);
  });

  // Each run has 20 filters and 50 events.
  const runs = process.env.SOAK_ROUNDS ? 1000 : 4;
  it(`never lack a trigger that fires: ${runs * 1000} pairs`, function () {
    this.timeout(600_000);
    const names = fc.constantFrom('a', 'b', 'toString', 'valueOf', '__proto__', 'constructor');
    const texts = [
      '1',
      '1.0',
      '0',
      '-0',
      '"1"',
      'true',
      'null',
      '""',
      '"toString"',
      '[]',
      '[1]',
      '{}',
      '{"a":1,"b":2}',
    ];
    const odd = ['{"b":2.0,"a":1}', '{"toString":1}', '{"__proto__":1}', '{"valueOf":{"__proto__":null}}', '"{}"'];
    const values = fc.constantFrom(...texts, ...odd);
    const textOf = (members: readonly (readonly [string, string])[]): string =>
      `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
    const objects = fc.uniqueArray(fc.tuple(names, values), { maxLength: 5, selector: ([name]) => name }).map(textOf);
    const payloads = fc.oneof({ weight: 9, arbitrary: objects }, values);

    const list = (of: fc.Arbitrary<string>, minLength: number, maxLength: number) =>
      fc.array(of, { minLength, maxLength }).map((all) => `[${all.join(',')}]`);
    const required = fc.uniqueArray(names, { maxLength: 3 }).map((all) => JSON.stringify(all));
    const reference = fc.constant('"#/definitions/d"');
    const member = fc.oneof(
      { weight: 4, arbitrary: values.map((value) => `{"const":${value}}`) },
      { weight: 4, arbitrary: list(values, 0, 4).map((all) => `{"enum":${all}}`) },
      values.map((value) => `{"const":${value},"$ref":"#/definitions/d"}`),
      values.map((value) => `{"not":{"const":${value}}}`),
      fc
        .tuple(values, list(values, 1, 3))
        .map(([value, all]) => `{"allOf":[{"enum":${all}},{"not":{"const":${value}}}]}`),
      fc.constantFrom('true', '{"type":"object"}', '{"type":["string","number"]}'),
    );
    const properties = fc
      .uniqueArray(fc.tuple(names, member), { maxLength: 3, selector: ([name]) => name })
      .map(textOf);
    const pins = fc
      .tuple(names, member, fc.constantFrom('', '"type":"object",', '"$ref":"#/definitions/d",'))
      .map(([name, of, more]) => `{${more}"required":["${name}"],"properties":{"${name}":${of}}}`);
    const { schema } = fc.letrec<{ schema: string; keyword: [string, string] }>((tie) => {
      const some = (most: number) => list(tie('schema'), 1, most);
      return {
        schema: fc.oneof(
          { depthSize: 'small' },
          fc.constantFrom('{}', 'true', '{"type":"object"}'),
          { weight: 2, arbitrary: pins },
          fc.uniqueArray(tie('keyword'), { minLength: 1, maxLength: 4, selector: ([name]) => name }).map(textOf),
        ),
        keyword: fc.oneof(
          { depthSize: 'small' },
          fc.tuple(fc.constant('required'), required),
          fc.tuple(fc.constant('properties'), properties),
          fc.tuple(fc.constant('properties'), properties),
          fc.tuple(fc.constant('required'), required),
          fc.tuple(fc.constant('type'), fc.constantFrom('"object"', '["object"]', '["object","null"]')),
          fc.tuple(fc.constant('$ref'), reference),
          fc.tuple(fc.constant('allOf'), some(3)),
          fc.tuple(fc.constantFrom('anyOf', 'oneOf'), some(2)),
          fc.tuple(fc.constantFrom('not', 'if', 'then', 'else'), tie('schema')),
        ),
      };
    });
    const dialect = fc.constantFrom('', `"$schema":"${old}",`, `"$schema":"${recent}",`);
    const definition = fc.constantFrom(
      'true',
      '{"type":"object"}',
      '{"required":["a"]}',
      '{"properties":{"a":{"const":1}}}',
    );
    const filters = fc
      .tuple(dialect, definition, fc.oneof(pins, schema))
      .map(([begin, d, text]) =>
        text.startsWith('{"') ? json(`{${begin}"definitions":{"d":${d}},${text.slice(1)}`) : json(text),
      );

    const counted = { pairs: 0, fitting: 0, found: 0 };
    const batch = { minLength: 20, maxLength: 20, size: 'max' } as const;
    const fifty = { minLength: 50, maxLength: 50, size: 'max' } as const;
    fc.assert(
      fc.property(fc.array(filters, batch), fc.array(payloads.map(json), fifty), (some, events) => {
        const index = candidates();
        for (const [i, filter] of some.entries()) index.set(String(i), { source: 's', topic: 't', schema: filter });
        for (const event of events) {
          const tried = new Set(index.find('s', 't', event));
          const right = some.flatMap((filter, i) => (fits(filter, event) ? [String(i)] : []));
          assert.deepEqual(
            right.filter((id) => !tried.has(id)),
            [],
          );
          counted.pairs += some.length;
          counted.fitting += right.length;
          counted.found += tried.size;
        }
      }),
      { numRuns: runs },
    );
    assert.ok(counted.pairs >= runs * 1000);
    // Neither may be trivial: many fit, and many are not even tried.
    assert.ok(counted.fitting > 0.1 * counted.pairs && counted.found < 0.9 * counted.pairs, JSON.stringify(counted));
    if (process.env.SHOW) console.log(counted);
  });
});
