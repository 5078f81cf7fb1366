import assert from 'node:assert/strict';
import { patternMatcher, schemaMatcher } from '@automation-platform/bounded-schemas';
import { advance } from '../../../src/domain/operations-manager/workflows/advance.ts';
import { weigh } from '../../../src/domain/operations-manager/workflows/jsonBounds.ts';
import { refuse } from '../../../src/domain/operations-manager/workflows/refusals.ts';
import { foldTasks } from '../../../src/domain/operations-manager/workflows/taskStates.ts';
import { sampled } from '../../support/sample.ts';
import { jobOf, ours, workflow, workOn } from '../../support/workflowSamples.ts';

type Json = any; // values are any JSON

const mebibyte = 1024 * 1024;
const many = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));
const named = (count: number, value: (i: number) => unknown): Json =>
  Object.fromEntries(many(count, (i) => [`k${i}`, value(i)]));
const tools = { match: patternMatcher(refuse), fits: schemaMatcher(refuse) };

/** One decision about a chain of 200 such tasks, in which an error leads on as a success does. */
const decide = (task: Json, variables: Json) => {
  const ids = many(200, (i) => `t${i}`);
  const document = workflow(Object.fromEntries(ids.map((id) => [id, task])), [
    'start -> t0',
    ...ids.slice(1).map((id, i) => `t${i} -> ${id}`),
    't199 -> end',
  ]);
  for (const id of ids) document.tasks[`${id}-error`] = ours('stub');
  for (const [i, id] of ids.slice(1).entries()) {
    document.transitions[`t${i}`][`${id}-error`] = { type: 'standard', state: 'error' };
    document.transitions[`${id}-error`] = { [id]: { type: 'standard', state: 'success' } };
  }
  const state = foldTasks([{ topic: 'jobStarted', data: { variables } }]);
  const work = workOn(document, tools);
  const begun = process.cpuUsage();
  const { events } = advance(work, state);
  const { user, system } = process.cpuUsage(begun);
  const first = events.flatMap((event) =>
    event.topic === 'taskFinished' && event.data.task === 't0' ? event.data : [],
  )[0];
  return { ends: `${first?.result} ${JSON.stringify(first?.error ?? '')}`, milliseconds: (user + system) / 1000 };
};

const rows = { all_true_flag: true, evaluation_groups: '$var.job.groups' };
const groups = (count: number, row: (i: number) => Json) => [{ all_true_flag: true, evaluations: many(count, row) }];
const variable = (name: string) => ({ task: 'job', variable: name });
const fixed = (value: unknown) => ({ task: 'static', variable: value });

