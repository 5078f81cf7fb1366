import { cut, isObject, type Members, step, stepsOf } from '@automation-platform/json';
import { RequestError } from '../../engine/requestError.ts';
import { numberOf, operators } from './operators.ts';
import { readQuery } from './query.ts';
import { referenceIn, referencesOf, transformationNamedBy } from './taskValues.ts';
import { eachEdge, edgeKind, type WorkflowGraph } from './workflowGraph.ts';
import { endTask, startTask, type Task } from './workflows.ts';

/** Something in a workflow that is not as it must be. `task`: the source of an edge; null: it is about the whole. */
export type WorkflowFault = {
  readonly code: string;
  readonly task: string | null;
  /** A JSON pointer into the document. */
  readonly path: string;
  readonly message: string;
};

/** The knowledge beside the document on which its faults depend. Each says why something cannot be used. */
export type Known = {
  readonly pattern?: (pattern: string) => string | undefined;
  readonly schema?: (schema: unknown) => string | undefined;
  /** Why a transformation cannot run. */
  readonly transformation?: (named: string) => string | undefined;
  /** The faults of inputs of a task that stands for an operation of this service. */
  readonly inputs?: (task: Task, inputs: Members) => readonly { readonly path: string; readonly message: string }[];
  /** True if a child's workflow is there. */
  readonly workflow?: (named: string) => boolean;
};

const mostTold = 1000;

type Add = (code: string, place: { task?: string | null; path: readonly string[] }, message: string) => void;

const collector = () => {
  const found: WorkflowFault[] = [];
  const add: Add = (code, { task = null, path }, message) => {
    if (found.length < mostTold) found.push({ code, task, path: path.map(step).join(''), message });
  };
  return { found, add };
};

const quoted = (text: string): string => JSON.stringify(cut(text, 64));

const edgeFaults = ({ document, places }: WorkflowGraph, add: Add): void => {
  for (const [from, entry] of Object.entries(document.transitions))
    if (!isObject(entry) && entry !== null)
      add('edge', { task: cut(from, 64), path: ['transitions', from] }, 'The edges of a task are an object');
  eachEdge(document, (from, to, edge) => {
    const place = { task: cut(from, 64), path: ['transitions', from, to] };
    for (const id of [from, to]) if (!places.has(id)) add('edge', place, `There is no task ${quoted(id)}`);
    if (!edgeKind(edge))
      add('edge', place, 'An edge has the type standard or revert, and the state success, failure, error or loop');
  });
};

/** One circle of standard edges. */
const circleIn = ({ edges, order, tasks }: WorkflowGraph): readonly string[] => {
  const ordered = new Set(order);
  const before = new Map(edges.flatMap(({ from, to }) => (ordered.has(from) ? [] : [[to, from]])));
  const path: number[] = [];
  let place: number | undefined = tasks.findIndex((_, one) => !ordered.has(one));
  while (place !== undefined && !path.includes(place)) {
    path.push(place);
    place = before.get(place);
  }
  const circle = place === undefined ? path : path.slice(path.indexOf(place));
  return circle.toReversed().map((one) => tasks[one]?.id ?? '');
};

const revertFaults = (graph: WorkflowGraph, add: Add): void => {
  const { document, places, outOf, reaches, loopOf } = graph;
  const pairs = new Set<string>();
  eachEdge(document, (fromId, toId, value) => {
    const [from, to, kind] = [places.get(fromId), places.get(toId), edgeKind(value)];
    if (from === undefined || to === undefined || kind?.type !== 'revert') return;
    const place = { task: fromId, path: ['transitions', fromId, toId] };
    if (!reaches(to, from)) add('revert', place, `${toId} does not lead to ${fromId}, so there is no way back to it`);
    else if (loopOf[to] !== loopOf[from]) add('loop', place, 'The edge leads into or out of the body of a loop');
    const key = `${fromId} ${kind.state}`;
    if (pairs.has(key)) add('revert', place, `There are two ways back for ${kind.state}`);
    pairs.add(key);
    if (outOf[from]?.some(({ state }) => state === kind.state))
      add('revert', place, `There is a way back and a way on for ${kind.state}`);
  });
};

const loopFaults = ({ edges, tasks, loopOf }: WorkflowGraph, add: Add): void => {
  for (const { from, to, state } of edges) {
    const [source, target] = [tasks[from], tasks[to]];
    if (!source || !target) continue;
    const place = { task: source.id, path: ['transitions', source.id, target.id] };
    const begins = state === 'loop' && source.kind === 'forEach';
    if (state === 'loop' && !begins) add('state', place, 'Only a forEach has edges of the state loop');
    else if (loopOf[to] !== (begins ? from : loopOf[from]))
      add('loop', place, 'The edge leads into or out of the body of a loop');
  }
};

