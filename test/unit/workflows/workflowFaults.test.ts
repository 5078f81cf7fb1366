import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { isInstant } from '../../../src/domain/operations-manager/workflows/dataTasks.ts';
import { simulate } from '../../../src/domain/operations-manager/workflows/simulate.ts';
import { workflowFaults } from '../../../src/domain/operations-manager/workflows/workflowFaults.ts';
import { ancestorsOf, workflowGraph } from '../../../src/domain/operations-manager/workflows/workflowGraph.ts';
import { readWorkflow } from '../../../src/domain/operations-manager/workflows/workflows.ts';
import { inTurn } from '../../support/inTurn.ts';
import { oddWorkflow } from '../../support/oddWorkflows.ts';
import { seed } from '../../support/sample.ts';
import { ours, worker, workflow, workOn } from '../../support/workflowSamples.ts';

type Json = any; // documents are any JSON

const known = {
  pattern: (text: string) => (text.includes('(?=') ? 'look-around' : undefined),
  schema: (schema: Json) => (schema.type === 'nonsense' ? 'unknown type' : undefined),
  transformation: (named: string) => (named === 'gone' ? 'not there' : undefined),
  workflow: (named: string) => named !== 'gone',
};

const found = (document: Json) => workflowFaults(workflowGraph(readWorkflow(document), isInstant), known);
const short = (list: readonly { readonly code: string; readonly task: string | null; readonly path: string }[]) =>
  list.map(({ code, task, path }) => `${code} ${task} ${path}`);

const a = worker();
const loop = ours('forEach', { data_array: [1] });
const evaluation = (operator: string, variable: Json) =>
  ours('evaluation', {
    evaluation_groups: [
      {
        evaluations: [{ operand_1: { task: 'job', variable: 'x' }, operator, operand_2: { task: 'static', variable } }],
      },
    ],
  });
const straight = ['start -> a', 'a -> end'];

