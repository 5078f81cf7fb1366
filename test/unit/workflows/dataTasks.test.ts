import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import type { Outcome, Using } from '../../../src/domain/operations-manager/workflows/controlTasks.ts';
import { dataTasks, performed } from '../../../src/domain/operations-manager/workflows/dataTasks.ts';
import { operate } from '../../../src/domain/operations-manager/workflows/operators.ts';
import { queried } from '../../../src/domain/operations-manager/workflows/query.ts';
import { foldTasks } from '../../../src/domain/operations-manager/workflows/taskStates.ts';
import { later, momentOf, written } from '../../../src/domain/operations-manager/workflows/times.ts';

type Json = any; // values are any JSON

const sealed = { $sealed: 's', tag: 't' };
const now = Date.parse('2026-03-04T05:06:07.089Z');

const usingOf = (variables: Json = {}): Using => {
  let left = 1_000_000;
  const state = foldTasks([
    { topic: 'jobStarted', data: { variables } },
    {
      topic: 'taskFinished',
      data: { task: 't', run: 1, result: 'error', outgoing: { out: { deep: [1, 2] } }, error: 'bad' },
    },
  ]);
  return {
    scope: { state, job: { id: 'job1', initiator: 'ann' }, variables: state.variables },
    now,
    match: (pattern, text) => new RegExp(pattern).test(text),
    fits: (schema: Json, value) => typeof value === schema?.type,
    clean: new WeakSet(),
    spend: (steps) => {
      left -= steps;
      if (left < 0) throw new RequestError('unprocessable', 'steps');
    },
  };
};

const run = (name: string, inputs: Json, variables?: Json): Outcome => performed(name, inputs, usingOf(variables));
const refused = (name: string, inputs: Json, words: RegExp, variables?: Json): void => {
  assert.throws(
    () => run(name, inputs, variables),
    (error) => error instanceof RequestError && error.code === 'unprocessable' && words.test(error.message),
    name,
  );
};

const people = {
  list: [
    { name: 'ann', site: 'x', age: 30, 'a.b': 1 },
    { name: 'bob', site: 'y', age: 40 },
    { name: 'cat', site: 'x', age: 50 },
  ],
  groups: { one: [{ n: 1 }, { n: 2 }], two: [{ n: 3 }] },
  flag: true,
};

/** Queries, and what they find in the people; undefined: nothing. */
const queries: readonly (readonly [string, unknown])[] = [
  ['', people],
  ['flag', true],
  ['.flag', true],
  ['list[0].name', 'ann'],
  ['list. [1].name', 'bob'],
  ['list[1][name]', 'bob'],
  ['list[3].name', undefined],
  ['list[name=bob].age', 40],
  ['list[name=dan].age', undefined],
  ['list[*site=x].name', ['ann', 'cat']],
  ['list[*site=z]', []],
  ['list[*age!=40.0].name', ['ann', 'cat']],
  ['list[*name~/^[ab]/].name', ['ann', 'bob']],
  ['list[*name!~/^[ab]/].name', ['cat']],
  ['list[name~/^c/].age', 50],
  ['list[*].name', ['ann', 'bob', 'cat']],
  ['list[*name]', ['ann', 'bob', 'cat']],
  ['list[*a.b]', [1]],
  ['list[*site=x][1].name', 'cat'],
  ['list[0]:get(a.b)', 1],
  ['groups[**].n', [1, 2, 3]],
  ['groups[*][0][1].n', 2],
  ['flag.no', undefined],
  ['constructor', undefined],
  ['list.length', undefined],
];

/** Operands, the operator, and whether it holds. */
const comparisons: readonly (readonly [unknown, string, unknown, boolean])[] = [
  [1, '==', '1.0', true],
  ['01', '==', 1, true],
  ['a', '==', 'b', false],
  [true, '==', 'true', true],
  [null, '==', null, true],
  [null, '==', '', false],
  [null, '!=', 'x', true],
  [{ a: [1, { b: 2 }] }, '==', { a: [1, { b: '2' }] }, true],
  [{ a: 1 }, '==', { a: 1, b: 2 }, false],
  [[1, 2], '==', [2, 1], false],
  ['9', '<', '10', true],
  ['b', '>', 'a', true],
  [2, '<=', 2, true],
  ['x', '<', 1, false],
  [null, '>=', 0, false],
  [[1, '2'], 'contains', 2, true],
  [{ a: 1 }, 'contains', 'a', true],
  [{ a: 1 }, 'contains', 'toString', false],
  ['Gi0/1 is up', 'contains', 'is (up|down)$', true],
  ['Gi0/1', '!contains', 'Te', true],
  [12345, 'contains', '34', true],
];

