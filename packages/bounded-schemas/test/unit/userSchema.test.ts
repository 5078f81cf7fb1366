import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { canonical } from '@automation-platform/json';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { compileFilter, compileUserSchema, formats, schemaFaultOf } from '../../src/index.ts';

const draft2020 = 'https://json-schema.org/draft/2020-12/schema';

const compiled = (schema: unknown) => {
  const made = compileUserSchema(schema);
  return made.ok ? made.matches : assert.fail(made.reason);
};
/** `path: message` for each fault of the value. */
const faultsOf = (schema: unknown, value: unknown): readonly string[] => {
  const { valid, errors } = compiled(schema)(value);
  assert.equal(valid, errors.length === 0);
  return errors.map(({ path, message }) => `${path}: ${message}`);
};
const refused = (schema: unknown, words: RegExp) => {
  const made = compileUserSchema(schema);
  assert.ok(!made.ok, `compiled: ${JSON.stringify(schema).slice(0, 100)}`);
  assert.match(made.reason, words);
};
const times = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));
describe('schemas that users store', function () {
  // Work without bounds would take minutes and more.
  this.timeout(30_000);

  it('check values and name each fault', () => {
    const schema = {
      type: 'object',
      properties: { status: { const: 'up' }, host: { type: 'string', pattern: '^r\\d+$' } },
      required: ['status', 'host'],
    };
    assert.deepEqual(faultsOf(schema, { status: 'up', host: 'r12', more: 1 }), []);
    assert.deepEqual(faultsOf(schema, { status: 'down' }), ['/host: is required', '/status: must be "up"']);
    assert.deepEqual(faultsOf(schema, { status: 'up', host: 'x' }), ['/host: must match pattern "^r\\d+$"']);
    assert.deepEqual(faultsOf(true, 1), []);
    assert.deepEqual(faultsOf(false, 1), [': is not allowed']);
  });

  it('take patterns that are large together as one that is too large', () => {
    const patterned = (count: number) => ({
      properties: Object.fromEntries(times(count, (i) => [`m${i}`, { pattern: `a{900}${i}` }])),
    });
    assert.deepEqual(faultsOf(patterned(30), {}), []);
    refused(patterned(40), /patterns are too large together/);
  });

  it('find fault all the same where a reference goes into a union', () => {
    const schema = {
      properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] }, b: { $ref: '#/properties/a/anyOf/0' } },
    };
    assert.deepEqual(faultsOf(schema, { b: 1 }), ['/b: must be string']);
  });

  it('find fault with the variant that is meant', () => {
    const schema = {
      oneOf: [
        { properties: { type: { const: 'a' }, n: { type: 'integer' } }, required: ['n'] },
        { properties: { type: { const: 'b' } }, required: ['x'] },
      ],
    };
    assert.deepEqual(faultsOf(schema, { type: 'a', n: 'x' }), ['/n: must be integer']);
  });

  it('are draft-07, or 2020-12 if they say so', () => {
    const tuple = { $schema: draft2020, prefixItems: [{ type: 'string' }], items: false };
    assert.deepEqual(faultsOf(tuple, ['a']), []);
    assert.deepEqual(faultsOf(tuple, ['a', 1]), [': must NOT have more than 1 items']);
    assert.deepEqual(
      faultsOf(
        { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }], additionalItems: false },
        ['a', 1],
      ),
      [': must NOT have more than 1 items'],
    );
    assert.deepEqual(
      faultsOf(
        { $schema: draft2020, allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
        { a: 1, b: 1 },
      ),
      ['/b: is not a known field'],
    );
    refused({ $schema: 'http://json-schema.org/draft-04/schema#' }, /draft-07 or 2020-12/);
    refused({ $schema: draft2020, items: [{}] }, /not valid: \/items/);
  });

  it('may hold keywords and formats that nobody knows', () => {
    assert.deepEqual(
      faultsOf(
        {
          'x-ui': { $ref: 'http://a/b' },
          title: 'T',
          type: 'string',
          format: 'data-url',
          $async: true,
          nullable: true,
        },
        'x',
      ),
      [],
    );
    assert.deepEqual(faultsOf({ type: 'string', nullable: true }, null), [': must be string']);
  });

  it('may hold members that are called like keywords, or like members that all objects have', () => {
    assert.deepEqual(
      faultsOf({ properties: { $ref: { type: 'string' }, $id: { type: 'string' } } }, { $ref: 1, $id: 'x' }),
      ['/$ref: must be string'],
    );
    assert.deepEqual(faultsOf({ required: ['constructor'] }, {}), ['/constructor: is required']);
    assert.deepEqual(faultsOf({ properties: { toString: { type: 'string' } } }, {}), []);
  });

  it('follow references within themselves', () => {
    const tree = {
      definitions: {
        node: {
          type: 'object',
          properties: { children: { type: 'array', items: { $ref: '#/definitions/node' } } },
          required: ['children'],
        },
      },
      $ref: '#/definitions/node',
    };
    assert.deepEqual(faultsOf(tree, { children: [{ children: [] }, { children: [{}] }] }), [
      '/children/1/children/0/children: is required',
    ]);
    assert.deepEqual(faultsOf({ definitions: { 'a b/c': { type: 'string' } }, $ref: '#/definitions/a%20b~1c' }, 1), [
      ': must be string',
    ]);
    assert.deepEqual(
      faultsOf({ $schema: draft2020, $defs: { x: { $anchor: 'here', type: 'string' } }, $ref: '#here' }, 1),
      [': must be string'],
    );
    assert.deepEqual(
      faultsOf({ $id: 'https://example.com/mine', items: { $ref: '#' }, type: ['array', 'null'] }, [null, [1]]),
      ['/1/0: must be array or null'],
    );
  });

  it('are refused with the reason', () => {
    refused(null, /object or a boolean/);
    refused([], /object or a boolean/);
    refused('x', /object or a boolean/);
    refused({ type: 'strng' }, /\/type must be one of "array"/);
    refused({ required: 'a' }, /\/required must be array/);
    refused({ properties: { a: { minimum: 'x' } } }, /\/properties\/a\/minimum must be number/);
  });

  it('are refused when references leave them, lead nowhere or never end', () => {
    for (const ref of ['http://json-schema.org/draft-04/schema#', 'other.json', '/x', 'file:///etc/passwd'])
      refused({ $ref: ref }, /leaves the schema/);
    for (const ref of ['#/definitions/x', '#x', '#/enum/0', '#/definitions', '#/%', '#/constructor'])
      refused({ definitions: {}, enum: [{ type: 'string' }], not: { $ref: ref } }, /names no schema/);
    refused({ $ref: '#' }, /without an end/);
    refused(
      { definitions: { a: { allOf: [{ $ref: '#/definitions/b' }] }, b: { if: { $ref: '#/definitions/a' } } } },
      /without an end/,
    );
    refused({ $schema: draft2020, $dynamicRef: '#x' }, /names no schema/);
    refused(
      { $schema: 'http://json-schema.org/draft-07/schema#', $dynamicRef: '#x' },
      /\$dynamicRef is not known in draft-07/,
    );
    refused({ $recursiveRef: '#' }, /\$recursiveRef is not supported/);
  });

  it('stay compiled while others are checked on saving, and while filters of triggers are compiled', () => {
    const used = compileUserSchema({ type: 'object', title: 'used' });
    for (let n = 0; n < 600; n++) {
      assert.deepEqual(schemaFaultOf({ title: `saved ${n}` }), {});
      assert.ok(compileFilter({ title: `filter ${n}` }).filter.ok);
    }
    assert.equal(compileUserSchema({ type: 'object', title: 'used' }), used);
  });
  it('are told why they cannot be compiled, each time', () => {
    for (const schema of [{ type: 'nothing' }, { $ref: '#/missing' }, 7]) {
      const compiled = compileUserSchema(schema);
      assert.ok(!compiled.ok);
      for (let n = 0; n < 2; n++) assert.deepEqual(schemaFaultOf(schema), { schemaFault: compiled.reason });
    }
    assert.deepEqual(schemaFaultOf(undefined), {});
  });
  it('are refused when too large or too deep', () => {
    refused({ description: 'x'.repeat(65 * 1024) }, /65536 bytes/);
    refused(JSON.parse(`${'{"not":'.repeat(33)}{}${'}'.repeat(33)}`), /32 levels/);
    refused({ enum: [JSON.parse('['.repeat(64) + ']'.repeat(64))] }, /32 levels/);
    refused({ anyOf: times(201, (i) => ({ minimum: i })) }, /may list 200/);
    refused({ properties: Object.fromEntries(times(1001, (i) => [`p${i}`, { minimum: i }])) }, /1000 schemas/);
    refused(
      {
        definitions: Object.fromEntries(
          times(900, (i) => [`d${i}`, i < 899 ? { $ref: `#/definitions/d${i + 1}` } : {}]),
        ),
        $ref: '#/definitions/d0',
      },
      /too deeply/,
    );
  });

  it('compare items of any size in linear time', () => {
    const unique = { uniqueItems: true };
    assert.deepEqual(
      faultsOf(unique, [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ]),
      [': must not have the same item twice'],
    );
    assert.deepEqual(faultsOf(unique, [1, '1', [1], { a: 1 }, null, 'null', true]), []);
    assert.deepEqual(faultsOf({ uniqueItems: false }, [1, 1]), []);
    assert.deepEqual(
      faultsOf(
        unique,
        times(30_000, (i) => ({ i })),
      ),
      [],
    );
  });

  describe('with regular expressions', () => {
    it('that RE2 does not know are refused', () => {
      for (const pattern of ['(?=a)', '(?<!a)b', '(a)\\1', 'a{2000}'])
        refused({ pattern }, /^\/pattern: .*linear time/);
      refused({ pattern: '(' }, /pattern/);
      refused({ patternProperties: { '(?=a)': true } }, /linear time/);
      refused({ pattern: 'x'.repeat(1001) }, /1000 characters/);
      refused({ pattern: '\\p{L}{500}'.repeat(50) }, /too large/);
    });

    it('understand what JavaScript writes', () => {
      for (const [pattern, good, bad] of [
        ['^\\u0061\\/\\d$', 'a/1', 'b/1'],
        ['^(?<year>\\d{4})-[\\w-]+$', '2026-x_y', '26-x'],
        ['^.$', '😀', 'ab'],
        ['\\p{L}', 'é', '1'],
        ['a$', 'a', 'a\n'],
      ] as const) {
        assert.deepEqual(faultsOf({ pattern }, good), [], pattern);
        assert.equal(faultsOf({ pattern }, bad).length, 1, pattern);
      }
    });

    it('cannot stall the service', () => {
      for (const pattern of ['(a+)+$', '(a|aa)+$', '(a*)*b', '([a-z]+)*@', '(.*a){20}b', '^(\\w+\\s?)*$'])
        compiled({ pattern })(`${'a'.repeat(50_000)}!`);
      assert.match(faultsOf({ pattern: '(\\p{L}|é){300}\\d' }, 'é'.repeat(100_000)).join(), /too large/);
    });
  });

  describe('take a bounded time, whatever they say', () => {
    const doubling = (n: number) => ({
      definitions: Object.fromEntries([
        ...times(n, (i) => [
          `d${i}`,
          { allOf: [{ $ref: `#/definitions/d${i + 1}` }, { $ref: `#/definitions/d${i + 1}` }] },
        ]),
        [`d${n}`, { type: 'string' }],
      ]),
      $ref: '#/definitions/d0',
    });
    const tooLarge = [': is too large for this schema'];

    it('when every reference doubles the work', () => {
      assert.deepEqual(faultsOf(doubling(10), 'x'), []);
      assert.deepEqual(faultsOf(doubling(40), 'x'), tooLarge);
      assert.deepEqual(faultsOf(doubling(40), 1), [': must be string']);
    });

    it('when every level of the value doubles the work', () => {
      const schema = {
        definitions: {
          a: { properties: { x: { allOf: [{ $ref: '#/definitions/a' }, { $ref: '#/definitions/a' }] } } },
        },
        $ref: '#/definitions/a',
      };
      assert.deepEqual(faultsOf(schema, JSON.parse(`${'{"x":'.repeat(60)}1${'}'.repeat(60)}`)), tooLarge);
    });

    it('when large schemas look at large values again and again', () => {
      const long = 'x'.repeat(500_000);
      const wide = Object.fromEntries(times(50_000, (i) => [`k${i}`, i]));
      compiled({ allOf: times(200, (i) => ({ minLength: i })) })(long);
      compiled({ allOf: times(200, () => ({ minProperties: 1 })) })(wide);
      compiled({ items: { enum: times(5000, (i) => i) } })(times(50_000, () => 4999));
      compiled({ allOf: times(200, () => ({ uniqueItems: true })) })(times(20_000, (i) => ({ i })));
      compiled({ patternProperties: Object.fromEntries(times(100, (i) => [`(a|b)*${i}`, true])) })(wide);
      compiled({ format: 'uri' })(long);
    });

    it('in every format', () => {
      const parts = [
        'a',
        '1',
        '-',
        '.',
        '/',
        '%41',
        '{a,',
        'a@',
        'http://',
        '::',
        ':',
        '~0',
        '(',
        '[',
        ' ',
        '\n',
        'T',
        '=',
      ];
      for (const [name, format] of Object.entries(formats)) {
        if (typeof format !== 'function') continue;
        for (const head of ['', ...parts])
          for (const part of parts) format(`${(head + part.repeat(2048)).slice(0, 2046)}!`);
        assert.equal(format('x'.repeat(100_001)), false, name);
      }
    });
  });

  it('say of random values what ajv says', () => {
    const leaf = fc.oneof(
      fc.constantFrom('a', 'b', 'aa', '1'),
      fc.integer({ min: -2, max: 3 }),
      fc.boolean(),
      fc.constant(null),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
      ),
    }));
    const optional = (members: Record<string, fc.Arbitrary<unknown>>) => fc.record(members, { requiredKeys: [] });
    const { schema } = fc.letrec((tie) => {
      const some = fc.array(tie('schema'), { minLength: 1, maxLength: 3 });
      return {
        schema: fc.oneof(
          { depthSize: 'small', maxDepth: 4 },
          fc.boolean(),
          optional({
            type: fc.constantFrom('string', 'integer', 'number', 'object', 'array', 'null', ['string', 'null']),
          }),
          optional({ const: leaf }),
          optional({
            enum: fc.uniqueArray(leaf, { minLength: 1, maxLength: 3 }),
            pattern: fc.constantFrom('a+', '^b?$', '\\d'),
            minLength: fc.nat(2),
            maximum: fc.integer({ min: 0, max: 2 }),
            required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
            uniqueItems: fc.boolean(),
            maxItems: fc.nat(2),
            minProperties: fc.nat(2),
            properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
            patternProperties: fc.dictionary(fc.constantFrom('a', 'b|c'), tie('schema')),
            additionalProperties: tie('schema'),
            propertyNames: tie('schema'),
            items: fc.oneof(tie('schema'), some),
            contains: tie('schema'),
            not: tie('schema'),
            if: tie('schema'),
            then: tie('schema'),
            else: tie('schema'),
            anyOf: some,
            oneOf: some,
            allOf: some,
            dependencies: fc.dictionary(
              fc.constantFrom('a', 'b'),
              fc.oneof(tie('schema'), fc.uniqueArray(fc.constantFrom('a', 'c'), { maxLength: 2 })),
            ),
          }),
        ),
      };
    });
    fc.assert(
      fc.property(schema, fc.array(value, { minLength: 1, maxLength: 8 }), (wanted, found) => {
        // A schema within takes 5 characters at least, and there may be 1,000.
        fc.pre(JSON.stringify(wanted).length < 5000);
        const validate = new Ajv({ strict: false, meta: false, validateSchema: false, ownProperties: true }).compile(
          wanted as object,
        );
        for (const one of found)
          assert.equal(faultsOf(wanted, one).length === 0, validate(one), JSON.stringify({ wanted, one }));
      }),
      { numRuns: 40 },
    );
  });
});

describe('the canonical text', () => {
  it('is the same for equal values and no other', () => {
    assert.equal(
      canonical({ b: [1, { d: null, c: 'ä"' }], a: undefined, '': true }),
      '{"":true,"b":[1,{"c":"ä\\"","d":null}]}',
    );
    const shuffled = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(shuffled)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .reverse()
                .map(([name, member]) => [name, shuffled(member)]),
            )
          : value;
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [one, other] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))];
        assert.deepEqual(JSON.parse(canonical(one)), one);
        assert.equal(canonical(shuffled(one)), canonical(one));
        assert.equal(canonical(one) === canonical(other), isDeepStrictEqual(one, other));
      }),
    );
  });
});
