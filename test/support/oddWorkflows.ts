import fc from 'fast-check';

type Json = any; // documents are any JSON

const ids = ['a', 'b', '__proto__', 'constructor', 'workflow_start', 'workflow_end', 'x'.repeat(64)];
const id = fc.constantFrom(...ids);
const odd = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.constantFrom<Json>(
      '$var.a.x',
      'w',
      '$var.__proto__.constructor',
      '$var.job.x#/a',
      { task: 'a', variable: 'x' },
      null,
      '',
      5,
      [],
      {},
      '[*',
      'success',
    ),
  },
  { weight: 10, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.constant('x'.repeat(65_536)) },
);
const name = fc.constantFrom(
  'forEach',
  'evaluation',
  'decision',
  'childJob',
  'delay',
  'reattempt',
  'stub',
  'query',
  'merge',
  'newVariable',
  'push',
  'makeData',
  'transformation',
  'toString',
  'hasOwnProperty',
);
const incoming = fc.oneof(
  fc.dictionary(
    fc.constantFrom(
      'data_array',
      'evaluation_groups',
      'decisionArray',
      'query',
      'obj',
      'time',
      'name',
      'value',
      'workflow',
      'attemptID',
      'attempts',
      'minutes',
      'data_to_merge',
      'job_variable',
      'tr_id',
      'variableMap',
    ),
    odd,
  ),
  odd,
);
const member = fc.oneof(odd, fc.record({ incoming, outgoing: odd, error: odd }));
const task = fc.oneof(
  odd,
  fc.record(
    { name, app: fc.constantFrom('WorkFlowEngine', 'MOP', '__proto__', 'Lab'), type: odd, variables: member },
    { requiredKeys: [] },
  ),
  fc.record({
    name,
    app: fc.constantFrom('WorkFlowEngine', 'MOP'),
    variables: member,
    retrySettings: odd,
    timeLimit: odd,
    groups: odd,
  }),
);
const edge = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constantFrom('standard', 'standard', 'revert'),
      state: fc.constantFrom('success', 'failure', 'error', 'loop'),
    }),
  },
  odd,
);
const own = (entries: readonly (readonly [string, unknown])[]) => Object.fromEntries(entries);
const entries = <T>(value: fc.Arbitrary<T>) => fc.array(fc.tuple(id, value), { maxLength: 8 }).map(own);
/** Documents that have the form of a workflow, with members of any type. */
export const oddWorkflow: fc.Arbitrary<Json> = fc.record({
  name: fc.constant('w'),
  tasks: entries(task),
  transitions: entries(fc.oneof({ weight: 8, arbitrary: entries(edge) }, odd)),
  inputSchema: odd,
  decorators: odd,
});
