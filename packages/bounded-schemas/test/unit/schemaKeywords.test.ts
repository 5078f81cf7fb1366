import assert from 'node:assert/strict';
import { compileUserSchema } from '../../src/index.ts';

const draft07 = 'http://json-schema.org/draft-07/schema#';
const draft2020 = 'https://json-schema.org/draft/2020-12/schema';

/** What a keyword lets in and what it does not, in each of the dialects. */
const judges = (
  schema: object,
  fitting: readonly unknown[],
  unfit: readonly unknown[],
  dialects: readonly (string | undefined)[] = [undefined, draft07, draft2020],
): void => {
  for (const $schema of dialects) {
    const made = compileUserSchema($schema === undefined ? schema : { $schema, ...schema });
    if (!made.ok) assert.fail(`${$schema}: ${JSON.stringify(schema)}: ${made.reason}`);
    for (const value of fitting)
      assert.deepEqual(
        made.matches(value),
        { valid: true, errors: [] },
        `${$schema}: ${JSON.stringify({ schema, value })}`,
      );
    for (const value of unfit) {
      const { valid, errors } = made.matches(value);
      assert.ok(!valid, `${$schema}: lets in ${JSON.stringify({ schema, value })}`);
      assert.ok(errors.length > 0 && errors.every(({ message }) => message.length > 0));
    }
  }
};
const newer = [undefined, draft2020];
const older = [undefined, draft07];

const refused = (schema: unknown, words: RegExp): void => {
  const made = compileUserSchema(schema);
  assert.ok(!made.ok, `takes ${JSON.stringify(schema)}`);
  assert.match(made.reason, words);
};

// As JSON.parse makes it: a member of its own.
const proto = (value: unknown): object => JSON.parse(`{"__proto__":${JSON.stringify(value)}}`);

