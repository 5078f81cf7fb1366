import type { Repetition } from '../../src/domain/operations-manager/repetition.ts';
import type { Schedule } from '../../src/domain/operations-manager/scheduleFaults.ts';

/*
 * The meaning of schedules (docs/schedules.md) as it is written down, step by step. It walks through every pass, so it
 * is slow: src/domain/operations-manager/instants.ts must give the same.
 */

const lengths: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};
const lengthOf = ({ unit, quantity }: { readonly unit: string; readonly quantity: number }): number =>
  Math.round(lengths[unit]! * quantity);

/** Gives what comes before the limit, and returns the end: the limit, if it is reached. */
function* before(limit: number, walk: Generator<number, number>): Generator<number, number> {
  for (;;) {
    const { done, value } = walk.next();
    if (value >= limit) return limit;
    if (done) return value;
    yield value;
  }
}

/** The instants of a node that is reached at a time, in order; returns when it ends. */
function* node(n: Repetition, reached: number): Generator<number, number> {
  const end = n.end === undefined ? Infinity : Date.parse(n.end);
  if (end <= reached) return reached;
  const start = n.start === undefined ? reached : Math.max(reached, Date.parse(n.start));
  return yield* before(end, passes(n, start));
}

function* passes(n: Repetition, begin: number): Generator<number, number> {
  let at = begin;
  for (let made = 0; n.type === 'repeating' || made < (n.count ?? 1); made++) at = yield* pass(n, at);
  return at;
}

/** The instants of a pass, in order; returns when it ends. */
export function* pass(n: Repetition, begin: number): Generator<number, number> {
  const length = n.duration && lengthOf(n.duration);
  if (!n.components?.length) {
    if (n.action === 'execute') yield begin;
    return begin + (length ?? 0);
  }
  if (length === undefined) return yield* inTurn(n, begin);
  yield* before(begin + length, inTurn(n, begin));
  return begin + length;
}

function* inTurn(n: Repetition, begin: number): Generator<number, number> {
  if (n.action === 'execute') yield begin;
  let at = begin;
  for (const component of n.components ?? []) at = yield* node(component, at);
  return at;
}

function* walk({ firstRunAt, repeatInterval, repeat }: Schedule): Generator<number> {
  if (repeat) yield* node(repeat, firstRunAt);
  else if (repeatInterval == null) yield firstRunAt;
  else for (let at = firstRunAt; ; at += repeatInterval) yield at;
}

/** The instants of a schedule up to a time, each once. */
export const walked = (schedule: Schedule, to: number): readonly number[] => {
  const instants: number[] = [];
  for (const at of walk(schedule)) {
    if (at > to) break;
    if (instants.at(-1) !== at) instants.push(at);
  }
  return instants;
};

/** How long the first pass of a node takes that has neither start nor end. */
export const passLength = (n: Repetition): number => {
  const walk = pass(n, 0);
  for (;;) {
    const { done, value } = walk.next();
    if (done) return value;
  }
};
