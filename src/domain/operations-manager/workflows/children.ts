import type { Members } from '@automation-platform/json';
import { empty, entriesIn, get, type Layers, withAll } from '../../engine/layeredMap.ts';
import { weigh } from './jsonBounds.ts';

/** A job that a task has begun. The number of the run that began it is part of its id. */
export type ChildOfTask = { readonly task: string; readonly run: number; readonly index: number };

/** How a child ended, or `running`. `refused`: it could not begin. */
export type ChildStatus = 'running' | 'complete' | 'error' | 'canceled' | 'incomplete' | 'refused';

/** The end of a child, with sealed secrets. Variables are left out if the job cannot keep them. */
export type ChildEnd = {
  readonly status: ChildStatus;
  readonly variables?: Members;
  /** Why it did not complete. */
  readonly error?: string;
};

export type Child = ChildEnd & {
  /** The run that began it. */
  readonly run: number;
  /** It ended in error in an earlier run, and is retried when its turn comes. */
  readonly again?: true;
};

/** The jobs of one run of a task. Without `loopType` it is one job, not a list. */
export type ChildrenWanted = { readonly count: number; readonly loopType?: 'parallel' | 'sequential' };

export type Children = ChildrenWanted & {
  readonly all: Layers<Child>;
  /** The first that has its turn now. */
  readonly next: number;
  readonly underWay: number;
  /** How many of this run did not complete. */
  readonly failed: number;
  /** About how many bytes the variables have. */
  readonly weight: number;
};

/** The children that begin together, and those of earlier runs that are retried. */
export type BegunChildren = {
  readonly indexes: readonly number[];
  readonly retried: readonly { readonly index: number; readonly run: number }[];
};

const mostAtOnce = 32;

const childAt = ({ all }: Children, index: number): Child | undefined => get(all, String(index));

/** The children with the first that has its turn: neither under way nor ended in this run, nor complete. */
const atNext = (children: Children): Children => {
  let { next } = children;
  for (let child = childAt(children, next); child && !child.again; child = childAt(children, ++next));
  return next === children.next ? children : { ...children, next };
};

/**
 * The children of a run that begins. Of the run before it keeps those that are complete, and those that can be retried;
 * the rest begins anew.
 */
export const childrenOfRun = (order: ChildrenWanted, before: Children | undefined): Children => {
  const keptOnes = [...(before ? entriesIn(before.all) : [])].flatMap(
    ([index, child]): (readonly [string, Child])[] => {
      if (Number(index) >= order.count) return [];
      if (child.status === 'complete') return [[index, child]];
      return child.status === 'error' || child.status === 'incomplete' ? [[index, { ...child, again: true }]] : [];
    },
  );
  const weight = keptOnes.reduce((sum, [, child]) => sum + weightOf(child), 0);
  return atNext({ ...order, all: withAll(empty, keptOnes), next: 0, underWay: 0, failed: 0, weight });
};

const weightOf = ({ variables }: Pick<Child, 'variables'>): number => (variables ? weigh(variables) : 0);

const countOf = ({ status, again }: Child | Partial<Child>, of: 'underWay' | 'failed'): number => {
  if (status === undefined || again) return 0;
  return Number(of === 'underWay' ? status === 'running' : status !== 'running' && status !== 'complete');
};

const withChildren = (children: Children, changed: readonly (readonly [index: number, child: Child])[]): Children => {
  let { underWay, failed, weight } = children;
  for (const [index, child] of changed) {
    const before = childAt(children, index) ?? {};
    underWay += countOf(child, 'underWay') - countOf(before, 'underWay');
    weight += weightOf(child) - weightOf(before);
    failed += countOf(child, 'failed') - countOf(before, 'failed');
  }
  const all = withAll(
    children.all,
    changed.map(([index, child]) => [String(index), child] as const),
  );
  return atNext({ ...children, all, underWay, failed, weight });
};

/** The children after some have begun in this run, or are retried in it. */
export const childrenBegun = (children: Children, { indexes, retried }: BegunChildren, run: number): Children =>
  withChildren(children, [
    ...indexes.map((index) => [index, { run, status: 'running' }] as const),
    ...retried.map(({ index, run: of }) => [index, { run: of, status: 'running' }] as const),
  ]);

/** The children after one has ended, or has begun again by itself. */
export const childNoted = (children: Children, index: number, { status, variables, error }: ChildEnd): Children => {
  const child = childAt(children, index);
  if (!child) return children;
  const next: Child = {
    run: child.run,
    status,
    ...(variables === undefined ? {} : { variables }),
    ...(error === undefined ? {} : { error }),
  };
  return withChildren(children, [[index, next]]);
};

/** The child, if this is the one that the run of the task goes on with. */
export const childOf = (
  children: Children | undefined,
  { run, index }: Omit<ChildOfTask, 'task'>,
): Child | undefined => {
  const child = children && childAt(children, index);
  return child?.run === run && !child.again ? child : undefined;
};

const room = ({ loopType, underWay, failed }: Children): number => {
  if (loopType === 'parallel') return mostAtOnce - underWay;
  return failed > 0 ? 0 : 1 - underWay;
};

/** The step that a task can take now: it begins children, or ends with them. */
export const childrenDue = (children: Children): 'begins' | 'ends' | undefined => {
  if (children.next < children.count && room(children) > 0) return 'begins';
  return children.underWay === 0 ? 'ends' : undefined;
};

/** The children whose turn it is. */
export const nextChildren = (children: Children): BegunChildren => {
  const indexes: number[] = [];
  const retried: { readonly index: number; readonly run: number }[] = [];
  const most = room(children);
  for (let index = children.next; index < children.count && indexes.length + retried.length < most; index++) {
    const child = childAt(children, index);
    if (!child) indexes.push(index);
    else if (child.again) retried.push({ index, run: child.run });
  }
  return { indexes, retried };
};

/** The children of a task that are under way. */
export const childrenUnderWay = (task: string, children: Children | undefined): readonly ChildOfTask[] => {
  if (!children || children.underWay === 0) return [];
  return [...entriesIn(children.all)].flatMap(([index, { run, status, again }]) =>
    status === 'running' && !again ? [{ task, run, index: Number(index) }] : [],
  );
};

/** All children that have begun or were refused, by their indexes. */
export const childrenIn = (children: Children): readonly (Child & { readonly index: number })[] =>
  [...entriesIn(children.all)]
    .map(([index, child]) => ({ ...child, index: Number(index) }))
    .sort((a, b) => a.index - b.index);

/**
 * The children of a run that has ended. Those that are under way are broken off. `keepsValues`: the run may be retried with
 * those that are complete.
 */
export const childrenAtEnd = (children: Children, keepsValues: boolean): Children => {
  const all = [...entriesIn(children.all)].map(([index, child]): readonly [string, Child] => {
    const { variables, ...plain }: Child = child.status === 'running' ? { ...child, status: 'canceled' } : child;
    return [index, keepsValues && variables !== undefined ? { ...plain, variables } : plain];
  });
  return { ...children, all: withAll(empty, all), underWay: 0 };
};

/** The status of a child in answers. */
export const shownStatus = ({ status }: Child): Exclude<ChildStatus, 'refused'> =>
  status === 'refused' ? 'error' : status;