describe('keywords of JSON Schema', () => {
  it('that say what a value is', () => {
    judges({ type: ['integer', 'null'] }, [1, 1.0, 1e30, null], ['1', 1.5, true, {}, []]);
    judges({ const: null }, [null], [0, false, '', {}, []]);
    judges({ const: 0 }, [0, -0], [false, null, '0', []]);
    judges(
      { const: { a: [1, { b: null }], c: 'x' } },
      [{ c: 'x', a: [1, { b: null }] }],
      [{ a: [1, { b: null }] }, { a: [1, {}], c: 'x' }, []],
    );
    judges({ enum: [1, 'a', { a: 1 }, [1]] }, [1, 'a', { a: 1 }, [1]], ['1', { a: 2 }, [1, 1], null]);
  });

  it('an empty enum, which nothing fits', () => {
    judges({ enum: [] }, [], [null, '', 0, {}, [], false]);
    judges({ properties: { choice: { type: 'string', enum: [] } } }, [{}, { choice: undefined }], [{ choice: '' }]);
    const made = compileUserSchema({ properties: { choice: { enum: [] } } });
    assert.deepEqual(made.ok && made.matches({ choice: 1 }).errors, [
      { path: '/choice', message: 'has no allowed values: its enum is empty' },
    ]);
  });

  it('that bound numbers, exactly', () => {
    judges({ minimum: 1, exclusiveMaximum: 3 }, [1, 2.9, 'x'], [0.9, 3]);
    judges({ multipleOf: 0.01 }, [19.99, 0.07, 4.35, 1e20, 0, -0.01, 'x'], [0.001, 19.995, 1e-7]);
    judges({ multipleOf: 1e-8 }, [12391239123, 0.00000003], [0.000000001]);
    judges({ multipleOf: 3 }, [9, -3, 9e15], [10, 0.3]);
  });

  it('that bound texts, by characters', () => {
    judges({ minLength: 2, maxLength: 2 }, ['ab', '😀😀', 1], ['a', '😀', 'abc']);
  });

  it('that bound lists', () => {
    judges({ minItems: 1, maxItems: 2 }, [[1], [1, 2], 'x', { length: 0 }], [[], [1, 2, 3]]);
    judges({ contains: { const: 1 } }, [[0, 1], 'x'], [[], [0]]);
    judges(
      { contains: { type: 'number' }, minContains: 2, maxContains: 3 },
      [
        [1, 2, 'x'],
        [1, 2, 3],
      ],
      [[1], [1, 2, 3, 4]],
      newer,
    );
    judges(
      { uniqueItems: true },
      [[1, '1', true, [1], { a: 1 }, { b: 1 }]],
      [
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
        [[], []],
      ],
    );
  });

  it('that look into lists', () => {
    judges({ items: { type: 'number' } }, [[], [1]], [[1, 'x']]);
    judges({ items: [{ type: 'string' }], additionalItems: false }, [[], ['a']], [['a', 1], [1]], older);
    judges({ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, [[], ['a', 1]], [['a', 'b'], [1]], newer);
    refused({ prefixItems: [{}], items: [{}] }, /exclude each other/);
  });

  it('after a list of schemas, also for an empty list', () => {
    judges({ prefixItems: [{ type: 'object' }], contains: { type: 'object' } }, [[{}]], [[]], newer);
    judges({ items: [{ type: 'object' }], contains: { type: 'object' } }, [[{}]], [[]], older);
  });

  it('that look into objects', () => {
    judges(
      { properties: { a: { type: 'number' } }, patternProperties: { '^x-': true }, additionalProperties: false },
      [{}, { a: 1, 'x-b': 2 }],
      [{ a: 'x' }, { b: 1 }],
    );
    judges({ required: ['a'], minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { b: 1 }, { a: 1, b: 2, c: 3 }]);
    judges({ propertyNames: { maxLength: 1 } }, [{}, { a: 1 }], [{ ab: 1 }]);
    judges(
      { dependencies: { a: ['b'], c: { required: ['d'] } } },
      [{ b: 1 }, { a: 1, b: 1 }, { c: 1, d: 1 }],
      [{ a: 1 }, { c: 1 }],
    );
    judges(
      { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] } } },
      [{ a: 1, b: 1 }],
      [{ a: 1 }, { c: 1 }],
      newer,
    );
  });

  it('that put schemas together', () => {
    judges({ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1], [0, 3]);
    judges({ anyOf: [{ type: 'string' }, { minimum: 1 }] }, ['x', 1], [0]);
    judges({ oneOf: [{ minimum: 1 }, { maximum: 2 }] }, [0, 3], [1]);
    judges({ not: { type: 'string' } }, [1], ['x']);
    judges({ if: { minimum: 10 }, then: { multipleOf: 10 }, else: { maximum: 5 } }, [20, 5], [15, 7]);
    judges({ if: false, else: { const: 1 } }, [1], [2]);
  });

  it('whose schemas may be true, false or anything', () => {
    judges({ oneOf: [{ properties: { a: true } }, { properties: { a: false } }] }, [{ a: 1 }], [{}]);
    judges({ oneOf: [{ items: { anyOf: [{ type: 'string' }, { enum: ['a', false] }] } }, {}] }, [[1]], [['a']]);
  });
});

