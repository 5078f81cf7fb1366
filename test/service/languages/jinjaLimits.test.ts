import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { engines, usualLimits } from '../../../src/southbound/engines/engines.ts';
import type { Renderer, Rendering } from '../../../src/southbound/port.ts';
import { sampled } from '../../support/sample.ts';
import { until } from '../../support/until.ts';

/** Each takes one of the budgets for all it has. */
const bombs: Readonly<Record<string, readonly [template: string, reason: RegExp]>> = {
  'a repeated text': ["{{ 'a' * 10**9 }}", /8388608 characters/],
  'a repeated list': ['{{ [0] * 10**9 }}', /8388608 characters or elements/],
  'lists within lists': ['{{ [[0] * 1000000] * 1000 }}', /1000 ms|steps|elements|memory/],
  'a long range': ['{{ range(10**12)|list }}', /Range too big/],
  'loops within loops': [
    '{% for i in range(99999) %}{% for j in range(99999) %}{% for k in range(99999) %}{% endfor %}{% endfor %}{% endfor %}',
    /steps|1000 ms/,
  ],
  'powers of powers': ['{{ 9 ** (9 ** 9) }}', /1048576 bits/],
  'products of products': [
    '{% set n = namespace(x=7) %}{% for i in range(64) %}{% set n.x = n.x * n.x %}{% endfor %}',
    /1048576 bits/,
  ],
  'digits without end': ['{{ 10 ** 5000 }}', /4300 digits/],
  'a macro that calls itself': ['{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', /deeper than 150 levels/],
  'a caller that calls itself': [
    '{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{{ caller() }}{% endmacro %}{% call m() %}{% endcall %}',
    /deeper than 150 levels/,
  ],
  'a recursive loop over itself': [
    '{% set l = [] %}{% do l.append(l) %}{% for i in l recursive %}{{ loop(i) }}{% endfor %}',
    /deeper than 150 levels/,
  ],
  'a text that doubles': [
    '{% set n = namespace(x="ab") %}{% for i in range(64) %}{% set n.x = n.x ~ n.x %}{% endfor %}',
    /8388608 characters/,
  ],
  'a list that doubles': [
    '{% set l = [1] %}{% for i in range(64) %}{% do l.extend(l) %}{% endfor %}',
    /8388608|steps|1000 ms|memory/,
  ],
  'a wide column': ["{{ 'a'.center(10**10) }}", /8388608/],
  'a wide filter': ["{{ 'a'|center(10**10) }}", /8388608/],
  'a wide field': ["{{ '{:>9999999999}'.format(1) }}", /8388608/],
  'a wide percent': ["{{ '%9999999999d' % 1 }}", /8388608/],
  'a precise percent': ["{{ '%.999999999f' % 1 }}", /precision too big/],
  'a precise field': ["{{ '{:.999999999f}'.format(1.5) }}", /precision too big/],
  'zeros in front': ["{{ '1'.zfill(10**10) }}", /8388608/],
  'a deep indent': ["{{ 'a\\nb'|indent(10**9) }}", /8388608/],
  'a join with a long text': ["{{ range(1000)|join('x' * 1000000) }}", /8388608/],
  'a replacement of everything': ["{{ ('a' * 1000000)|replace('a', 'b' * 1000) }}", /8388608/],
  'much output': ["{% for i in range(10000) %}{{ 'x' * 1000 }}{% endfor %}", /prints more than 4194304/],
  'wide output': ["{{ 'é' * 3000000 }}", /prints more than 4194304 bytes/],
  parentheses: [`{{ ${'('.repeat(50_000)}1${')'.repeat(50_000)} }}`, /nested deeper than 100 levels/],
  'blocks within blocks': ['{% if 1 %}'.repeat(5000), /nested deeper than 100 levels/],
  signs: [`{{ ${'-'.repeat(50_000)}1 }}`, /nested deeper than 100 levels/],
  'a long sum': [`{{ 1${'+1'.repeat(100_000)} }}`, /nested too deeply/],
  'an object that is its own part': ['{% set d = {} %}{% do d.update(d=d) %}{{ d|tojson }}', /Circular reference/],
  'lists that are their own parts, compared': [
    '{% set a = [] %}{% do a.append(a) %}{% set b = [] %}{% do b.append(b) %}{{ a == b }}',
    /nested deeper than 500 levels/,
  ],
  'large lists, added': ['{{ [0] * 8000000 + [1] * 8000000 }}', /8388608|64 MiB|1000 ms/],
  'a large list, printed as JSON': ['{{ ([[0] * 1000] * 100000)|tojson|length }}', /64 MiB|1000 ms|steps/],
  'many characters, one by one': ["{{ ('😀' * 4000000)|list|length }}", /64 MiB|1000 ms/],
  'a product of many': ['{{ range(1000)|product(range(1000), range(1000))|list }}', /8388608|64 MiB|1000 ms|steps/],
  'a product of itself': ['{{ [1, 2]|product(repeat=10**6)|list }}', /too large/],
  'a list within itself, flattened': ['{% set l = [] %}{% do l.append(l) %}{{ l|flatten }}', /deeper than 150 levels/],
  'lists that have no keys, compared': [
    '{% set l = [] %}{% for i in range(3000) %}{% do l.append([i]) %}{% endfor %}{{ l|unique|length }}',
    /1000 ms|steps/,
  ],
  'nested repetitions': ["{{ 'a'|regex_search('((a{30}){30}){30}') }}", /repeat|too large/],
  'a pattern that repeats much': ["{{ 'a'|regex_search('" + '(a?)'.repeat(100) + "{1000}') }}", /too large/],
  'a pattern on a long text': ["{{ ('a' * 8000000)|regex_search('(a|b|c|d){100}x') }}", /too long/],
  'matches that look at all the rest': ["{{ ('a' * 30000)|regex_findall('a(?:.*b)?')|length }}", /1000 ms|steps/],
  'a query that doubles a list': [
    "{{ [1]|json_query('[@, @][]' ~ ' | [@, @][]' * 64)|length }}",
    /8388608|steps|64 MiB|1000 ms/,
  ],
  'a query within brackets': ["{{ [1]|json_query('(' * 9999) }}", /nested too deeply/],
  'a long query': ["{{ [1]|json_query('!' * 10001) }}", /10000 characters/],
  'a deep JSON text': ["{{ ('[' * 100000)|from_json }}", /nested deeper than 200 levels/],
  'a long YAML': [
    '{{ range(99999)|list|to_nice_yaml|length }}{{ (["x" * 1000] * 10000)|to_yaml|length }}',
    /8388608|1000 ms|steps|64 MiB/,
  ],
  'a deep YAML': [
    '{% set n = namespace(x=[]) %}{% for i in range(1000) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x|to_yaml }}',
    /deeper than 150 levels/,
  ],
  'many addresses': [
    "{% for i in range(99) %}{{ range(99999)|map('ipaddr', 'revdns')|list|length }}{% endfor %}",
    /1000 ms|steps|64 MiB/,
  ],
  memory: [
    '{% set l = [] %}{% for i in range(100000) %}{% do l.append([i] * 1000) %}{% endfor %}',
    /64 MiB|1000 ms|steps/,
  ],
};

