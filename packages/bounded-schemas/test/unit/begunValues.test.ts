import assert from 'node:assert/strict';
import { compileUserSchema } from '../../src/index.ts';

const pathsOf = (schema: object, value: unknown): readonly string[] => {
  const compiled = compileUserSchema(schema, 'begun');
  assert.ok(compiled.ok, JSON.stringify(compiled));
  return compiled.matches(value).errors.map(({ path }) => path);
};

const text = { type: 'string' };
const kindIs = (kind: string) => ({ properties: { kind: { const: kind } }, required: ['kind'] });
const address = { type: 'object', required: ['street', 'town'], properties: { street: text, town: text } };

/** `fits`: values that somebody can still complete. `not`: values that nobody can, with the places of their faults. */
const table: readonly {
  readonly what: string;
  readonly schema: object;
  readonly fits: readonly unknown[];
  readonly not: readonly (readonly [value: unknown, ...paths: string[]])[];
}[] = [
  {
    what: 'members that are required',
    schema: { type: 'object', required: ['name'], properties: { name: text, vlan: { maximum: 4094 } } },
    fits: [{}, { vlan: 1 }, { other: 1 }],
    not: [
      [{ name: 1 }, '/name'],
      [{ vlan: 5000 }, '/vlan'],
      [7, ''],
    ],
  },
  {
    what: 'members of members, and of definitions',
    schema: {
      definitions: { address },
      properties: { home: { $ref: '#/definitions/address' }, all: { items: { $ref: '#/definitions/address' } } },
    },
    fits: [{}, { home: {} }, { home: { town: 'Bonn' } }, { all: [{}] }],
    not: [
      [{ home: { town: 1 } }, '/home/town'],
      [{ all: [{}, { street: 1 }] }, '/all/1/street'],
    ],
  },
  {
    what: 'the least number of members and items',
    schema: { minProperties: 2, properties: { ports: { minItems: 2, maxItems: 3, contains: { const: 'Gi1' } } } },
    fits: [{}, { ports: [] }, { ports: ['Gi2'] }],
    not: [[{ ports: [1, 2, 3, 4] }, '/ports']],
  },
  {
    what: 'what one member requires beside it',
    schema: {
      dependentRequired: { a: ['b'] },
      dependencies: { c: ['d'], e: { required: ['f'], properties: { f: text } } },
    },
    fits: [{ a: 1 }, { c: 1 }, { e: 1 }],
    not: [[{ e: 1, f: 1 }, '/f']],
  },
  {
    what: 'unknown members',
    schema: { properties: { a: {} }, required: ['a'], additionalProperties: false },
    fits: [{}],
    not: [[{ b: 1 }, '/b']],
  },
  {
    what: 'variants, of which one must still be possible',
    schema: {
      oneOf: [
        { required: ['kind', 'vlan'], properties: { kind: { const: 'l2' }, vlan: { type: 'integer' } } },
        { required: ['kind', 'prefix'], properties: { kind: { const: 'l3' }, prefix: text } },
      ],
    },
    fits: [{}, { kind: 'l2' }, { kind: 'l3' }, { vlan: 1, prefix: 'p' }],
    not: [
      [{ kind: 'l2', vlan: 'x' }, '/vlan'],
      [{ kind: 'l4' }, '/kind'],
    ],
  },
  {
    what: 'conditions, as soon as they are decided',
    schema: {
      if: kindIs('l2'),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['vlan'], properties: { vlan: { type: 'integer' } } },
      else: { required: ['prefix'], properties: { prefix: text } },
    },
    fits: [{}, { vlan: 'x' }, { prefix: 1 }, { kind: 'l2', prefix: 1 }, { kind: 'l3', vlan: 'x' }],
    not: [
      [{ kind: 'l2', vlan: 'x' }, '/vlan'],
      [{ kind: 'l3', prefix: 1 }, '/prefix'],
    ],
  },
  {
    what: 'what must not be so, as soon as it is so for good',
    schema: { allOf: [{ not: kindIs('l2') }, { not: { required: ['old'] } }, { not: { not: { required: ['new'] } } }] },
    fits: [{}, { kind: 'l3' }, { new: 1 }],
    not: [
      [{ kind: 'l2' }, ''],
      [{ old: 1 }, ''],
    ],
  },
  {
    what: 'what must not be so and can still become otherwise',
    schema: { not: { maxProperties: 1 }, properties: { list: { not: { maxItems: 1 } }, one: { not: { const: {} } } } },
    fits: [{}, { list: [] }, { one: {} }],
    not: [],
  },
  {
    what: 'members that no keyword has looked at',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      anyOf: [
        { required: ['a'], properties: { a: text } },
        { required: ['b'], properties: { b: text } },
      ],
      unevaluatedProperties: false,
    },
    fits: [{}, { a: 'x' }],
    not: [[{ a: 1, b: 1 }, '/a', '/b', '']],
  },
];

describe('A value that somebody has still to complete', () => {
  for (const { what, schema, fits, not } of table)
    it(`is checked for what nothing can mend: ${what}`, () => {
      for (const value of fits) assert.deepEqual(pathsOf(schema, value), [], JSON.stringify(value));
      for (const [value, ...paths] of not) assert.deepEqual(pathsOf(schema, value), paths, JSON.stringify(value));
    });

  it('that fits the whole schema fits it, whatever the schema is', () => {
    const schemas: readonly object[] = table.map(({ schema }) => schema);
    const values = table.flatMap(({ fits, not }) => [...fits, ...not.map(([value]) => value)]);
    let both = 0;
    for (const schema of schemas)
      for (const value of values) {
        const whole = compileUserSchema(schema);
        if (!(whole.ok && whole.matches(value).valid)) continue;
        both += 1;
        assert.deepEqual(pathsOf(schema, value), [], `${JSON.stringify(value)} in ${JSON.stringify(schema)}`);
      }
    assert.ok(both > 100, String(both));
  });
});