describe('references within schemas', () => {
  it('go to addresses within the document, which are never fetched', () => {
    const defs = (keyword: string) => ({
      $id: 'https://example.com/root.json',
      [keyword]: {
        port: { $id: 'port.json', type: 'integer', [keyword]: { name: { type: 'string' } } },
        deep: { $id: 'deep/', [keyword]: { x: { $id: 'x.json', type: 'null' } } },
      },
    });
    for (const [keyword, dialect] of [
      ['definitions', draft07],
      ['$defs', draft2020],
    ] as const) {
      const refers = (...refs: readonly string[]) => ({
        ...defs(keyword),
        properties: Object.fromEntries(refs.map((ref, i) => [`p${i}`, { $ref: ref }])),
      });
      judges(
        refers('port.json', 'https://example.com/port.json', '/port.json'),
        [{ p0: 1, p1: 1, p2: 1 }],
        [{ p0: 'x' }, { p1: 'x' }, { p2: 'x' }],
        [dialect],
      );
      judges(
        refers(`port.json#/${keyword}/name`, 'deep/x.json', `#/${keyword}/deep/${keyword}/x`),
        [{ p0: 'x', p1: null, p2: null }],
        [{ p0: 1 }, { p1: 1 }, { p2: 1 }],
        [dialect],
      );
      refused({ $schema: dialect, ...refers('https://example.com/other.json') }, /leaves the schema/);
    }
  });

  it('go to the whole document by its own address, also a URN', () => {
    for (const $id of ['https://example.com/tree', 'urn:uuid:deadbeef-1234-ffff-ffff-4321feebdaed']) {
      judges({ $id, type: 'array', items: { $ref: $id } }, [[], [[], [[]]]], [1, [1]]);
      judges({ $id, definitions: { x: { type: 'null' } }, items: { $ref: `${$id}#/definitions/x` } }, [[null]], [[1]]);
    }
  });

  it('go to names', () => {
    judges({ definitions: { x: { $id: '#here', type: 'null' } }, items: { $ref: '#here' } }, [[null]], [[1]], older);
    judges(
      {
        $defs: { x: { $anchor: 'here', type: 'null' }, y: { $id: 'y', $anchor: 'here', type: 'string' } },
        items: { $ref: '#here' },
        maxItems: 1,
      },
      [[null]],
      [[1], ['x']],
      newer,
    );
    refused({ $schema: draft2020, $defs: { x: { $anchor: 'a' }, y: { $anchor: 'a' } } }, /Two schemas are called "#a"/);
    const twice = {
      x: { $id: 'a', type: 'null' },
      y: { $id: 'a', items: { $ref: '#/$defs/z' }, $defs: { z: { type: 'null' } } },
    };
    judges({ properties: twice }, [{ x: null, y: [null] }], [{ x: 1 }, { y: [1] }]);
    refused({ properties: { ...twice, z: { $ref: 'a' } } }, /Two schemas have the \$id/);
  });

  it('go to the first of a name on the way, if they are dynamic', () => {
    const tree = {
      $id: 'tree',
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { children: { items: { $dynamicRef: '#node' } } },
    };
    judges(
      { $id: 'https://example.com/strict', $dynamicAnchor: 'node', $ref: 'tree', required: ['name'], $defs: { tree } },
      [{ name: 'a', children: [{ name: 'b', children: [] }] }],
      [{ name: 'a', children: [{}] }, { children: [] }],
      [draft2020],
    );
    judges(
      { $id: 'https://example.com/lax', $ref: 'tree', $defs: { tree } },
      [{ children: [{}] }],
      [{ children: [1] }],
      [draft2020],
    );
  });

  it('go to the definitions of the dialects', () => {
    judges({ $ref: 'http://json-schema.org/draft-07/schema#' }, [{ type: 'string' }], [{ type: 'strng' }, 1], older);
    judges({ $ref: draft2020 }, [{ type: 'string' }], [{ type: 'strng' }, { allOf: [{ type: 1 }] }], newer);
  });

  it('stand alone in draft-07, and beside other keywords elsewhere', () => {
    const beside = {
      definitions: { x: { type: 'array' } },
      properties: { a: { $ref: '#/definitions/x', maxItems: 1 } },
    };
    judges(beside, [{ a: [1, 2] }], [{ a: 1 }], [draft07]);
    judges(beside, [{ a: [1] }], [{ a: [1, 2] }, { a: 1 }], newer);
    refused(
      { definitions: { x: true }, items: { $id: 'y', $ref: '#/definitions/x' } },
      /must say which it is in \$schema/,
    );
  });

  it('keep to one dialect', () => {
    refused(
      { $schema: draft2020, $defs: { x: { $id: 'x', $schema: draft07 } } },
      /\/\$defs\/x\/\$schema must be that of the whole schema/,
    );
  });
});