/** Ways out that are known from Python and JavaScript; none shows anything or goes on. */
const escapes = [
  "{{ ''.__class__.__mro__[1].__subclasses__() }}",
  "{{ {}.__init__.__globals__['os'] }}",
  "{{ ''.constructor.constructor('return process')() }}",
  "{{ [].constructor('x') }}",
  "{{ (''|attr('__class__')).__mro__ }}",
  '{{ range.__globals__.os }}',
  "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
  '{{ self.__init__.__globals__ }}',
  "{{ namespace.constructor('return 1')() }}",
  "{{ '{0.__class__.__mro__}'.format(1) }}",
  "{{ '{0.constructor.name}'.format([]) }}",
  "{{ '%(__class__)s' % {} }}",
  '{{ process.env }}',
  '{{ globalThis.process.exit() }}',
  "{{ require('fs') }}",
  "{% macro m() %}{% endmacro %}{{ m.constructor('return 1')() }}",
  "{% for i in [1] %}{{ loop.constructor.constructor('return 1')() }}{% endfor %}",
  "{{ ['x']|map('constructor')|list }}",
  "{{ [{}]|map(attribute='__proto__.constructor')|first.name }}",
  "{{ [1]|map(attribute='__class__.__base__')|list }}",
  "{% import 'os' as os %}",
  "{% include '/etc/passwd' %}",
];