/** A name, the document, and its faults. */
const faulty: readonly (readonly [string, Json, readonly string[]])[] = [
  ['nothing', workflow({ a }, straight), []],
  ['a task of no application', workflow({ a: { ...a, app: { name: 'Lab' } } }, straight), ['input a /tasks/a/app']],
  ['a task without a name', workflow({ a: { ...a, name: null } }, straight), ['input a /tasks/a/name']],
  ['an edge to nowhere', workflow({ a }, [...straight, 'a -failure-> b']), ['edge a /transitions/a/b']],
  ['an edge from nowhere', workflow({ a }, [...straight, 'b -> a']), ['edge b /transitions/b/a']],
  ['an empty entry of no task', workflow({ a }, straight, {}), []],
  [
    'an unknown state',
    {
      ...workflow({ a }, straight),
      transitions: {
        workflow_start: { a: { type: 'standard', state: 'success' } },
        a: { workflow_end: { type: 'standard', state: 'done' } },
      },
    },
    ['edge a /transitions/a/workflow_end', 'end null /transitions'],
  ],
  [
    'entries of wrong types',
    { ...workflow({ a }, straight), transitions: { workflow_start: { a: 1 }, a: 'x', b: null } },
    [
      'edge a /transitions/a',
      'edge workflow_start /transitions/workflow_start/a',
      'start workflow_start /transitions/workflow_start',
    ],
  ],
  [
    'a circle',
    workflow({ a, b: a, c: a }, ['start -> a', 'a -> b', 'b -> c', 'c -> b', 'c -failure-> end']),
    ['cycle c /transitions'],
  ],
  [
    'a way back to itself',
    workflow({ a }, ['start -> a', 'a -> end', 'a <-failure- a']),
    ['revert a /transitions/a/a'],
  ],
  [
    'a way back to no ancestor',
    workflow({ a, b: a }, ['start -> a', 'start -> b', 'a -> end', 'b -> end', 'b <-failure- a']),
    ['revert a /transitions/a/b'],
  ],
  [
    'two ways back',
    workflow({ a, b: a, c: a }, ['start -> a', 'a -> b', 'b -> c', 'c -> end', 'a <-failure- c', 'b <-failure- c']),
    ['revert c /transitions/c/b'],
  ],
  [
    'a way back beside a way on',
    workflow({ a, b: a }, ['start -> a', 'a -> b', 'b -> end', 'a <-success- b']),
    ['revert b /transitions/b/a'],
  ],
  ['no way from the start', workflow({ a }, ['a -> end']), ['start workflow_start /transitions/workflow_start']],
  ['no way to the end', workflow({ a }, ['start -> a']), ['end null /transitions']],
  ['no start', { name: 'w', tasks: { a, workflow_end: {} }, transitions: {} }, ['start null /tasks']],
  [
    'an edge into a body',
    workflow({ f: loop, a, b: a }, ['start -> f', 'f -loop-> a', 'f -> b', 'b -> a', 'b -failure-> end']),
    ['loop b /transitions/b/a'],
  ],
  [
    'an edge past a loop edge',
    workflow({ f: loop, a, b: a }, ['start -> f', 'f -loop-> a', 'a -> b', 'f -> b', 'f -error-> end']),
    ['loop f /transitions/f/b'],
  ],
  [
    'a way back out of a body',
    workflow({ f: loop, a }, ['start -> f', 'f -loop-> a', 'f -> end', 'f <-failure- a']),
    ['loop a /transitions/a/f'],
  ],
  ['a loop edge of no loop', workflow({ a, b: a }, [...straight, 'a -loop-> b']), ['state a /transitions/a/b']],
  [
    'an unknown operator',
    workflow({ a: evaluation('like', 1) }, straight),
    ['operator a /tasks/a/variables/incoming/evaluation_groups/0/evaluations/0/operator'],
  ],
  [
    'a pattern that is not linear',
    workflow({ a: evaluation('contains', '(?=x)') }, straight),
    ['pattern a /tasks/a/variables/incoming/evaluation_groups/0/evaluations/0/operand_2'],
  ],
  [
    'a transformation that is gone',
    workflow({ a: ours('transformation', { tr_id: 'gone' }) }, straight),
    ['transformation a /tasks/a/variables/incoming/tr_id'],
  ],
  [
    'inputs of wrong types',
    workflow(
      { a: ours('forEach', { data_array: 'x' }), b: ours('delay', { time: -1 }), c: ours('query', { query: 'a[' }) },
      straight,
    ),
    ['a', 'b', 'c'].map((id, i) => `input ${id} /tasks/${id}/variables/incoming/${['data_array', 'time', 'query'][i]}`),
  ],
  ['a task that is none', workflow({ a: 'x' }, straight), ['input a /tasks/a']],
  [
    'settings that cannot be',
    workflow({ a: { ...a, retrySettings: { autoRetry: true, limit: 0 }, timeLimit: { seconds: 'x' } } }, straight),
    ['input a /tasks/a/retrySettings', 'input a /tasks/a/timeLimit'],
  ],
  [
    'a reference to no task',
    workflow({ a: worker({ x: '$var.b.y', n: { z: { task: 'c', variable: 'v' } } }) }, straight),
    ['reference a /tasks/a/variables/incoming/x', 'reference a /tasks/a/variables/incoming/n/z'],
  ],
];

const warned: readonly (readonly [string, Json, readonly string[]])[] = [
  ['an error that nothing takes up', workflow({ a }, straight), ['error a /tasks/a']],
  [
    'a reference to what never comes before',
    workflow({ a: ours('push', { item_to_push: '$var.a.x' }) }, straight),
    ['reference a /tasks/a/variables/incoming/item_to_push'],
  ],
  [
    'a reference that is text',
    workflow({ a: ours('push', { item_to_push: ['$var.job.x'] }) }, straight),
    ['nested a /tasks/a/variables/incoming/item_to_push/0'],
  ],
  [
    'a child that is gone',
    workflow({ a: ours('childJob', { workflow: 'gone' }) }, straight),
    ['child a /tasks/a/variables/incoming/workflow'],
  ],
  [
    'a task that nothing leads to',
    workflow({ a: ours('push'), b: ours('push') }, straight),
    ['unreachable b /tasks/b'],
  ],
  [
    'a schema that cannot be used',
    workflow({ a: ours('push') }, straight, { inputSchema: { type: 'nonsense' } }),
    ['schema null /inputSchema'],
  ],
];