describe('members that nothing has looked at', () => {
  const onlyNew = newer;
  it('of objects', () => {
    judges({ properties: { a: true }, unevaluatedProperties: false }, [{}, { a: 1 }, 'x', []], [{ b: 1 }], onlyNew);
    judges(
      {
        allOf: [{ properties: { a: true } }],
        $ref: '#/$defs/x',
        $defs: { x: { patternProperties: { '^x': true } } },
        unevaluatedProperties: { type: 'number' },
      },
      [{ a: 'a', x1: 'a', n: 1 }],
      [{ n: 'a' }],
      onlyNew,
    );
    judges(
      {
        anyOf: [
          { properties: { a: { const: 1 } }, required: ['a'] },
          { properties: { b: true }, required: ['b'] },
        ],
        unevaluatedProperties: false,
      },
      [{ a: 1 }, { b: 1 }, { a: 1, b: 1 }],
      [
        { a: 2, b: 1 },
        { a: 1, c: 1 },
      ],
      onlyNew,
    );
    judges(
      { if: { properties: { a: { const: 1 } }, required: ['a'] }, unevaluatedProperties: false },
      [{ a: 1 }, {}],
      [{ a: 2 }, { a: 1, b: 1 }],
      onlyNew,
    );
    judges({ not: { not: { properties: { a: true } } }, unevaluatedProperties: false }, [{}], [{ a: 1 }], onlyNew);
    judges(
      { dependentSchemas: { a: { properties: { a: true, b: true } } }, unevaluatedProperties: false },
      [{ a: 1, b: 1 }],
      [{ b: 1 }],
      onlyNew,
    );
    judges({ additionalProperties: true, unevaluatedProperties: false }, [{ a: 1 }], [], onlyNew);
  });

  it('of lists', () => {
    judges({ prefixItems: [true], unevaluatedItems: false }, [[], [1], {}], [[1, 2]], onlyNew);
    judges(
      { contains: { type: 'string' }, unevaluatedItems: { type: 'number' } },
      [['a', 1]],
      [['a', null], [1]],
      onlyNew,
    );
    judges(
      {
        allOf: [{ contains: { multipleOf: 2 } }, { contains: { multipleOf: 3 } }],
        unevaluatedItems: { multipleOf: 5 },
      },
      [[2, 3, 5, 6]],
      [[2, 3, 7]],
      onlyNew,
    );
    judges(
      { unevaluatedItems: { type: 'number' }, anyOf: [{ items: { type: 'string' } }, true] },
      [['a'], [1]],
      [['a', 1, null]],
      onlyNew,
    );
  });

  it('also where schemas come back to themselves', () => {
    judges(
      { $ref: '#/$defs/r', $defs: { r: { unevaluatedItems: { $ref: '#/$defs/r', const: 1 } } } },
      [[], [1, 1]],
      [[null], [null, 1], [1, [2]]],
      onlyNew,
    );
    const path = { properties: { next: { $ref: '#' } }, unevaluatedProperties: false };
    judges(path, [{ next: { next: {} } }], [{ next: { other: {} } }], onlyNew);
    const made = compileUserSchema({ ...path, $schema: draft2020 });
    assert.deepEqual(made.ok && made.matches({ next: { next: { a: 1 } } }).errors, [
      { path: '/next/next/a', message: 'is not a known field' },
    ]);
  });

  it('in a bounded time', () => {
    const variants = Array.from({ length: 200 }, (_, i) => ({ properties: { [`p${i}`]: true }, required: [`p${i}`] }));
    const made = compileUserSchema({ $schema: draft2020, anyOf: variants, unevaluatedProperties: { type: 'number' } });
    const value = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`p${i}`, 1]));
    assert.deepEqual(made.ok && made.matches(value).errors, [{ path: '', message: 'is too large for this schema' }]);
  });
});