/** Tasks, their inputs, and their outputs. */
const outputs: readonly (readonly [string, Json, Json])[] = [
  ['stringConcat', { str: 'a/', stringN: 5 }, { combinedStrings: 'a/5' }],
  ['stringConcat', { str: 'a', stringN: ['b', 'c'] }, { combinedStrings: 'abc' }],
  ['arrayPush', { arr: [1], elementN: [2] }, { pushedArray: [1, [2]] }],
  ['arrayConcat', { arr: [1], arrayN: [2] }, { combinedArray: [1, 2] }],
  ['arrayLength', { arr: [1, 2] }, { length: 2 }],
  ['parse', { text: '{"a":[1]}' }, { textObject: { a: [1] } }],
  ['objectToString', { value: { a: 1 }, replacer: '', space: 1 }, { stringified: '{\n "a": 1\n}' }],
  ['objectToString', { value: { a: 1, b: 2 }, replacer: ['b'], space: '' }, { stringified: '{"b":2}' }],
  ['numberToString', { num: 255, radix: 16 }, { numToString: 'ff' }],
  ['numberToString', { num: '100644', radix: '' }, { numToString: '100644' }],
  ['arrayToString', { arr: [1, [2, null], { toString: 1 }] }, { arrayString: '1,2,,[object Object]' }],
  ['arrayIncludes', { arr: ['a', 'b'], searchElement: 'b', fromIndex: '' }, { result: true }],
  ['arrayIncludes', { arr: ['1'], searchElement: 1 }, { result: false }],
  ['arrayIndexOf', { arr: [{ a: 1 }, 5], searchElement: 5, fromIndex: -1 }, { index: 1 }],
  ['replace', { str: 'a.b.c', substr: '.', newSubstr: '%2E' }, { replacedString: 'a%2Eb.c' }],
  ['validateJsonSchema', { jsonData: 'x', schema: { type: 'string' } }, { result: true }],
  ['toLowerCase', { str: 'AbC' }, { lowercaseString: 'abc' }],
  ['toUpperCase', { str: 'AbC' }, { uppercaseString: 'ABC' }],
  ['stringLength', { str: 'abc' }, { length: 3 }],
  ['substring', { str: 'abcdef', indexStart: 2, indexEnd: '' }, { substring: 'cdef' }],
  ['join', { arr: [1, 'b', null], separator: '<br>' }, { joinedElements: '1<br>b<br>' }],
  ['split', { str: '1.2.3', separator: '.', limit: 2 }, { splitArray: ['1', '2'] }],
  ['trim', { str: ' a ' }, { trimmedString: 'a' }],
  ['arraySlice', { arr: [1, 2, 3], start: -2 }, { slicedArray: [2, 3] }],
  ['sort', { arr: [10, 9, 'b', 1] }, { sortedArray: [1, 10, 9, 'b'] }],
  ['reverse', { arr: [1, 2] }, { reversedArray: [2, 1] }],
  ['keys', { obj: { a: sealed } }, { keys: ['a'] }],
  ['values', { obj: { a: sealed } }, { values: [sealed] }],
  ['assign', { target: { a: 1, b: 1 }, sources: [{ b: 2 }, { c: 3 }] }, { object: { a: 1, b: 2, c: 3 } }],
  ['calculateTimeDiff', { firstTime: '2026-01-01T00:01:00Z', secondTime: '2026-01-01' }, { timeDiff: 60_000 }],
  ['getTime', { timezone: '', offsetDuration: '', format: '' }, { time: '2026-03-04T05:06:07.089Z' }],
  [
    'getTime',
    { timezone: '-05:00', offsetDuration: 'PT1H', format: 'YYYY-MM-DDTHH-mm-ss' },
    { time: '2026-03-04T01-06-07' },
  ],
  [
    'convertTimeFormat',
    { inputTime: '2026-03-04T05:06:07Z', newFormatString: 'HH:mm:ss.sss' },
    { convertedTime: '05:06:07.000' },
  ],
  ['addDuration', { time: '2026-01-31T00:00:00Z', duration: 'P1M' }, { time: '2026-02-28T00:00:00.000Z' }],
  [
    'convertTimezone',
    { time: '2026-07-01T00:00:00Z', timezone: 'Europe/Berlin' },
    { time: '2026-07-01T02:00:00.000+02:00' },
  ],
  ['merge', { data_to_merge: [{ key: 'a', value: { task: 'static', variable: 1 } }] }, { merged_object: { a: 1 } }],
  [
    'merge',
    { data_to_merge: [1, 2].map((variable) => ({ key: 'a', value: { task: 'static', variable } })) },
    { merged_object: { a: [1, 2] } },
  ],
  ['merge', { data_to_merge: [{ key: '', value: { task: 't', variable: 'out#/deep/1' } }] }, { merged_object: [2] }],
  [
    'deepmerge',
    {
      data_to_merge: [{ a: { b: 1, l: [1] } }, { a: { c: 2, l: [2] } }].map((variable) => ({
        value: { task: 'static', variable },
      })),
    },
    { merged_object: { a: { b: 1, c: 2, l: [2] } } },
  ],
  [
    'makeData',
    { input: '<!a!>/<!b!>/<!c!>', outputType: 'string', variables: { a: 1, b: { x: 1 } } },
    { output: '1/{"x":1}/<!c!>' },
  ],
  ['makeData', { input: '<!n!>', outputType: 'number', variables: { n: 12 } }, { output: 12 }],
  ['makeData', { input: 'TRUE', outputType: 'boolean', variables: '' }, { output: true }],
  ['makeData', { input: { a: '<!x!>' }, outputType: 'json', variables: { x: 'y' } }, { output: { a: 'y' } }],
  ['modify', { object_to_update: { a: [1, 2] }, query: 'a[1]', new_value: 5 }, { updated_object: { a: [1, 5] } }],
  ['modify', { object_to_update: 'x', query: '', new_value: [] }, { updated_object: [] }],
  ['setObjectKey', { obj: { a: 1 }, path: ['b', 'c'], value: 2 }, { object: { a: 1, b: { c: 2 } } }],
  ['setObjectKey', { obj: null, path: 'a', value: sealed }, { object: { a: sealed } }],
  ['query', { query: 'a.b', obj: { a: { b: 0 } }, pass_on_null: false }, { return_data: 0 }],
  ['query', { query: 'a', obj: {}, pass_on_null: true }, { return_data: null }],
  ['query', { query: 'a', obj: { a: sealed } }, { return_data: sealed }],
  ['newVariable', { name: 'x', value: sealed }, { value: sealed }],
  ['push', { job_variable: 'none', item_to_push: 1 }, { job_variable_value: [1] }],
  ['push', { job_variable: 'l', item_to_push: 3 }, { job_variable_value: [1, 2, 3] }],
  ['pop', { job_variable: 'l' }, { item: 2, job_variable_value: [1] }],
  ['shift', { job_variable: 'l' }, { item: 1, job_variable_value: [2] }],
];

