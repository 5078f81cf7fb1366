import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { checkJson } from '../../../src/domain/engine/strictJson.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { processorTime } from '../../support/processorTime.ts';

/** Where and why a text is refused; undefined: it is not. */
const faultOf = (text: string, exact?: string): { message: string; path: string } | undefined => {
  JSON.parse(text);
  try {
    checkJson(text, exact);
  } catch (error) {
    assert.ok(error instanceof RequestError, String(error));
    assert.equal(error.code, 'invalid');
    return { message: error.message, path: error.faults[0]!.path! };
  }
  return undefined;
};

const refused = (text: string, path: string, words: RegExp) => {
  const fault = faultOf(text);
  assert.ok(fault, `accepted: ${text.slice(0, 100)}`);
  assert.match(fault.message, words);
  assert.equal(fault.path, path);
};

/** The same said slowly: takes the text apart by recursion and returns the path of the first fault. */
const naive = (text: string): string | undefined => {
  let rest = text;
  const take = (pattern: RegExp): string => {
    const [found] = pattern.exec(rest) ?? assert.fail(`unexpected: ${rest.slice(0, 20)}`);
    rest = rest.slice(found.length);
    return found;
  };
  const bad = (path: string): never => {
    throw new RequestError('invalid', 'naive', { path });
  };
  const escape = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
  const string = (path: string): string => {
    const value = JSON.parse(take(/^"(?:[^"\\]|\\.)*"/s)) as string;
    if (/\p{Surrogate}/u.test(value)) bad(path);
    return value;
  };
  const read = (path: string, level: number): void => {
    take(/^\s*/);
    const next = rest[0]!;
    if ('[{'.includes(next) && level === 64) bad(path);
    if (next === '{') {
      const names = new Set<string>();
      take(/^\{\s*/);
      while (!rest.startsWith('}')) {
        const name = string(path);
        if (names.has(name) || ['__proto__', '$sealed', '$payload', '$exact'].includes(name))
          bad(`${path}/${escape(name)}`);
        names.add(name);
        take(/^\s*:/);
        read(`${path}/${escape(name)}`, level + 1);
        take(/^\s*,?\s*/);
      }
      take(/^\}/);
    } else if (next === '[') {
      take(/^\[\s*/);
      for (let index = 0; !rest.startsWith(']'); index++) {
        read(`${path}/${index}`, level + 1);
        take(/^\s*,?\s*/);
      }
      take(/^\]/);
    } else if (next === '"') {
      string(path);
    } else if (/[-\d]/.test(next)) {
      const written = take(/^[-+.\deE]+/);
      const value = Number(written);
      if (!Number.isFinite(value)) bad(path);
      if (!Number.isSafeInteger(value) && /^-?\d+$/.test(JSON.stringify(value))) bad(path);
      if (/^-?\d+$/.test(written) && !Number.isSafeInteger(value)) bad(path);
    } else {
      take(/^[a-z]+/);
    }
    take(/^\s*/);
  };
  try {
    read('', 0);
  } catch (error) {
    if (error instanceof RequestError) return error.faults[0]!.path;
    throw error;
  }
  return undefined;
};