describe('members that are called like those all objects have', () => {
  const names = ['toString', 'valueOf', 'toJSON', 'constructor', 'hasOwnProperty', 'length', 'then', 'prototype'];

  it('in values and schemas are members like any other', () => {
    for (const name of names) {
      for (const member of ['x', { [name]: 1 }]) {
        const value = { [name]: member };
        judges({ const: value }, [value, { ...value }], [{}, { [name]: 'other' }, { [name]: member, a: 1 }, []]);
        judges({ enum: [value, 1] }, [value], [{}, { [name]: 'other' }]);
        judges({ uniqueItems: true }, [[value, {}]], [[value, { ...value }]]);
        judges({ properties: { [name]: { const: member } }, required: [name] }, [value], [{}, { [name]: 'other' }]);
        judges({ additionalProperties: false }, [{}], [value]);
        judges({ minProperties: 1, maxProperties: 1, propertyNames: { const: name } }, [value], [{}, { a: 1 }]);
        judges({ dependencies: { [name]: ['a'] } }, [{}, { ...value, a: 1 }], [value]);
        judges({ anyOf: [{ const: value }, { type: 'string' }] }, [value, 'x'], [{ [name]: 'other' }, 1]);
        judges({ unevaluatedProperties: false, properties: { a: true } }, [{ a: 1 }], [value], newer);
      }
    }
  });

  it('may even be __proto__', () => {
    judges({ properties: proto({ type: 'number' }) }, [{}, proto(1)], [proto('x')]);
    judges({ properties: { a: true }, additionalProperties: false }, [{ a: 1 }], [proto(1)]);
    judges({ required: ['__proto__'] }, [proto(1)], [{}]);
    judges({ const: proto(1) }, [proto(1)], [{}, proto(2)]);
    refused({ dependencies: proto(['a']) }, /__proto__ is not supported in dependencies/);
  });

  it('in the place of what a keyword must be are refused', () => {
    for (const name of names) {
      const odd = { [name]: 1 };
      refused({ $schema: odd }, /draft-07 or 2020-12/);
      for (const $schema of [undefined, draft07, draft2020]) {
        refused({ ...($schema !== undefined && { $schema }), required: [odd, { ...odd }] }, /\/required/);
        refused({ ...($schema !== undefined && { $schema }), type: [odd, { ...odd }] }, /\/type/);
        refused({ ...($schema !== undefined && { $schema }), allOf: odd }, /\/allOf/);
      }
    }
  });
});

describe('patterns in schemas', () => {
  it('have no escapes that ECMA 262 does not know', () => {
    for (const escape of [
      '\\h',
      '\\Z',
      '\\A',
      '\\z',
      '\\Q',
      '\\E',
      '\\G',
      '\\a',
      '\\e',
      '\\C',
      '\\i',
      '\\j',
      '\\R',
      '\\X',
      '\\é',
      '\\01',
      '\\x4',
      '\\u12',
      '\\u{110000}',
      '\\c1',
      '\\pL',
      '\\p{^L}',
      '\\p{Nonsense}',
      '[[:alpha:]]',
      '(?i)a',
      '(?P<a>b)',
      '(?#a)',
      'a\\',
    ])
      refused(
        { properties: { a: { pattern: `ab${escape}` } } },
        /^\/properties\/a\/pattern: The pattern "ab.*(?:at character [34]|error parsing)/,
      );
    for (const back of ['\\k', '\\k<a>', '(?<a>b)\\k<a>', '(a)\\1'])
      refused({ pattern: back }, /\\\\[k1]\\?" at character \d+ refers back/);
    for (const look of ['(?=a)', '(?!a)', '(?<=a)', '(?<!a)'])
      refused({ patternProperties: { [`a${look}`]: true } }, /at character 2 looks around/);
  });

  it('mean what ECMA 262 says', () => {
    const cases: readonly [pattern: string, fitting: readonly string[], unfit: readonly string[]][] = [
      ['^.$', ['a', '😀', '\u0085'], ['\n', '\r', '\u2028', '']],
      ['^\\s$', [' ', '\u00a0', '\ufeff', '\v', '\u2029', '\u3000'], ['a', '\u200b']],
      ['^[\\S]$', ['a', '\u200b', '😀'], [' ', '\u00a0', '\ufeff']],
      ['^[^]$', ['a', '\n', '😀'], ['']],
      ['[]', [], ['', 'a', '[]']],
      ['^[[]$', ['['], ['a']],
      ['^[\\b]$', ['\b'], ['b']],
      ['^\\-\\_\\@\\"\\/\\ $', ['-_@"/ '], ['\\-']],
      ['^\\x41\\u0042\\u{1F600}\\ud83d\\ude00\\cJ\\0$', ['AB😀😀\n\0'], ['AB']],
      ['^\\p{Letter}\\p{Lu}\\P{Script=Greek}\\p{gc=Decimal_Number}$', ['éÉa1'], ['1Éa1', 'éÉα1']],
      ['^(?<year>\\d{4})$', ['2026'], ['26']],
      ['a$', ['a'], ['a\n']],
    ];
    for (const [pattern, fitting, unfit] of cases) judges({ pattern }, fitting, unfit);
  });
});