/** Inputs that fail, and the words of the error. */
const refusals: readonly (readonly [string, Json, RegExp])[] = [
  ['arrayPush', { arr: 'x', elementN: 1 }, /list/],
  ['stringConcat', { str: null, stringN: 'a' }, /text/],
  ['parse', { text: '{' }, /no JSON/],
  ['parse', { text: '{"$sealed":"x","tag":"y"}' }, /\$sealed/],
  ['parse', { text: '{"__proto__":{}}' }, /__proto__/],
  ['numberToString', { num: 1, radix: 1 }, /radix/],
  ['join', { arr: Array(9).fill('x'), separator: 'y'.repeat(1_048_576) }, /8 MiB/],
  ['replace', { str: 'x'.repeat(100_000), substr: 'x', newSubstr: "$'".repeat(1000) }, /8 MiB/],
  ['objectToString', { value: Array(900_000).fill(1), space: 10 }, /8 MiB/],
  ['split', { str: 'x'.repeat(1_000_010), separator: '' }, /steps/],
  ['merge', { data_to_merge: ['a', ''].map((key) => ({ key, value: 1 })) }, /all values/],
  ['merge', { data_to_merge: [{ key: '$sealed', value: 1 }] }, /\$sealed/],
  ['deepmerge', { data_to_merge: [{ value: { task: 'static', variable: 1 } }] }, /objects/],
  ['makeData', { input: 'x', outputType: 'number' }, /no number/],
  ['makeData', { input: '<!a!>'.repeat(9), outputType: 'string', variables: { a: 'x'.repeat(1_048_576) } }, /8 MiB/],
  ['makeData', { input: 'x', outputType: 'toString' }, /outputType/],
  ['modify', { object_to_update: {}, query: 'a[*]', new_value: 1 }, /one place/],
  ['setObjectKey', { obj: {}, path: ['__proto__'], value: 1 }, /__proto__/],
  ['setObjectKey', { obj: {}, path: Array(101).fill('a'), value: 1 }, /100/],
  ['query', { query: 'a['.repeat(5), obj: {} }, /not closed/],
  ['query', { query: 'x'.repeat(65_536), obj: {} }, /4096/],
  ['query', { query: ':sort(x)', obj: {} }, /:get/],
  [
    'evaluation',
    { evaluation_groups: [{ evaluations: [{ operand_1: 1, operator: 'like', operand_2: 1 }] }] },
    /unknown/,
  ],
  ['getTime', { timezone: 'Mars/Olympus' }, /time zone/],
  ['getTime', { offsetDuration: 'P' }, /duration/],
  ['convertTimeFormat', { inputTime: 'yesterday', newFormatString: '' }, /ISO 8601/],
  ['newVariable', { name: '', value: 1 }, /missing/],
  ['push', { job_variable: 'text', item_to_push: 1 }, /list/],
];

