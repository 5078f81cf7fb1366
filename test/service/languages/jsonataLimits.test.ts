import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { engines } from '../../../src/southbound/engines/engines.ts';
import type { Renderer } from '../../../src/southbound/port.ts';
import { sampled } from '../../support/sample.ts';

const limits = /takes longer than 1000 ms|needs more than 64 MiB|nested too deeply or too large/;

/** Each takes all that it can get. */
const bombs: Readonly<Record<string, readonly [expression: string, reason: RegExp]>> = {
  'a loop without end': ['($f := function($n){ $f($n + 1) }; $f(0))', limits],
  'a recursion without end': ['($f := function($n){ 1 + $f($n + 1) }; $f(0))', limits],
  'two functions that call each other': ['($a := function(){ 1 + $b() }; $b := function(){ 1 + $a() }; $a())', limits],
  'a huge range': ['{"n": $sum([1..9999999])}', limits],
  'a range beyond the limit': ['[1..99999999999]', /1e7/],
  'ranges within ranges': ['$count([1..3000].([1..3000]))', limits],
  'a long text': ['{"a": $pad("a", 400000000)}', limits],
  'a text that doubles': ['($f := function($s, $n){ $n = 0 ? $s : $f($s & $s, $n - 1) }; {"a": $f("ab", 40)})', limits],
  'a list that doubles': [
    '($f := function($s, $n){ $n = 0 ? $s : $f($append($s, $s), $n - 1) }; $count($f([1], 40)))',
    limits,
  ],
  'a large result': ['{"a": $pad("a", 600000)}', /more than 524288 bytes/],
  'a wide result': ['{"a": $pad("é", 300000, "é")}', /more than 524288 bytes/],
  'a deep result': ['($f := function($n){ $n = 0 ? 1 : {"a": $f($n - 1)} }; $f(80))', /deeper than 64 levels/],
  parentheses: [`${'('.repeat(50_000)}1${')'.repeat(50_000)}`, limits],
  'a long sum': [`1${'+1'.repeat(100_000)}`, limits],
  'a pattern with a large repetition': ['$match("a", /((a{100}){100}){100}/)', /pattern|repeat|size|too large|limits/i],
  'a sort by itself': ['$count([1..20000]^($count($$.x[$ = 1])))', /./],
};

/** None of these gets at what is beyond the input, or leaves a function. */
const pokes: readonly (readonly [expression: string, result: unknown])[] = [
  ['{"a": __proto__, "b": constructor, "c": toString}', {}],
  ['{"a": $lookup($, "__proto__"), "b": $lookup($, "constructor")}', {}],
  ['{"a": $sum.implementation, "b": $sum.constructor}', {}],
  ['{"a": $$.`__proto__`.polluted}', {}],
  ['{"a": $keys({"x": 1}).__proto__}', {}],
];