/** A task with its inputs, the variables, and the first task's result and error. */
const tasks: readonly (readonly [words: string, task: string, inputs: Json, variables: () => Json, ends: RegExp])[] = [
  [
    'a merge of 100,000 values under one key',
    'merge',
    { data_to_merge: '$var.job.list' },
    () => ({ list: many(100_000, (value) => ({ key: 'a', value })) }),
    /^success/,
  ],
  [
    'a deepmerge of 15,000 objects',
    'deepmerge',
    { data_to_merge: '$var.job.list' },
    () => ({ list: many(15_000, (i) => ({ value: named(1, () => ({ [`m${i}`]: i })) })) }),
    /^success/,
  ],
  [
    'rows that look into an object of 30,000 members',
    'evaluation',
    rows,
    () => ({
      groups: groups(2000, () => ({ operand_1: variable('object'), operator: '!contains', operand_2: fixed('x') })),
      object: named(30_000, () => [1]),
    }),
    /^success/,
  ],
  [
    'a query of 250 steps of all values',
    'query',
    { query: '[**]'.repeat(250), obj: '$var.job.list' },
    () => ({ list: many(900_000, () => 1) }),
    /^error.*steps/,
  ],
  [
    'a query that compares long texts with a pattern that explodes',
    'query',
    { query: '[*a~/(a|aa)+$b/]', obj: '$var.job.list' },
    () => ({ list: many(500, () => ({ a: 'a'.repeat(16_000) })) }),
    /^error.*steps/,
  ],
  [
    'rows with a pattern each',
    'evaluation',
    rows,
    () => ({
      groups: groups(2000, (i) => ({ operand_1: fixed('a'), operator: '!contains', operand_2: fixed(`b{900}${i}`) })),
    }),
    /^error.*steps/,
  ],
  [
    'a sort of 900,000 items',
    'sort',
    { arr: '$var.job.list' },
    () => ({ list: many(900_000, (i) => i) }),
    /^error.*steps/,
  ],
  [
    'an assign of 100,000 objects',
    'assign',
    { target: {}, sources: '$var.job.list' },
    () => ({ list: many(100_000, (i) => ({ a: i })) }),
    /^success/,
  ],
  [
    'a search in a list of 900,000',
    'arrayIncludes',
    { arr: '$var.job.list', searchElement: 1 },
    () => ({ list: many(900_000, () => 1) }),
    /^success/,
  ],
  ['a trim of 8 MiB', 'trim', { str: '$var.job.text' }, () => ({ text: ' '.repeat(8 * mebibyte) }), /^success/],
  [
    'texts of 8 MiB that are no number',
    'makeData',
    { input: '<!text!>', outputType: 'number', variables: '$var.job.values' },
    () => ({ values: { text: 'x'.repeat(8 * mebibyte - 50) } }),
    /^error.*no number/,
  ],
  [
    'a JSON text of 1,700,000 numbers',
    'parse',
    { text: '$var.job.text' },
    () => ({ text: `[${'1,'.repeat(1_700_000)}1]` }),
    /^error.*bytes/,
  ],
  [
    'a list that becomes too large',
    'arrayConcat',
    { arr: '$var.job.list', arrayN: '$var.job.list' },
    () => ({ list: many(900_000, () => 1) }),
    /^error.*bytes/,
  ],
  [
    'an object that becomes too large',
    'setObjectKey',
    { obj: '$var.job.object', path: ['a', 'b'], value: '$var.job.text' },
    () => ({ object: named(100_000, () => 'x'.repeat(40)), text: 'x'.repeat(4 * mebibyte) }),
    /^error.*bytes/,
  ],
  [
    'a text of depth 100,000',
    'parse',
    { text: '$var.job.text' },
    () => ({ text: '['.repeat(100_000) + ']'.repeat(100_000) }),
    /^error/,
  ],
  ['a text of depth 1,000', 'parse', { text: '['.repeat(1000) + ']'.repeat(1000) }, () => ({}), /^error.*levels/],
  ['half of a character', 'substring', { str: '😀', indexStart: 0, indexEnd: 1 }, () => ({}), /^success/],
  [
    'a schema with a pattern that explodes',
    'validateJsonSchema',
    { jsonData: '$var.job.list', schema: { items: { pattern: '(a|aa)+$b' } } },
    () => ({ list: many(1000, () => 'a'.repeat(8000)) }),
    /^(success|error)/,
  ],
  [
    'a job of 100,000 variables',
    'newVariable',
    { name: 'k5', value: '$var.job.k7' },
    () => named(100_000, (i) => i),
    /^success/,
  ],
];

/** Processor time that this machine takes now to read 1,700,000 numbers one by one, in milliseconds. */
const yardstick = (): number => {
  const text = JSON.stringify(many(1_700_000, (i) => i % 10));
  const begun = process.cpuUsage();
  JSON.parse(text, (_, value: unknown) => value);
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
};

describe('values that nobody expects', () => {
  it('have 256 levels at most, of lists and of objects', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nested = (levels: number): unknown => JSON.parse(`${open.repeat(levels)}1${close.repeat(levels)}`);
      assert.ok(weigh(nested(256)) > 0);
      assert.throws(() => weigh(nested(257)), /256 levels/);
    }
  });

  // A task may take a million steps, and so does a decision.
  let most: number;
  before(() => {
    most = 5 * yardstick();
  });

  for (const [words, name, inputs, variables, ends] of sampled(tasks, 6))
    it(`hold up nothing: ${words}`, () => {
      const { ends: found, milliseconds } = decide(ours(name, inputs), variables());
      assert.match(found, ends);
      assert.ok(milliseconds < most, `${milliseconds} ms, more than ${most} ms`);
    });

  it('a merge that doubles 40 times ends in an error', () => {
    const ids = many(40, (i) => `m${i}`);
    const twice = { value: variable('list') };
    const to = { variables: { outgoing: { merged_object: '$var.job.list' } } };
    const document = workflow(
      Object.fromEntries(ids.map((id) => [id, ours('merge', { data_to_merge: [twice, twice] }, to)])),
      ['start -> m0', ...ids.slice(1).map((id, i) => `m${i} -> ${id}`), 'm39 -> end'],
    );
    const job = jobOf(document, { list: ['x'.repeat(1000)] }, tools);
    assert.equal(job.state().status, 'error');
    assert.match(JSON.stringify(job.state().error), /16 MiB at most/);
  });

  it('a loop over 10,001 items ends after 10,000 runs', () => {
    const tasks = { each: ours('forEach', { data_array: '$var.job.list' }), a: ours('newVariable', { name: 'x' }) };
    const document = workflow(tasks, ['start -> each', 'each -loop-> a', 'each -> end']);
    const job = jobOf(document, { list: many(10_001, (i) => i) }, tools);
    assert.deepEqual([job.state().status, job.state().error], ['error', 'A job runs 10000 tasks at most']);
  });
});