const wayFaults = ({ start, outOf, places, reaches }: WorkflowGraph, add: Add): void => {
  const end = places.get(endTask);
  if (start < 0) add('start', { path: ['tasks'] }, `There is no task ${startTask}`);
  else if ((outOf[start] ?? []).length === 0)
    add('start', { task: startTask, path: ['transitions', startTask] }, 'Nothing leads from the start');
  else if (end === undefined) add('end', { path: ['tasks'] }, `There is no task ${endTask}`);
  else if (!reaches(start, end)) add('end', { path: ['transitions'] }, 'No way leads to the end');
};

/** True for an input whose value is known only when the task runs. */
const isOpen = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || !!referenceIn(value);

type Input = { readonly name: string; readonly fits: (value: unknown) => boolean; readonly words: string };

const isText = (value: unknown): boolean => typeof value === 'string';
const listNamed = (name: string): Input => ({ name, fits: Array.isArray, words: 'a list' });
const numberNamed = (name: string, most: number): Input => ({
  name,
  fits: (value) => {
    const number = numberOf(value);
    return number !== undefined && number >= 0 && number <= most;
  },
  words: `0 to ${most}`,
});
const oneOf = (name: string, ...values: readonly string[]): Input => ({
  name,
  fits: (value) => values.some((one) => one === value),
  words: values.join(', '),
});
const isQuery = (value: unknown): boolean => {
  try {
    return typeof value === 'string' && readQuery(value) !== undefined;
  } catch (error) {
    if (error instanceof RequestError) return false;
    throw error;
  }
};
const queryNamed = (name: string): Input => ({ name, fits: isQuery, words: 'a query' });
const longestDelay = 2_592_000;

/** The forms of the inputs of our tasks, if the document has them written. */
const inputs: Readonly<Record<string, readonly Input[]>> = {
  evaluation: [listNamed('evaluation_groups')],
  decision: [listNamed('decisionArray')],
  merge: [listNamed('data_to_merge')],
  deepmerge: [listNamed('data_to_merge')],
  query: [queryNamed('query')],
  modify: [queryNamed('query')],
  newVariable: [{ name: 'name', fits: isText, words: 'a text' }],
  makeData: [oneOf('outputType', 'string', 'number', 'boolean', 'json')],
  stub: [oneOf('type', 'success', 'failure', 'error'), numberNamed('delay', longestDelay)],
  delay: [numberNamed('time', longestDelay)],
  reattempt: [numberNamed('minutes', longestDelay / 60), numberNamed('attempts', Number.MAX_SAFE_INTEGER)],
  forEach: [listNamed('data_array')],
  childJob: [
    { name: 'workflow', fits: isText, words: 'a text' },
    { name: 'transformation', fits: isText, words: 'a text' },
    listNamed('data_array'),
    oneOf('loopType', 'parallel', 'sequential'),
  ],
};

const isOurs = ({ kind }: Task): boolean => ['instant', 'timed', 'forEach', 'childJob'].includes(kind);

/** The rows of an evaluation or a decision, with their places. */
const rowsOf = ({ name, incoming }: Task): readonly { readonly path: readonly string[]; readonly row: Members }[] => {
  const member = name === 'decision' ? 'decisionArray' : 'evaluation_groups';
  const groups = name === 'decision' || name === 'evaluation' ? incoming[member] : undefined;
  return (Array.isArray(groups) ? groups : []).flatMap((group: unknown, i) => {
    const rows = isObject(group) ? group.evaluations : undefined;
    return (Array.isArray(rows) ? rows : []).flatMap((row: unknown, j) =>
      isObject(row) ? [{ path: [member, String(i), 'evaluations', String(j)], row }] : [],
    );
  });
};

const rowFaults = (
  task: Task,
  at: (...path: readonly string[]) => { task: string; path: string[] },
  [add, known]: [Add, Known],
) => {
  for (const { path, row } of rowsOf(task)) {
    const { operator, operand_2: right } = row;
    if (!operators.includes(operator))
      add('operator', at(...path, 'operator'), `The operator ${quoted(String(operator))} is unknown`);
    const pattern = isObject(right) && right.task === 'static' ? right.variable : undefined;
    const isPattern = operator === 'contains' || operator === '!contains';
    const fault = isPattern && typeof pattern === 'string' ? known.pattern?.(pattern) : undefined;
    if (fault !== undefined) add('pattern', at(...path, 'operand_2'), fault);
    for (const query of ['query', 'rightQuery']) {
      const text = row[query];
      if (!isOpen(text) && !isQuery(text)) add('input', at(...path, query), `${query} must be a query`);
    }
  }
};

const addTransformationFault = (task: Task, [add, known]: [Add, Pick<Known, 'transformation'>]): void => {
  const by = transformationNamedBy(task);
  const fault = by && known.transformation?.(by.idOrName);
  const path = ['tasks', task.id, 'variables', 'incoming', by?.input ?? ''];
  if (fault !== undefined) add('transformation', { task: task.id, path }, fault);
};