describe('the limits of expressions', () => {
  let engine: Renderer;
  const evaluate = (expression: string, input: unknown = {}, { signal } = new AbortController()): Promise<unknown> =>
    engine.evaluate(expression, input, { account: 'somebody', signal });
  before(() => {
    engine = engines();
  });
  after(() => engine.close());

  const refused = (expression: string, reason: RegExp, input: unknown = {}): Promise<void> =>
    assert.rejects(evaluate(expression, input), (error: unknown) => {
      assert.ok(error instanceof RequestError, String(error));
      assert.equal(error.code, 'unprocessable');
      assert.match(error.message, reason);
      return true;
    });

  it('evaluates what JSONata can', async () => {
    const input = {
      site: 'Bonn',
      ports: [
        { id: 1, up: true },
        { id: 2, up: false },
      ],
    };
    assert.deepEqual(await evaluate('{"site": $uppercase(site), "up": ports[up].id}', input), { site: 'BONN', up: 1 });
    assert.deepEqual(await evaluate('$', input), input);
    assert.deepEqual(await evaluate('$match("ab12cd3", /([a-z]+)(\\d+)/).groups'), ['ab', '12', 'cd', '3']);
    assert.equal(await evaluate('$replace("a-b_c", /[-_]/, ".")'), 'a.b.c');
    assert.deepEqual(await evaluate('$split("a1b22c", /\\d+/)'), ['a', 'b', 'c']);
    assert.equal(await evaluate('$contains("ÄB", /äb/i)'), true);
    assert.equal(await evaluate('$match("x\ny", /^y$/m).match'), 'y');
  });

  it('each bomb is refused with its reason, and the engine is there for the next', async () => {
    for (const [name, [expression, reason]] of sampled(Object.entries(bombs), 3)) {
      const begun = Date.now();
      await refused(expression, new RegExp(`${reason.source}|longer than 1000 ms`, 'i')).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error });
      });
      if (process.env.TEST_LOG) console.log(name, Date.now() - begun);
      assert.equal(await evaluate('1 + 1'), 2, name);
    }
  }).timeout(120_000);

  it('matches regular expressions in linear time', async () => {
    const text = 'a'.repeat(50_000);
    assert.equal(await evaluate('$contains(t, /^(a+)+$/)', { t: `${text}!` }), false);
    assert.equal(await evaluate('$contains(t, /(a|a)*b/)', { t: text }), false);
    await refused('$contains("aa", /(a)\\1/)', /invalid|escape|backreference/i);
    await refused('$contains("aa", /a(?=b)/)', /invalid|perl|lookahead/i);
  });

  it('has no $eval, and nothing that differs from one run to the next', async () => {
    for (const call of ['$eval("1")', '$random()', '$shuffle([1, 2])', '$now()', '$millis()'])
      await refused(call, /non-function/);
    await refused('$toMillis("12:30", "[H01]:[m01]")', /A time must have its date/);
    const march = Date.UTC(2026, 2, 29, 2, 30);
    assert.equal(await evaluate('$toMillis("29.3.2026 02:30", "[D].[M].[Y] [H01]:[m01]")'), march);
    assert.equal(await evaluate('$toMillis("2026-03-29T02:30:00")'), march);
    assert.equal(await evaluate('$fromMillis(0)'), '1970-01-01T00:00:00.000Z');
    await refused('$toMillis(1)', /does not match function signature/);
  });

  it('quotes what fails without splitting a character', async () => {
    for (const pad of ['', '.'])
      await refused(
        `$error("${pad}" & $join([1..200].("😀")))`,
        /^(?:[^\ud800-\udfff]|[\ud800-\udbff][\udc00-\udfff])*$/,
      );
  });

  it('does not get at prototypes, and leaves none changed for the next', async () => {
    for (const [expression, result] of pokes)
      assert.deepEqual(await evaluate(expression, { a: 1 }), result, expression);
    const attempts = [
      '$ ~> | __proto__ | {"polluted": 1} |',
      '$ ~> | constructor.prototype | {"polluted": 1} |',
      '{"__proto__": {"polluted": 1}}',
      '$merge([{"__proto__": {"polluted": 1}}, {"constructor": {"prototype": {"polluted": 1}}}])',
      '$sift($, function($v, $k, $o){ ($o ~> | $ | {"polluted": 1} |; true) })',
      '$ ~> | $ | {"__proto__": {"polluted": 1}} |',
      '$ ~> | `__proto__` | {"polluted": 1} |',
    ];
    const own: unknown = JSON.parse('{"__proto__": {"x": 1}, "a": {"__proto__": {"y": 2}}}');
    for (const expression of attempts) {
      await evaluate(expression, { a: 1 }).catch(() => undefined);
      await evaluate(expression, own).catch(() => undefined);
      assert.equal(await evaluate('$string(polluted)', { a: 1 }).catch(() => 'none'), 'none', expression);
      const seen = await engine.render(
        '{{ {}.polluted is defined }}',
        {},
        {
          account: 'somebody',
          signal: new AbortController().signal,
          find: async () => undefined,
        },
      );
      assert.equal(seen, 'False', expression);
    }
    await refused('$', /cannot be stored: A member must not be called __proto__/, own);
  });

  it('refuses results that are no JSON', async () => {
    for (const expression of [
      '$sum',
      'function(){1}',
      '{"a": $sum}',
      '{"a": [function(){1}]}',
      '{"toJSON": /a/}',
      '($r := /a/; {"a": [$r]})',
    ])
      await refused(expression, /holds a function/);
    await refused('nothing', /no result/);
    await refused('1/0', /number without end/);
    await refused('{"a": ', /Syntax|Unexpected|end of expression/);
  });

  it('ends when nobody waits for it', async () => {
    const leaving = new AbortController();
    const reason = new Error('gone');
    const under = evaluate('($f := function($n){ $f($n + 1) }; $f(0))', {}, leaving);
    setImmediate(() => leaving.abort(reason));
    await assert.rejects(under, (error) => error === reason);
    assert.equal(await evaluate('2'), 2);
  });
});