/** Documents that are refused, and the path that is named. */
const refused: readonly (readonly [string, Json, string])[] = [
  ['no object', [], ''],
  ['no name', { tasks: {}, transitions: {} }, '/name'],
  ['a long name', { ...workflow({}, []), name: 'x'.repeat(65_536) }, '/name'],
  ['no tasks', { name: 'w', tasks: [], transitions: {} }, '/tasks'],
  ['no transitions', { name: 'w', tasks: {}, transitions: null }, '/transitions'],
  ['2,001 tasks', workflow(Object.fromEntries(Array.from({ length: 1999 }, (_, i) => [`t${i}`, a])), []), '/tasks'],
  ['an odd id', workflow({ 'a.b': a }, []), '/tasks/a.b'],
  ['10,001 edges', workflow({}, [], {}), '/transitions'],
  ['more than 1 MiB', workflow({ a: { ...a, description: 'ä'.repeat(600_000) } }, straight), ''],
];

describe('faults of workflows', () => {
  for (const [words, document, faults] of faulty)
    it(`${words}: ${faults.length === 0 ? 'none' : faults[0]}`, () =>
      assert.deepEqual(short(found(document).faults), faults));

  for (const [words, document, warnings] of warned)
    it(`warns of ${words}`, () => {
      const { faults, warnings: told } = found(document);
      assert.deepEqual([faults, short(told)], [[], warnings]);
    });

  for (const [words, document, path] of refused)
    it(`refuses ${words}`, () => {
      if (words === '10,001 edges')
        document.transitions = { a: Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`t${i}`, {}])) };
      assert.throws(
        () => readWorkflow(document),
        (error) => error instanceof RequestError && error.code === 'invalid' && error.faults[0]?.path === path,
      );
    });

  it('names ancestors, the nearest first', () => {
    const graph = workflowGraph(
      readWorkflow(workflow({ a, b: a, c: a }, ['start -> a', 'a -> b', 'a -> c', 'c -> b', 'b -> end'])),
      isInstant,
    );
    assert.deepEqual(ancestorsOf(graph, graph.places.get('b')!), ['a', 'c', 'workflow_start']);
  });

  it('judges the largest graphs within a moment, and runs a dense one', () => {
    const ids = Array.from({ length: 140 }, (_, i) => `t${i}`);
    const all = ids.flatMap((from, i) => ids.slice(i + 1).map((to) => `${from} -> ${to}`));
    const dense = workflow(Object.fromEntries(ids.map((id) => [id, ours('push', { job_variable: 'x' })])), [
      'start -> t0',
      ...all,
      't139 -> end',
    ]);
    const deep = Array.from({ length: 1900 }, (_, i) => `f${i}`);
    const loops = workflow(Object.fromEntries(deep.map((id) => [id, loop])), [
      'start -> f0',
      'f0 -> end',
      ...deep.slice(1).map((id, i) => `f${i} -loop-> ${id}`),
    ]);
    const back = workflow(Object.fromEntries(deep.map((id) => [id, a])), [
      'start -> f0',
      'f1899 -> end',
      ...deep.slice(1).flatMap((id, i) => [`f${i} -> ${id}`, `f0 <-failure- ${id}`]),
    ]);
    for (const document of [dense, loops, back]) {
      const begun = performance.now();
      assert.deepEqual(found(document).faults, []);
      assert.ok(performance.now() - begun < 20_000);
    }
    assert.equal(simulate(workOn(dense), { variables: {} }).status, 'complete');
  });

  it('keeps any document that has the form, and never fails otherwise', async function () {
    this.timeout(3_600_000);
    let started = 0;
    const check = (drawn: Json, isWhole: boolean): void => {
      // Half of the documents have a way from the start to the end.
      const way = {
        workflow_start: { a: { type: 'standard', state: 'success' } },
        a: { workflow_end: { type: 'standard', state: 'success' } },
      };
      const ends = { workflow_start: {}, workflow_end: {} };
      const said = isWhole
        ? {
            ...drawn,
            tasks: { a: ours('push'), ...drawn.tasks, ...ends },
            transitions: { ...drawn.transitions, ...way },
          }
        : drawn;
      const { faults, warnings } = found(said);
      JSON.stringify([faults, warnings]);
      if (faults.length > 0) return;
      started++;
      const { status } = simulate(workOn(said), { variables: {} });
      assert.ok(status === 'complete' || status === 'error');
    };
    await fc.assert(fc.asyncProperty(oddWorkflow, fc.boolean(), inTurn(check)), {
      numRuns: process.env.SOAK_ROUNDS ? 200_000 : 1000,
      seed,
    });
    // About 28 of 1,000.
    assert.ok(started > 5, `${started} had no fault`);
  });
});