/** Tasks that look at values, with a secret among them. */
const looking: readonly (readonly [string, Json])[] = [
  ...Object.entries(dataTasks)
    .filter(([, { moves }]) => !moves)
    .map(([name, { takes }]): [string, Json] => [name, Object.fromEntries(takes.map((input) => [input, [sealed]]))]),
  ['evaluation', { evaluation_groups: [{ evaluations: [{ operand_1: sealed, operator: '==', operand_2: sealed }] }] }],
  [
    'evaluation',
    { evaluation_groups: [{ evaluations: [{ operand_1: [sealed], operator: 'contains', operand_2: 'x' }] }] },
  ],
  ['decision', { decisionArray: [{ taskId: 'a', evaluations: [{ operand_1: sealed, operator: '<', operand_2: 1 }] }] }],
  ['query', { query: 'a.tag', obj: { a: sealed } }],
  ['query', { query: '[*a=t]', obj: [{ a: sealed }] }],
  ['makeData', { input: '<!a!>', outputType: 'string', variables: { a: sealed } }],
  ['setObjectKey', { obj: sealed, path: ['tag'], value: 1 }],
  ['modify', { object_to_update: { a: sealed }, query: 'a.tag', new_value: 1 }],
  ['updateJobDescription', { description: sealed }],
  ['assign', { target: sealed, sources: {} }],
  ['keys', { obj: sealed }],
];