const taskFaults = (graph: WorkflowGraph, task: Task, [add, known]: [Add, Known]): void => {
  const at = (...path: readonly string[]) => ({
    task: task.id,
    path: ['tasks', task.id, 'variables', 'incoming', ...path],
  });
  const { document, places } = graph;
  const content = document.tasks[task.id];
  if (!isObject(content)) {
    add('input', { task: task.id, path: ['tasks', task.id] }, 'A task is an object');
    return;
  }
  for (const member of task.kind === 'worker' ? (['app', 'name'] as const) : [])
    if (task[member] === '')
      add('input', { task: task.id, path: ['tasks', task.id, member] }, `A task for workers has ${member}, a text`);
  if (isObject(content.retrySettings) && content.retrySettings.autoRetry === true && !task.retry)
    add(
      'input',
      { task: task.id, path: ['tasks', task.id, 'retrySettings'] },
      'limit must be 1 to 100, delay milliseconds',
    );
  if (content.timeLimit !== undefined && content.timeLimit !== null && !task.timeLimit)
    add('input', { task: task.id, path: ['tasks', task.id, 'timeLimit'] }, 'seconds must be 1 to 31536000');
  for (const { path, reference } of referencesOf(task).found)
    if (reference.scope !== 'job' && reference.scope !== 'static' && !places.has(reference.scope))
      add('reference', at(...path), `There is no task ${quoted(reference.scope)}`);
  addTransformationFault(task, [add, known]);
  if (task.kind === 'platform') {
    const written = Object.fromEntries(Object.entries(task.incoming).filter(([, value]) => !isOpen(value)));
    for (const { path, message } of known.inputs?.(task, written) ?? [])
      add('input', at(...stepsOf(path)), `${stepsOf(path).join('.')} ${message}`);
  }
  if (!isOurs(task)) return;
  for (const { name, fits, words } of (Object.hasOwn(inputs, task.name) && inputs[task.name]) || []) {
    const value = task.incoming[name];
    if (!isOpen(value) && !fits(value)) add('input', at(name), `${name} must be ${words}`);
  }
  rowFaults(task, at, [add, known]);
};

const taskWarnings = (graph: WorkflowGraph, place: number, [add, known]: [Add, Known]): void => {
  const { tasks, places, reaches, outOf, reverts, start } = graph;
  const task = tasks[place];
  if (!task) return;
  const at = (...path: readonly string[]) => ({
    task: task.id,
    path: ['tasks', task.id, 'variables', 'incoming', ...path],
  });
  const { found, nested } = referencesOf(task);
  for (const { path, reference } of found) {
    const from = places.get(reference.scope);
    if (from !== undefined && !reaches(from, place))
      add('reference', at(...path), `${reference.scope} never comes before ${task.id}`);
  }
  for (const path of nested)
    add('nested', at(...path), 'A reference here is a text: only inputs themselves are looked up');
  const child = task.kind === 'childJob' ? task.incoming.workflow : undefined;
  if (typeof child === 'string' && !isOpen(child) && known.workflow?.(child) === false)
    add('child', at('workflow'), `There is no workflow ${quoted(child)}`);
  const catches = outOf[place]?.some(({ state }) => state === 'error') || reverts[place]?.has('error');
  if (task.kind === 'worker' && !catches)
    add(
      'error',
      { task: task.id, path: ['tasks', task.id] },
      'An error of this task ends the job: no edge takes it up',
    );
  if (place !== start && start >= 0 && !reaches(start, place))
    add('unreachable', { task: task.id, path: ['tasks', task.id] }, 'No way leads from the start to this task');
};

/** The faults of the transformations that tasks name, which may come and go. They are among those of the workflow. */
export const transformationFaults = (
  { tasks }: WorkflowGraph,
  findings: Required<Pick<Known, 'transformation'>>,
): readonly WorkflowFault[] => {
  const { found, add } = collector();
  for (const task of tasks) addTransformationFault(task, [add, findings]);
  return found;
};

/** The faults of a workflow, with which it cannot be started, and its warnings, which stop nothing. */
export const workflowFaults = (
  graph: WorkflowGraph,
  findings: Known = {},
): { readonly faults: readonly WorkflowFault[]; readonly warnings: readonly WorkflowFault[] } => {
  const [faults, warnings] = [collector(), collector()];
  edgeFaults(graph, faults.add);
  const isCircular = graph.order.length < graph.tasks.length;
  if (isCircular) {
    const circle = circleIn(graph);
    const names = circle.slice(0, 20).join(', ');
    faults.add(
      'cycle',
      { task: circle[0] ?? null, path: ['transitions'] },
      `Standard edges lead in a circle: ${names}`,
    );
  } else {
    // Ways can be judged only where none leads back to itself.
    revertFaults(graph, faults.add);
    loopFaults(graph, faults.add);
    wayFaults(graph, faults.add);
    for (const place of graph.tasks.keys()) taskWarnings(graph, place, [warnings.add, findings]);
  }
  for (const task of graph.tasks) taskFaults(graph, task, [faults.add, findings]);
  const { inputSchema } = graph.document;
  const fault = isObject(inputSchema) ? findings.schema?.(inputSchema) : undefined;
  if (fault !== undefined) warnings.add('schema', { path: ['inputSchema'] }, fault);
  return { faults: faults.found, warnings: warnings.found };
};