const unit = fc.constantFrom(
  'a',
  'b',
  '~',
  '/',
  '_',
  '\\u0061',
  '\\"',
  '\\\\',
  '\\/',
  '\\n',
  'é',
  '😀',
  '\\ud83d\\ude00',
  '\\ud83d',
  '\\ude00',
  '\ud83d',
  '\ude00',
  '[',
  '{',
  ',',
  ':',
  ' ',
);
const text = fc.oneof(
  { weight: 9, arbitrary: fc.array(unit, { maxLength: 4 }).map((units) => `"${units.join('')}"`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '"__proto__"',
      '"\\u005f_proto_\\u005f"',
      '"__proto_"',
      '"constructor"',
      '"$sealed"',
      '"$\\u0070ayload"',
      '"$exact"',
      '"$seal"',
    ),
  },
);
const number = fc.oneof(
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map(String)
    .filter((written) => !written.includes('Infinity')),
  fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }).map(String),
  fc.constantFrom(
    '9007199254740991',
    '-9007199254740991',
    '9007199254740992',
    '-9007199254740993',
    '1e15',
    '1e16',
    '1E20',
    '1e21',
    '1e308',
    '1e309',
    '-1e400',
    '0.1e1',
    '9007199254740993.0',
    '123456789012345678901234567890',
    '-0',
    '1e-400',
    '12.5',
  ),
);
const space = fc.constantFrom('', '', ' ', '\n\t');
const { value } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    number,
    fc.constantFrom('true', 'false', 'null'),
    tie('object'),
    tie('array'),
  ),
  object: fc
    .array(fc.tuple(text, space, tie('value')), { maxLength: 12 })
    .map((members) => `{${members.map(([name, gap, of]) => `${name}${gap}:${gap}${of}`).join(',')}}`),
  array: fc
    .tuple(space, fc.array(tie('value'), { maxLength: 4 }))
    .map(([gap, items]) => `[${gap}${items.join(`${gap},`)}${gap}]`),
}));