/** Inputs of control tasks with two values at each place where one can stand, and the variables of the job. */
const places: readonly (readonly [string, (a: unknown, b: unknown) => readonly [inputs: Json, variables?: Json]])[] = [
  ...['==', '!=', '<', '<=', '>', '>=', 'contains', '!contains'].flatMap((operator): (typeof places)[number][] => {
    const rows = (a: unknown, b: unknown) => [{ operand_1: a, operator, operand_2: b }];
    return [
      ['evaluation', (a, b) => [{ evaluation_groups: [{ evaluations: rows(a, b) }] }]],
      ['evaluation', (a, b) => [{ evaluation_groups: [{ evaluations: rows([a], b) }] }]],
      ['evaluation', (a, b) => [{ evaluation_groups: [{ evaluations: rows({ in: a }, { in: b }) }] }]],
      ['decision', (a, b) => [{ decisionArray: [{ taskId: 'x', evaluations: rows(a, b) }] }]],
      ['decision', (a) => [{ decisionArray: [{ taskId: 'x', evaluations: rows(a, 'one') }] }]],
    ];
  }),
  ...['a', 'a.tag', '[*]', '[**]', '[*tag]', '[*a=one]', '[a=one]', 'a:get($sealed)', 'a~/one/'].flatMap(
    (query): (typeof places)[number][] => [
      ['query', (a, b) => [{ query, obj: { a, b } }]],
      ['query', (a, b) => [{ query, obj: [{ a }, { a: b }] }]],
      ['modify', (a, b) => [{ object_to_update: { a }, query, new_value: b }]],
    ],
  ),
  ['query', (a) => [{ query: a, obj: { one: 1 } }]],
  ['merge', (a, b) => [{ data_to_merge: [{ value: { task: 'static', variable: a } }, { value: b }] }]],
  ['merge', (a, b) => [{ data_to_merge: [a, b].map((value) => ({ key: 'k', value })) }]],
  ['merge', (a, b) => [{ data_to_merge: [{ key: a, value: b }] }]],
  ['merge', (a, b) => [{ data_to_merge: [a, b] }]],
  ['deepmerge', (a, b) => [{ data_to_merge: [a, b].map((value) => ({ value })) }]],
  ['deepmerge', (a, b) => [{ data_to_merge: [a, { tag: 1, more: b }].map((value) => ({ value })) }]],
  ['deepmerge', (a, b) => [{ data_to_merge: [{ x: { y: a } }, { x: { y: b } }].map((value) => ({ value })) }]],
  ['deepmerge', (a) => [{ data_to_merge: [{ x: a }, { x: { tag: 1 } }].map((value) => ({ value })) }]],
  ['newVariable', (a) => [{ name: 'x', value: a }]],
  ['newVariable', (a, b) => [{ name: a, value: b }]],
  ['push', (a, b) => [{ job_variable: 'l', item_to_push: a }, { l: [b] }]],
  ['push', (a, b) => [{ job_variable: 'l', item_to_push: a }, { l: b }]],
  ['push', (a, b) => [{ job_variable: a, item_to_push: b }]],
  ...['pop', 'shift'].flatMap((name): (typeof places)[number][] => [
    [name, (a, b) => [{ job_variable: 'l' }, { l: [a, b] }]],
    [name, (a) => [{ job_variable: 'l' }, { l: a }]],
  ]),
  ...['string', 'number', 'boolean', 'json'].flatMap((outputType): (typeof places)[number][] => [
    ['makeData', (a, b) => [{ input: '<!a!><!b!>', outputType, variables: { a, b } }]],
    ['makeData', (a) => [{ input: a, outputType, variables: {} }]],
  ]),
  ['setObjectKey', (a, b) => [{ obj: { k: a }, path: ['k', 'tag'], value: b }]],
  ['setObjectKey', (a, b) => [{ obj: a, path: b, value: 1 }]],
  ['updateJobDescription', (a) => [{ description: a }]],
  ['updateJobDescription', (a) => [{ description: [a] }]],
  ...Object.entries(dataTasks).flatMap(([name, { takes }]): (typeof places)[number][] =>
    takes.flatMap((_, i) =>
      [(a: unknown) => a, (a: unknown) => [a], (a: unknown) => ({ in: a })].map((shape): (typeof places)[number] => [
        name,
        (a, b) => [Object.fromEntries(takes.map((input, n) => [input, n === i ? shape(a) : shape(b)]))],
      ]),
    ),
  ),
];

