import assert from 'node:assert/strict';
import { planTransformation, type RunOptions, randomOf, runTransformation } from '../../src/index.ts';

const step = (id: number, name: string, args: readonly unknown[], more: object = {}) => {
  const [library, method] = name.split('.', 2);
  return { id, type: method!.startsWith('new ') ? 'declaration' : 'method', library, method, args, ...more };
};
const place = (written: string) => {
  const [location, name, ...ptr] = written.split(' ');
  return { location, name, ptr: ptr.join(' ') };
};
/** `method 1 /return` to `outgoing out`. */
const wire = (from: string, to: string, more: object = {}) => ({
  type: 'assign',
  id: `${from} ${to}`,
  from: place(from),
  to: place(to),
  ...more,
});
const document = (steps: readonly object[], more: object = {}) => ({
  name: 'sample',
  incoming: [{ $id: 'in' }],
  outgoing: [{ $id: 'out' }],
  steps,
  functions: [],
  ...more,
});

const run = (given: object, incoming: object = {}, options: Partial<RunOptions> = {}) => {
  const { plan, faults } = planTransformation(given);
  assert.deepEqual(faults, []);
  return runTransformation(plan!, incoming as Record<string, unknown>, { now: 0, random: randomOf('x'), ...options });
};
const reasonOf = (given: object, incoming: object = {}, options: Partial<RunOptions> = {}): string => {
  const ran = run(given, incoming, options);
  return 'error' in ran ? ran.error.message : assert.fail(JSON.stringify(ran).slice(0, 200));
};
const faultsOf = (given: unknown) => planTransformation(given).faults.map(({ code, path }) => `${code} ${path}`);
const out = wire('method 1 /return', 'outgoing out');

