import type { Fault } from '../engine/requestError.ts';
import { formFault, lengthOf, longest, type Repetition, repeats, shortest } from './repetition.ts';

/** The members of a schedule trigger that say when it runs. */
export const timing = ['firstRunAt', 'repeatInterval', 'repeatUnit', 'repeatFrequency', 'repeat'] as const;

/** When a schedule trigger runs. `repeatInterval` is in milliseconds; it has an interval, a tree or neither. */
export type Schedule = {
  readonly firstRunAt: number;
  readonly repeatInterval?: number | null;
  readonly repeatFrequency?: unknown;
  readonly repeat?: Repetition | null;
};

/** The last moment that a time in milliseconds can say. */
export const lastMoment = 8.64e15;

/** Why the schedule has no meaning (docs/schedules.md). `path` points to it. */
export const scheduleFault = (schedule: Schedule, path = ''): Fault | undefined => {
  const { firstRunAt, repeat } = schedule;
  if (!repeat) return intervalFault(schedule, path);
  const at = `${path}/repeat`;
  return formFault(repeat, at) ?? shapeFault(repeat, at) ?? beyond(repeat, firstRunAt, at);
};

const intervalFault = ({ repeatInterval, repeatFrequency }: Schedule, path: string): Fault | undefined => {
  if (repeatInterval == null) return undefined;
  const at = `${path}/${repeatFrequency == null ? 'repeatInterval' : 'repeatFrequency'}`;
  if (!(repeatInterval >= shortest)) return { message: 'An interval is at least a second: 1000 ms', path: at };
  if (repeatInterval > longest) return { message: 'An interval is at most 5,200 weeks', path: at };
  return undefined;
};

/** Of several faults the first in this list is named. */
const shapeFaults = {
  neverReached: 'This node is never reached: the one before it never ends',
  boundsInLoop: 'A node inside one that makes more than one pass has neither start nor end',
  endlessPass: 'A node makes more than one pass only if its pass ends: one of its components never does',
  emptyPass: 'A node makes more than one pass only if its pass takes time',
  silentPass: 'A repeating node needs an instant in its pass: a node with action execute',
  silentTree: 'The repetition tree has no instant: no node with action execute is ever reached',
} as const;
type ShapeFault = keyof typeof shapeFaults;
const order = Object.keys(shapeFaults);

/** A node without `start` and `end`: how long it takes, and when its first instant is; Infinity for never. */
type Shape = {
  readonly length: number;
  readonly first: number;
  /** True if it ends, with `end`. */
  readonly ends: boolean;
};

/** Of several faults of the same kind, the one of the node that stands first counts. */
const shapeFault = (tree: Repetition, path: string): Fault | undefined => {
  let found: { readonly rank: number; readonly place: number; readonly fault: Fault } | undefined;
  let visited = 0;
  const note = (kind: ShapeFault, place: number, path: string): void => {
    const rank = order.indexOf(kind);
    if (!found || rank < found.rank || (rank === found.rank && place < found.place))
      found = { rank, place, fault: { message: shapeFaults[kind], path } };
  };

  const shapeOf = (node: Repetition, path: string, looped: boolean): Shape => {
    const { type, count = 1, duration, components = [] } = node;
    const place = visited++;
    const several = repeats(node);
    if (looped && (node.start !== undefined || node.end !== undefined)) note('boundsInLoop', place, path);
    let pass: Shape = { length: 0, first: node.action === 'execute' ? 0 : Infinity, ends: true };
    for (const [i, component] of components.entries()) {
      const at = `${path}/components/${i}`;
      if (!pass.ends) note('neverReached', visited, at);
      const { length, first, ends } = shapeOf(component, at, looped || several);
      pass = {
        length: pass.length + length,
        first: Math.min(pass.first, pass.length + first),
        ends: pass.ends && ends,
      };
    }
    if (duration) {
      const length = lengthOf(duration);
      pass = { length, first: components.length > 0 && pass.first >= length ? Infinity : pass.first, ends: true };
    }
    if (several && !pass.ends) note('endlessPass', place, path);
    if (several && pass.length === 0) note('emptyPass', place, path);
    if (type === 'repeating' && pass.first === Infinity) note('silentPass', place, path);
    return {
      length: type === 'repeating' ? Infinity : pass.length * count,
      first: pass.first,
      ends: node.end !== undefined || (pass.ends && type !== 'repeating'),
    };
  };

  if (shapeOf(tree, path, false).first === Infinity) note('silentTree', 0, path);
  return found?.fault;
};

/** The first node that ends, but later than the last moment. Nodes that are cut before it are fine. */
const beyond = (tree: Repetition, firstRunAt: number, path: string): Fault | undefined => {
  let fault: Fault | undefined;
  /** The end of a node that is reached at `begin` and cut at `limit`. */
  const endOf = (node: Repetition, path: string, begin: number, limit: number): number => {
    const { start, end, type, count = 1, duration, components = [] } = node;
    const latest = end === undefined ? Infinity : Date.parse(end);
    if (latest <= begin) return begin;
    const from = start === undefined ? begin : Math.max(begin, Date.parse(start));
    const lasts = duration ? from + lengthOf(duration) : Infinity;
    const cut = Math.min(limit, latest, components.length > 0 ? lasts : Infinity);
    let instant = from;
    for (const [i, component] of components.entries())
      instant = endOf(component, `${path}/components/${i}`, instant, cut);
    const pass = (duration ? lasts : instant) - from;
    const ends = Math.min(latest, from + (type === 'repeating' ? Infinity : pass * count));
    if (ends < Infinity && Math.min(ends, limit) > lastMoment)
      fault ??= { message: 'The node ends after 8.64e15 ms, the last moment that a time can say', path };
    return ends;
  };
  endOf(tree, path, firstRunAt, Infinity);
  return fault;
};