describe('the check of JSON texts', () => {
  it('accepts what survives parsing', () => {
    for (const good of [
      'null',
      '0',
      '""',
      '{}',
      '[]',
      '-0',
      '1e300',
      '{"a":{"a":[{"a":1},{"a":2}]},"b":1}',
      '"\\ud83d\\ude00😀"',
      '9007199254740991',
      '-9007199254740991.0',
      '["a","a"]',
      '{"":1}',
      ' { "a" : [ 1 , 2 ] } ',
      '{"constructor":1,"prototype":2,"toString":3}',
      `[${'1,'.repeat(1000)}1]`,
    ])
      assert.equal(faultOf(good), undefined, good);
  });

  it('refuses members that occur twice, however they are written', () => {
    refused('{"a":1,"a":1}', '/a', /twice/);
    refused('{"a":1,"\\u0061":2}', '/a', /twice/);
    refused('{"x":[0,{"b/c":{},"d":[],"b\\/c":1}]}', '/x/1/b~1c', /twice/);
    refused('{"":1,"":2}', '/', /twice/);
    refused(`{${Array.from({ length: 20 }, (_, i) => `"k${i}":1`).join(',')},"k3":1}`, '/k3', /twice/);
  });

  it('refuses __proto__, however it is written', () => {
    refused('{"__proto__":null}', '/__proto__', /__proto__/);
    refused('[{"a":{"\\u005f\\u005fproto\\u005f_":1}}]', '/0/a/__proto__', /__proto__/);
    assert.equal(faultOf('{"a":"__proto__"}'), undefined);
  });

  it('refuses what passes itself off as sealed, or as kept elsewhere', () => {
    refused('{"variables":{"x":{"$sealed":"AAAA","tag":"t"}}}', '/variables/x/$sealed', /\$sealed/);
    refused('{"\\u0024payload":{"sha256":"0"}}', '/$payload', /\$payload/);
    assert.equal(faultOf('{"a":"$sealed","$seal":1}'), undefined);
  });

  it('refuses the 65th level', () => {
    assert.equal(faultOf(`${'['.repeat(64)}${']'.repeat(64)}`), undefined);
    refused(`${'['.repeat(65)}${']'.repeat(65)}`, '/0'.repeat(64), /64 levels/);
    refused(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, '/a'.repeat(64), /64 levels/);
    refused('['.repeat(1e6) + ']'.repeat(1e6), '/0'.repeat(64), /64 levels/);
  });

  it('refuses numbers that lose digits or become infinite', () => {
    refused('{"n":9007199254740992}', '/n', /2\^53/);
    refused('[1,-9007199254740993]', '/1', /2\^53/);
    refused('123456789012345678901234567890', '', /2\^53/);
    refused('1e20', '', /2\^53/);
    refused('[[1e400]]', '/0/0', /too large/);
    refused(`-${'9'.repeat(400)}`, '', /too large/);
  });

  it('lets integers of one member be as large as Python reads them', () => {
    const exactFault = (text: string) => faultOf(text, 'v');
    for (const good of [
      '{"v":9007199254740993}',
      '{"a":1,"v":{"b":[-123456789012345678901234567890]}}',
      `{"v":[${'9'.repeat(4300)},-${'9'.repeat(4300)}]}`,
      '{"v":1e20}',
      '{"\\u0076":9007199254740993}',
    ])
      assert.equal(exactFault(good), undefined, good);
    for (const [bad, path, words] of [
      ['{"w":9007199254740993}', '/w', /2\^53/],
      ['{"v":1,"w":{"v":9007199254740993}}', '/w/v', /2\^53/],
      ['[{"v":9007199254740993}]', '/0/v', /2\^53/],
      ['9007199254740993', '', /2\^53/],
      ['{"v":{"x":1e400}}', '/v/x', /too large/],
      ['{"v":[-1e999]}', '/v/0', /too large/],
      [`{"v":${'9'.repeat(4301)}}`, '/v', /4300 digits/],
      ['{"v":{"$exact":"1.0"}}', '/v/$exact', /\$exact/],
    ] as const) {
      const fault = exactFault(bad);
      assert.match(fault?.message ?? 'accepted', words, bad.slice(0, 40));
      assert.equal(fault?.path, path);
    }
  });

  it('refuses lone surrogates, escaped and raw', () => {
    refused('{"a":"\\ud83d"}', '/a', /surrogate/);
    refused('["x","\\ude00\\ud83d"]', '/1', /surrogate/);
    refused('"\ud83d"', '', /surrogate/);
    refused('"\ud83d\\u0041"', '', /surrogate/);
    refused('[{"a":1,"\\udfff":1}]', '/0', /surrogate/);
    assert.equal(faultOf('"\ud83d\\ude00"'), undefined);
  });

  it('cuts names of absurd length in what it answers', () => {
    const long = `"${'k'.repeat(1e6)}"`;
    assert.ok(faultOf(`{${long}:1,${long}:2}`)!.path.length < 300);
  });

  it('agrees with a slow and simple reading of any text', () => {
    fc.assert(
      fc.property(value, (json) => {
        assert.equal(faultOf(json)?.path, naive(json), json);
      }),
      { numRuns: 3000 },
    );
  });

  it('accepts again what it has accepted, once parsed and written anew', () => {
    fc.assert(
      fc.property(value, (json) => {
        if (faultOf(json) === undefined) assert.equal(faultOf(JSON.stringify(JSON.parse(json))), undefined, json);
      }),
      { numRuns: 1000 },
    );
  });

  itInSoak('takes time in proportion to the text, however hostile', () => {
    const many = { length: 1e5 };
    const texts = [
      `{${Array.from(many, (_, i) => `"k${i}":1`).join(',')}}`,
      `{${Array.from(many, (_, i) => `"\\u0061${i}":1`).join(',')}}`,
      `{${Array.from({ length: 3e4 }, (_, i) => `"${i * 131072}":1`).join(',')}}`,
      `"${'\\"'.repeat(2e6)}"`,
      `"${'\\ud83d\\ude00'.repeat(2e5)}"`,
      `[${'{"a":{}},'.repeat(2e5)}1]`,
      `0.${'1'.repeat(4e6)}`,
    ];
    for (const hostile of texts) {
      const parsing = timed(() => JSON.parse(hostile));
      const checking = timed(() => checkJson(hostile));
      assert.ok(checking < 20 * parsing + 4000, `${hostile.slice(0, 30)}: ${checking} ms, parsing alone ${parsing} ms`);
    }
  });
});

const timed = (work: () => void): number => {
  const spent = processorTime();
  work();
  return spent();
};