/** Takes for ever, in small steps; and in one step that does not end. */
const slow = '{% for i in range(300) %}{% set y = (3 ** 500000) // (3 ** 250000 + i) %}{% endfor %}';
const stuck = "{{ ('a' * 1000000 ~ 'b' ~ 'a' * 1000000) in ('a' * 6000000) }}";

describe('the limits of templates', () => {
  let renderer: Renderer;
  const render = (
    template: string,
    variables: Readonly<Record<string, unknown>> = {},
    account = 'somebody',
    { signal } = new AbortController(),
  ): Promise<string> => renderer.render(template, variables, { account, signal, find: async () => undefined });
  /** Renders a template that may use these. */
  const renderWith = (template: string, find: Rendering['find'], { signal } = new AbortController()): Promise<string> =>
    renderer.render(template, {}, { account: 'somebody', name: 'main', signal, find });
  // A busy machine may have no time for an engine for long.
  const begin = (): void => {
    renderer = engines(undefined, { ...usualLimits, wallMs: 300_000 });
  };
  const beginAnew = async (): Promise<void> => {
    await renderer.close();
    begin();
  };
  before(begin);
  after(() => renderer.close());

  const refused = (template: string, reason: RegExp): Promise<void> =>
    assert.rejects(render(template), (error: unknown) => {
      assert.ok(error instanceof RequestError, String(error));
      assert.equal(error.code, 'unprocessable');
      const [fault] = error.faults;
      assert.match(fault!.message, reason);
      assert.equal(fault!.path, '/template');
      assert.equal(typeof fault!['line'], 'number');
      return true;
    });

  it('each bomb is refused with its reason, and the engine is there for the next', async () => {
    for (const [name, [template, reason]] of sampled(Object.entries(bombs), 3)) {
      // On a busy machine the second may be over first.
      await refused(template, new RegExp(`${reason.source}|longer than 1000 ms`)).catch((error: Error) => {
        throw new Error(`${name}: ${error.message}`, { cause: error });
      });
      assert.equal(await render('{{ 1 + 1 }}').catch(String), '2', name);
    }
  }).timeout(300_000);

  it('no template gets at what is beyond it', async () => {
    for (const template of escapes)
      await refused(
        template,
        /undefined|has no attribute|not callable|There is no template|No filter named|KeyError/,
      ).catch(async () => {
        assert.equal(await render(template), '', template);
      });
  });

  it('a render that takes too long ends after a second of processor time, with its line, and the event loop goes on meanwhile', async () => {
    await render('');
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 5);
    await assert
      .rejects(render(`\n\n${slow}`), /line 3: Rendering takes longer than 1000 ms/)
      .finally(() => clearInterval(ticking));
    assert.ok(ticks > 20, `the event loop turned ${ticks} times`);
  });

  it('a render that is held up within one step ends as well', () => refused(stuck, /longer than 1000 ms/));

  it('a render is not late because the machine has no time for it', async function () {
    const children = `/proc/${process.pid}/task/${process.pid}/children`;
    if (!existsSync(children)) this.skip();
    await beginAnew();
    const childrenNow = (): readonly string[] => readFileSync(children, 'utf8').trim().split(' ');
    const before = childrenNow();
    await render('');
    const [engine] = childrenNow().filter((pid) => !before.includes(pid));
    process.kill(Number(engine), 'SIGSTOP');
    const rendering = render('{{ 1 }}');
    // Longer than a second, and far less than ten.
    await new Promise((resolve) => {
      setTimeout(resolve, 1500);
    });
    process.kill(Number(engine), 'SIGCONT');
    assert.equal(await rendering, '1');
  });

  it('a plain render of another account waits for no more than the renders under way, however many of others wait', async () => {
    await render('');
    const order: string[] = [];
    const bombs = ['first', 'second', 'third'].flatMap((account) =>
      Array.from({ length: 12 }, () => render(slow, {}, account).catch(() => order.push(account))),
    );
    // Whoever has had a turn stands behind those who have not.
    await until(() => order.length >= 3);
    const before = order.length;
    assert.equal(await render('{{ 1 }}', {}, 'other'), '1');
    assert.ok(order.length - before <= 3, `${order.length - before} went first`);
    await beginAnew();
    await Promise.all(bombs);
  });

  it('as many engines run as it is told, and those that are too many end', async () => {
    let count = 2;
    const some = engines(() => count);
    const children = `/proc/${process.pid}/task/${process.pid}/children`;
    const childrenNow = (): readonly string[] => readFileSync(children, 'utf8').trim().split(' ').filter(Boolean);
    const before = childrenNow();
    const stop = new AbortController();
    const rendering = ['a', 'b', 'c', 'd', 'e'].map((account) =>
      some.render(slow, {}, { account, signal: stop.signal, find: async () => undefined }).catch(() => undefined),
    );
    const running = async (wanted: number): Promise<void> => {
      while (childrenNow().filter((pid) => !before.includes(pid)).length !== wanted)
        await new Promise((resolve) => setTimeout(resolve, 10));
    };
    await running(2);
    count = 4;
    some.resize();
    await running(4);
    count = 1;
    some.resize();
    stop.abort();
    await Promise.all(rendering);
    const find = async () => undefined;
    assert.equal(await some.render('{{ 1 }}', {}, { account: 'f', signal: new AbortController().signal, find }), '1');
    await running(1);
    await some.close();
  });

  it('what nobody waits for any more is dropped: in line, and in the engine', async () => {
    await render('');
    const callers = Array.from({ length: 40 }, () => new AbortController());
    const reason = new Error('gone');
    const outcomes = Promise.allSettled(callers.map((caller) => render(stuck, {}, 'somebody', caller)));
    await new Promise(setImmediate);
    for (const caller of callers) caller.abort(reason);
    for (const outcome of await outcomes) assert.ok(outcome.status === 'rejected' && outcome.reason === reason);
    assert.equal(await render('{{ 1 }}'), '1');
    await assert.rejects(render('x', {}, 'somebody', callers[0]), (error) => error === reason);
  });

  it('too many that wait are turned away, of one account and in all', async () => {
    await beginAnew();
    const many = (account: string, count: number) =>
      Promise.allSettled(Array.from({ length: count }, () => render('x', {}, account)));
    const away = (outcomes: readonly PromiseSettledResult<string>[]) =>
      outcomes.filter((one) => one.status === 'rejected');
    const [greedy, modest] = await Promise.all([many('greedy', 80), many('modest', 5)]);
    assert.equal(away(greedy).length, 80 - 51);
    assert.ok(
      away(greedy).every(
        ({ reason }) => reason instanceof RequestError && reason.code === 'limited' && reason.retryAfterSeconds === 5,
      ),
    );
    assert.deepEqual(away(modest), []);
    assert.equal(await render('y', {}, 'greedy'), 'y');
  });

  it('closing ends what is under way; nothing starts any more', async () => {
    const under = render(stuck);
    await Promise.all([assert.rejects(under), renderer.close()]);
    await assert.rejects(
      render('x'),
      (error: unknown) => error instanceof RequestError && error.code === 'unavailable',
    );
    begin();
  });

  it('the engine asks for the templates that a template uses, each once', async () => {
    const asked: string[] = [];
    const stored: Readonly<Record<string, string>> = {
      a: '{% include "b" %}{% include ["gone", "c"] %}',
      b: 'B{% if false %}{% include "unused" %}{% endif %}',
      c: '{% include "d" ~ 1 %}{% include "d" ~ 1 %}',
      d1: 'D',
    };
    const find = async (name: string) => {
      asked.push(name);
      return stored[name];
    };
    assert.equal(await renderWith('{% include "a" %}{% include "a" %}', find), 'BDDBDD');
    assert.deepEqual(asked, ['a', 'b', 'gone', 'c', 'unused', 'd1']);
  });

  it('a mistake in another template is answered with its name', async () => {
    const stored: Readonly<Record<string, string>> = { a: 'x\n{{ 1 / 0 }}', main: '{% include "main" %}' };
    const find = async (name: string) => stored[name];
    await assert.rejects(renderWith('{% include "a" %}', find), (error: unknown) => {
      assert.ok(error instanceof RequestError);
      assert.match(error.message, /line 2 of 'a': ZeroDivisionError/);
      assert.deepEqual(error.faults, [
        { message: 'ZeroDivisionError: division by zero', line: 2, path: '/template', template: 'a' },
      ]);
      return true;
    });
    await assert.rejects(renderWith('{% include "main" %}', find), /without end: main -> main/);
  });

  it('all attempts at a template share one second', () =>
    assert.rejects(
      renderWith(
        `{% for i in range(50) %}{% set y = (3 ** 500000) // (3 ** 250000 + i) %}{% if i % 2 %}{% include "t" ~ i %}{% endif %}{% endfor %}`,
        async () => 'x',
      ),
      /longer than 1000 ms/,
    ));

  it('a failure to find a template is the failure of the render, and the engine takes the next', async () => {
    const failing = renderWith('{% include "a" %}', async () => {
      throw new RequestError('unavailable', 'No read model');
    });
    await assert.rejects(failing, (error: unknown) => error instanceof RequestError && error.code === 'unavailable');
    assert.equal(await renderWith('{% include "a" %}', async () => 'found'), 'found');
  });

  it('a render that is dropped while it waits for a template frees its engine', async () => {
    const caller = new AbortController();
    const reason = new Error('gone');
    const waiting = renderWith(
      '{% include "a" %}',
      () => {
        caller.abort(reason);
        return new Promise(() => undefined);
      },
      caller,
    );
    await assert.rejects(waiting, (error) => error === reason);
    assert.equal(await render('{{ 1 }}'), '1');
  });

  it('a render to which the machine gives no processor time is to be tried again, and is no fault of the template', async () => {
    const hungry = engines(() => 1, { megabytes: 64, processorMs: 1100, wallMs: 100 });
    const waiting = (find: Rendering['find']) =>
      hungry.render('{% include "a" %}', {}, { account: 'somebody', signal: new AbortController().signal, find });
    try {
      await assert.rejects(
        waiting(() => new Promise(() => undefined)),
        (error) => {
          assert.ok(error instanceof RequestError);
          assert.deepEqual([error.code, error.retryAfterSeconds], ['limited', 5]);
          assert.doesNotMatch(error.message, /template|1\d00 ms|processor/);
          return true;
        },
      );
      assert.equal(await waiting(async () => 'found'), 'found');
    } finally {
      await hungry.close();
    }
  });

  it('the templates that one uses may have 8 MiB in all', async () => {
    const large = 'x'.repeat(5_000_000);
    await assert.rejects(
      renderWith('{% include "a" %}{% include "b" %}', async () => large),
      /8388608 characters/,
    );
  });

  it('a renderer that renders nothing costs nothing to close', () => engines().close());
});