describe('transformations', () => {
  it('compute what is asked for, and nothing else', () => {
    const steps = [out, step(1, 'Math.add', [1, null]), step(2, 'JSON.parse', ['no JSON'])];
    const wired = [...steps, wire('incoming in /a/0', 'method 1 /args/1/value')];
    assert.deepEqual(run(document(wired), { in: { a: [4] } }), { outgoing: { out: 5 } });
    assert.deepEqual(
      planTransformation(document(wired)).warnings.map(({ code, path }) => [code, path]),
      [['unreachable', '/steps/2']],
    );
  });

  it('put values to places within arguments and outputs; what leads to nothing assigns nothing', () => {
    const steps = [
      step(1, 'Object.new Object', ['{"a": 1}']),
      wire('incoming in /x', 'declaration 1 /args/0/value'),
      wire('declaration 1 /return', 'outgoing out /deep/one'),
      wire('incoming in /y', 'outgoing out /deep/two'),
    ];
    assert.deepEqual(run(document(steps), { in: {} }), { outgoing: { out: { deep: { one: { a: 1 } } } } });
    assert.deepEqual(run(document(steps), { in: { x: { b: 2 }, y: 3 } }), {
      outgoing: { out: { deep: { one: { b: 2 }, two: 3 } } },
    });
  });

  it('call the nearest function of a name, with further arguments as thisArg or in order', () => {
    const inner = (incoming: readonly object[], from: string) => ({
      ...document([step(1, 'Math.add', [null, null]), out], { incoming }),
      id: 'f',
      name: 'f',
      steps: [
        step(1, 'Math.add', [null, null]),
        wire('incoming el', 'method 1 /args/0/value'),
        wire(`incoming ${from}`, 'method 1 /args/1/value'),
        out,
      ],
    });
    const names = ['el', 'index', 'array'].map(($id) => ({ $id }));
    const map = [step(1, 'Array.map', [null, 'f', 10]), wire('incoming in', 'method 1 /args/0/value'), out];
    const byThis = [...names, { $id: 'thisArg', properties: { '0_more': {} } }];
    for (const functions of [[inner(byThis, 'thisArg /0_more')], [inner([...names, { $id: 'more' }], 'more')]])
      assert.deepEqual(run(document(map, { functions }), { in: [1, 2] }), { outgoing: { out: [11, 12] } });
  });

  it('follow the chosen branch of a switch', () => {
    const of = (n: number) => ({ context: `#/5[${n}]` });
    const steps = [
      { id: 5, type: 'context', library: 'Conditional', method: 'switch', args: [null], return: ['a', 'b'] },
      wire('incoming in', 'context 5 /args/0/value'),
      ...[0, 1, 2].map((n) => step(10 + n, 'String.new String', [`branch ${n}`], of(n))),
      ...[0, 1, 2].map((n) => wire(`declaration ${10 + n} /return`, 'outgoing out', of(n))),
    ];
    for (const [given, branch] of [
      ['a', 1],
      ['b', 2],
      ['c', 0],
    ])
      assert.deepEqual(run(document(steps), { in: given }), { outgoing: { out: `branch ${branch}` } });
  });

  it('fill templates by the first appearance of names', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is a template of a document.
    const template = '${b} and ${a} and ${b}';
    const filled = { id: 1, type: 'template', library: 'String', method: 'templateLiteral', args: ['x', 7], template };
    assert.deepEqual(run(document([filled, wire('template 1 /return', 'outgoing out')])), {
      outgoing: { out: 'x and 7 and x' },
    });
  });

  it('ask no clock and no chance', () => {
    const steps = [step(1, 'Array.concat', [[], null, null]), step(2, 'Math.random', []), step(3, 'Date.new Date', [])];
    const wired = [
      ...steps,
      wire('method 2 /return', 'method 1 /args/1/value'),
      wire('declaration 3 /return', 'method 1 /args/2/value'),
      out,
    ];
    const first = run(document(wired), {}, { now: 86_400_000, random: randomOf('job.task.1') });
    assert.deepEqual(first, run(document(wired), {}, { now: 86_400_000, random: randomOf('job.task.1') }));
    assert.notDeepEqual(first, run(document(wired), {}, { now: 86_400_000, random: randomOf('job.task.2') }));
    assert.equal(JSON.stringify(first).includes('1970-01-02T00:00:00.000Z'), true);
  });

  it('take defaults of what does not come in', () => {
    const schemas = { incoming: [{ $id: 'in', type: 'number', default: 5 }] };
    const given = document([wire('incoming in', 'outgoing out')], schemas);
    assert.deepEqual(run(given, {}, { revertToDefaultValue: true }), { outgoing: { out: 5 } });
  });

  it('name faults by code and path', () => {
    assert.deepEqual(faultsOf(null), ['form ']);
    assert.deepEqual(faultsOf(document([step(1, 'Array.nothing', [])])), ['method /steps/0']);
    assert.deepEqual(faultsOf(document([wire('method 9 /return', 'outgoing out')])), ['reference /steps/0/from/name']);
    assert.deepEqual(faultsOf(document([step(1, 'Array.map', [[], 'f'])])), ['function /steps/0/args/1']);
    assert.deepEqual(faultsOf(document([step(1, 'RegExp.new RegExp', ['(?<=a)b'])])), ['pattern /steps/0/args/0']);
    const around = [
      wire('method 1 /return', 'method 2 /args/0/value'),
      wire('method 2 /return', 'method 1 /args/0/value'),
    ];
    const circle = [step(1, 'Math.abs', []), step(2, 'Math.abs', []), ...around, out];
    assert.deepEqual(faultsOf(document(circle)), ['cycle /steps/0']);
  });

  it('take members of prototypes as members like others', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      assert.deepEqual(run(document([step(1, 'Object.getProperty', [{}, name]), out])), { outgoing: {} });
      assert.deepEqual(run(document([wire(`incoming in /${name}/x`, 'outgoing out')]), { in: {} }), { outgoing: {} });
      const made = run(document([step(1, 'Object.setProperty', [{}, name, 'own']), out]));
      assert.equal(JSON.stringify(made), `{"outgoing":{"out":{"${name}":"own"}}}`);
      for (const location of ['method', 'declaration'])
        assert.deepEqual(faultsOf(document([wire(`${location} ${name} /return`, 'outgoing out')])).length, 1);
    }
    assert.equal(Object.hasOwn(Object.prototype, 'own'), false);
  });

  it('end within their bounds when values double forty times', () => {
    const doubling = (name: string, first: unknown) => {
      const steps = Array.from({ length: 40 }, (_, i) => [
        step(i + 1, name, i === 0 ? [first, first] : [null, null]),
        ...(i === 0 ? [] : [0, 1].map((at) => wire(`method ${i} /return`, `method ${i + 1} /args/${at}/value`))),
      ]);
      return document([...steps.flat(), wire('method 40 /return', 'outgoing out')]);
    };
    for (const [name, first] of [
      ['String.concat', 'xy'],
      ['Math.add', 'xy'],
      ['Array.concat', [1]],
    ] as const)
      assert.match(reasonOf(doubling(name, first)), /^Step \d+ \((String|Math|Array)\.\w+\): A result has 8388608/);
    // A small value of shared parts, which would be 2^40 items when it is written.
    assert.match(reasonOf(doubling('Array.push', [1])), /^What goes out has 8388608 characters at most$/);
  });

  it('refuse patterns that explode, texts that grow, functions without an end', () => {
    const repeat = document([step(1, 'String.repeat', ['x', 1e9]), out]);
    assert.match(reasonOf(repeat), /^Step 1 \(String.repeat\): A result has 8388608 characters or members at most$/);
    const large = document([step(1, 'RegExp.new RegExp', ['(((a{1,90}){1,90}){1,90}){1,90}'])]);
    assert.deepEqual(faultsOf(large), ['pattern /steps/0/args/0']);
    const self = { id: 1, type: 'function', function: 'f', args: [null] };
    const f = { ...document([self, wire('function 1 /return/out', 'outgoing out')]), id: 'f' };
    const endless = document([self, wire('function 1 /return/out', 'outgoing out')], { functions: [f] });
    assert.match(reasonOf(endless), /^Step 1 of the function sample \(f\): Functions may be 16 deep$/);
    const deep = Array.from({ length: 5000 }).reduce<unknown>((inner) => [inner], []);
    assert.match(reasonOf(document([wire('incoming in', 'outgoing out')]), { in: deep }), /1000 levels/);
  });

  it('take a catastrophic pattern in linear time', () => {
    const steps = [
      step(1, 'RegExp.test', [null, `${'a'.repeat(30_000)}!`]),
      step(2, 'RegExp.new RegExp', ['^(a+)+$']),
      wire('declaration 2 /return', 'method 1 /args/0/value'),
      out,
    ];
    assert.deepEqual(run(document(steps)), { outgoing: { out: false } });
  });

  it('make no secret, and look into none', () => {
    const isSealed = (one: unknown): boolean => Object.hasOwn(Object(one), '$sealed');
    const secret = { $sealed: 'x' };
    const moved = document([wire('incoming in /password', 'outgoing out /to')]);
    assert.deepEqual(run(moved, { in: { password: secret } }, { isSealed }), { outgoing: { out: { to: secret } } });
    const looked = document([wire('incoming in /password/$sealed', 'outgoing out')]);
    assert.match(reasonOf(looked, { in: { password: secret } }, { isSealed }), /not looked at/);
    const written = document([step(1, 'Object.getProperty', [{ login: secret }, 'login']), out]);
    assert.deepEqual(run(written, {}, { isSealed }), { outgoing: { out: secret } });
    const forged = document([step(1, 'Object.setProperty', [{}, '$sealed', 'x']), out]);
    assert.match(reasonOf(forged, {}, { isSealed }), /cannot be made/);
  });

  it('have patterns of which a plan tries those that take no time to speak of', () => {
    const steps = Array.from({ length: 10 }, (_, i) => step(i, 'RegExp.new RegExp', ['(?<=x)', '']));
    assert.equal(faultsOf(document(steps)).length, 4);
  });
});
