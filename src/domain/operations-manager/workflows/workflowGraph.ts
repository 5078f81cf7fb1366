import { isObject } from '@automation-platform/json';
import {
  encryptedVariables,
  type Result,
  readTask,
  results,
  startTask,
  type Task,
  type WorkflowDocument,
} from './workflows.ts';

/** A standard edge. Tasks are numbers here: their places among all ids, sorted as texts. */
export type Edge = { readonly number: number; readonly from: number; readonly to: number; readonly state: Result };

/** A workflow that is ready to run. It depends on the document alone, so that one serves all jobs of a revision. */
export type WorkflowGraph = {
  readonly document: WorkflowDocument;
  readonly tasks: readonly Task[];
  readonly places: ReadonlyMap<string, number>;
  /** The place of `workflow_start`; -1 if it is missing. */
  readonly start: number;
  readonly edges: readonly Edge[];
  readonly outOf: readonly (readonly Edge[])[];
  /** How many standard edges lead into a task. */
  readonly into: readonly number[];
  /** The targets of revert edges, by task and result. */
  readonly reverts: readonly ReadonlyMap<Result, number>[];
  /** All tasks that are in no circle of standard edges, each after those that lead to it. */
  readonly order: readonly number[];
  /** The innermost loop that a task is in the body of; the number of tasks if it is in none. */
  readonly loopOf: readonly number[];
  readonly loops: readonly number[];
  /** The tasks of a loop's body, those of inner loops included. */
  readonly bodyOf: (loop: number) => readonly number[];
  /** The tasks and all that standard edges reach from them, in order. */
  readonly withReach: (places: readonly number[]) => readonly number[];
  readonly reaches: (from: number, to: number) => boolean;
  readonly encrypted: ReadonlySet<string>;
};

/** Calls `visit` for each edge of the document, whether it is one or not. */
export const eachEdge = (
  { transitions }: WorkflowDocument,
  visit: (from: string, to: string, edge: unknown) => void,
): void => {
  for (const [from, entry] of Object.entries(transitions))
    if (isObject(entry)) for (const [to, edge] of Object.entries(entry)) visit(from, to, edge);
};

/** The type and state of an edge; undefined if it has none that are known. */
export const edgeKind = (
  edge: unknown,
): { readonly type: 'standard' | 'revert'; readonly state: Result } | undefined => {
  if (!isObject(edge)) return undefined;
  const { type, state } = edge;
  if ((type !== 'standard' && type !== 'revert') || !results.includes(state)) return undefined;
  return { type, state: state as Result };
};

/** The tasks in an order in which each stands after those that lead to it; tasks in circles are left out. */
const ordered = (outOf: readonly (readonly Edge[])[], into: readonly number[]): readonly number[] => {
  const waiting = [...into];
  const order = waiting.flatMap((count, place) => (count === 0 ? [place] : []));
  for (let at = 0; at < order.length; at++)
    for (const { to } of outOf[order[at] ?? 0] ?? []) {
      const count = (waiting[to] ?? 0) - 1;
      waiting[to] = count;
      if (count === 0) order.push(to);
    }
  return order;
};

/** For each task the set of tasks that it leads to, as bits. */
const reachOf = (outOf: readonly (readonly Edge[])[], order: readonly number[]) => {
  const words = (outOf.length + 31) >>> 5;
  const bits = new Uint32Array(outOf.length * words);
  const read = (index: number): number => bits[index] ?? 0;
  for (const from of order.toReversed())
    for (const { to } of outOf[from] ?? []) {
      for (let word = 0; word < words; word++)
        bits[from * words + word] = read(from * words + word) | read(to * words + word);
      const index = from * words + (to >>> 5);
      bits[index] = read(index) | (1 << (to & 31));
    }
  const reaches = (from: number, to: number): boolean => ((read(from * words + (to >>> 5)) >>> (to & 31)) & 1) === 1;
  const withReach = (places: readonly number[]): readonly number[] => {
    const set = new Uint32Array(words);
    for (const place of places) {
      for (let word = 0; word < words; word++) set[word] = (set[word] ?? 0) | read(place * words + word);
      set[place >>> 5] = (set[place >>> 5] ?? 0) | (1 << (place & 31));
    }
    const found: number[] = [];
    for (const [word, bitsOf] of set.entries())
      for (let bits = bitsOf, to = word * 32; bits !== 0; bits >>>= 1, to++) if (bits & 1) found.push(to);
    return found;
  };
  return { reaches, withReach };
};

/** `isInstant`: true for tasks that a decision carries out itself. */
export const workflowGraph = (
  document: WorkflowDocument,
  isInstant: (app: string, name: string) => boolean,
): WorkflowGraph => {
  const ids = Object.keys(document.tasks).sort();
  const places = new Map(ids.map((id, place) => [id, place]));
  const tasks = ids.map((id) => readTask(id, document.tasks[id], isInstant));
  const start = places.get(startTask) ?? -1;
  const edges: Edge[] = [];
  const outOf: Edge[][] = ids.map(() => []);
  const into = ids.map(() => 0);
  const reverts = ids.map(() => new Map<Result, number>());
  eachEdge(document, (fromId, toId, value) => {
    const [from, to, kind] = [places.get(fromId), places.get(toId), edgeKind(value)];
    if (from === undefined || to === undefined || !kind) return;
    if (kind.type === 'revert') reverts[from]?.set(kind.state, to);
    else {
      const edge = { number: edges.length, from, to, state: kind.state };
      edges.push(edge);
      outOf[from]?.push(edge);
      into[to] = (into[to] ?? 0) + 1;
    }
  });
  const order = ordered(outOf, into);
  const { withReach, reaches } = reachOf(outOf, order);
  const bodyOf = (loop: number): readonly number[] =>
    withReach((outOf[loop] ?? []).filter(({ state }) => state === 'loop').map(({ to }) => to));
  // An inner loop stands after the loops around it.
  const loops = order.filter((place) => tasks[place]?.kind === 'forEach');
  const loopOf = ids.map(() => ids.length);
  for (const loop of loops) for (const place of bodyOf(loop)) loopOf[place] = loop;
  const encrypted = encryptedVariables(document);
  return {
    document,
    tasks,
    places,
    start,
    edges,
    outOf,
    into,
    reverts,
    order,
    loopOf,
    loops,
    bodyOf,
    withReach,
    reaches,
    encrypted,
  };
};

/** The ids of the tasks from which standard edges lead to this one, the nearest first. */
export const ancestorsOf = ({ edges, tasks }: WorkflowGraph, place: number): readonly string[] => {
  const found = new Set([place]);
  const before = tasks.map((): number[] => []);
  for (const { from, to } of edges) before[to]?.push(from);
  for (const one of found) for (const from of (before[one] ?? []).toSorted((a, b) => a - b)) found.add(from);
  found.delete(place);
  return [...found].map((one) => tasks[one]?.id ?? '');
};