describe('secrets in tasks that the engine carries out', () => {
  const secrets = ['one', 'two'].map((text) => ({ $sealed: text, tag: text.repeat(2) }));
  /** The outcome, or the reason why there is none, with a word in the place of each whole secret. */
  const outcomeOf = (name: string, [inputs, variables]: readonly [Json, Json?]): string => {
    let outcome: Outcome;
    try {
      outcome = run(name, inputs, variables);
    } catch (error) {
      if (error instanceof RequestError) return error.message;
      throw error;
    }
    return secrets.reduce((text, one) => text.replaceAll(JSON.stringify(one), '"secret"'), JSON.stringify(outcome));
  };

  for (const name of new Set(places.map(([task]) => task)))
    it(`${name}: no outcome depends on one, and none holds a part of one`, () => {
      for (const [, inputs] of places.filter(([task]) => task === name)) {
        const all = secrets.flatMap((a) => secrets.map((b) => outcomeOf(name, inputs(a, b))));
        assert.equal(new Set(all).size, 1, JSON.stringify([inputs(secrets[0], secrets[1]), all]));
        assert.doesNotMatch(all.join(), /\$sealed":|oneone|twotwo/, JSON.stringify(inputs(secrets[0], secrets[1])));
      }
    });
});

describe('data tasks', () => {
  for (const [query, found] of queries)
    it(`query ${query || '(empty)'}`, () => assert.deepEqual(queried(people, query, usingOf()), found));

  it('a query that finds nothing is a failure', () => {
    assert.equal(run('query', { query: 'a', obj: { a: null } }).result, 'failure');
    assert.equal(run('query', { query: '', obj: null }).result, 'failure');
  });

  for (const [a, operator, b, holds] of comparisons)
    it(`${JSON.stringify(a)} ${operator} ${JSON.stringify(b)}`, () =>
      assert.equal(operate(a, operator, b, usingOf()), holds));

  for (const [name, inputs, expected] of outputs)
    it(`${name} gives ${JSON.stringify(expected).slice(0, 60)}`, () =>
      assert.deepEqual(run(name, inputs, { l: [1, 2] }).outgoing, expected));

  for (const [name, inputs, words] of refusals)
    it(`${name} refuses: ${words.source}`, () => refused(name, inputs, words, { text: 'x' }));

  for (const [name, inputs] of looking)
    it(`${name} does not look at a secret: ${JSON.stringify(inputs).slice(0, 60)}`, () =>
      refused(name, inputs, /secret|needed|must be/));

  it('evaluates groups and rows by their flags', () => {
    const row = (variable: number) => ({
      operand_1: { task: 'job', variable: 'n' },
      operator: '==',
      operand_2: { task: 'static', variable },
    });
    const group = (all: boolean, ...rows: readonly number[]) => ({ all_true_flag: all, evaluations: rows.map(row) });
    const result = (all: boolean, ...groups: readonly Json[]) =>
      run('evaluation', { all_true_flag: all, evaluation_groups: groups }, { n: 1 }).outgoing?.return_value;
    assert.deepEqual(
      [
        result(false, group(false, 1, 2)),
        result(false, group(true, 1, 2)),
        result(false, group(true, 1, 2), group(false, 1)),
        result(true, group(true, 1, 2), group(false, 1)),
        result(true, group(true, 1), group(false, 2, 1)),
        result(false),
        result(true),
      ],
      [true, false, true, false, true, false, true],
    );
    assert.equal(run('evaluation', { evaluation_groups: [] }).result, 'failure');
  });

  it('looks into the operands of a row by its queries', () => {
    const row = {
      operand_1: { task: 't', variable: 'out' },
      query: 'deep[1]',
      operator: '==',
      operand_2: { task: 'job', variable: 'o' },
      rightQuery: 'n',
    };
    assert.equal(run('evaluation', { evaluation_groups: [{ evaluations: [row] }] }, { o: { n: 2 } }).result, 'success');
  });

  it('decides for the first row that holds', () => {
    const row = (taskId: string, variable: number) => ({
      taskId,
      evaluations: [
        { operand_1: { task: 'job', variable: 'n' }, operator: '>', operand_2: { task: 'static', variable } },
      ],
    });
    const chosen = (n: number) => run('decision', { decisionArray: [row('a', 10), row('b', 5)] }, { n });
    assert.deepEqual([chosen(11).chosen, chosen(7).chosen, chosen(1).result], ['a', 'b', 'failure']);
  });

  it('reads and writes times', () => {
    assert.equal(written(now, 'Asia/Kolkata', '[at] D MMM YY, h:m A Z (ddd)'), 'at 4 Mar 26, 10:36 AM +05:30 (Wed)');
    assert.equal(later(now, '-P1DT2H'), now - 26 * 3_600_000);
    assert.equal(momentOf('2026-03-04T05:06:07', 'x'), now - 89);
  });

  it('never fails otherwise than by a refusal', () => {
    const names = [
      ...Object.keys(dataTasks),
      'evaluation',
      'decision',
      'query',
      'merge',
      'deepmerge',
      'newVariable',
      'push',
      'pop',
      'shift',
      'makeData',
      'modify',
      'setObjectKey',
      'updateJobDescription',
    ];
    const inputNames = [
      'str',
      'stringN',
      'arr',
      'elementN',
      'arrayN',
      'text',
      'value',
      'space',
      'num',
      'obj',
      'query',
      'path',
      'data_to_merge',
      'evaluation_groups',
      'decisionArray',
      'input',
      'outputType',
      'variables',
      'name',
      'job_variable',
      'time',
      'timezone',
      'duration',
      'format',
      'separator',
      'substr',
      'target',
      'sources',
      'object_to_update',
    ];
    const odd = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<Json>(
        sealed,
        '__proto__',
        '[*',
        '[**].a',
        'PT',
        '-1',
        'json',
        { toString: 1 },
        [{ key: 'a', value: { task: 'job', variable: 'l' } }],
        [{ evaluations: [{}] }],
      ),
    );
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.dictionary(fc.constantFrom(...inputNames), odd), (name, inputs) => {
        try {
          JSON.stringify(run(name, inputs, { l: [1] }));
        } catch (error) {
          assert.ok(error instanceof RequestError, `${name}: ${(error as Error).stack}`);
        }
      }),
      { numRuns: process.env.SOAK_ROUNDS ? 200_000 : 600 },
    );
  });
});
