import { lengthOf, type Repetition } from './repetition.ts';

/*
 * The instants of a repetition tree (docs/schedules.md), without a walk through those that have passed. A node is put
 * together from its components. Each part can say how many instants it has before a time, and when the instant with a
 * given number is. Passes of a node that makes more than one are equal, so both are arithmetic there.
 */

/**
 * The instants of a node or of a pass, each once. Times are milliseconds since its begin. All of them are from 0 to
 * `length`.
 */
export type Instants = {
  /** How long it takes; Infinity if it never ends. */
  readonly length: number;
  /** The number of instants. One at the very end counts. */
  readonly count: number;
  readonly atBegin: boolean;
  readonly atEnd: boolean;
  /** The number of instants that are earlier than `time`. */
  readonly before: (time: number) => number;
  /** The time of the instant with this number, which is from 0 to `count` - 1. */
  readonly at: (number: number) => number;
};

/** A pass without components. */
export const single = (executes: boolean, length: number): Instants => ({
  length,
  count: executes ? 1 : 0,
  atBegin: executes,
  atEnd: executes && length === 0,
  before: (time) => (executes && time > 0 ? 1 : 0),
  at: () => 0,
});

const none = single(false, 0);

/**
 * Passes one after the other. The end of a pass is the begin of the next: two instants at this moment are one. So the
 * first pass has the instants of the pattern from its begin to just before its end. Each later pass has these, and one
 * at its begin if the pattern has one at its end.
 */
export const repeated = (pass: Instants, times: number): Instants => {
  const { length, atBegin, atEnd } = pass;
  if (times === 1 || length === 0 || length === Infinity) return pass;
  const first = pass.before(length);
  const added = atEnd && !atBegin ? 1 : 0;
  const later = first + added;
  const end = length * times;
  const count = later === 0 ? 0 : first + (times - 1) * later + (atEnd ? 1 : 0);
  return {
    length: end,
    count,
    atBegin,
    atEnd: atEnd && end < Infinity,
    before: (time) => {
      if (time > end) return count;
      if (time <= length) return pass.before(time);
      const within = time % length;
      const passes = (time - within) / length;
      const whole = first + (passes - 1) * later;
      return within === 0 ? whole : whole + added + pass.before(within);
    },
    at: (number) => {
      if (number < first) return pass.at(number);
      const within = (number - first) % later;
      const passes = 1 + (number - first - within) / later;
      if (passes === times) return end;
      const begin = passes * length;
      return within < added ? begin : begin + pass.at(within - added);
    },
  };
};

/** A moment between two components, and the component that begins there. */
type Step = {
  readonly time: number;
  /** True if there is an instant at `time`. */
  hit: boolean;
  /** The number of instants before `time`. */
  readonly earlier: number;
  /** Undefined at the end of the last component. */
  part?: Instants;
};

/** The number of instants between begin and end of a component. */
const inside = ({ count, atBegin, atEnd }: Instants): number => count - (atBegin ? 1 : 0) - (atEnd ? 1 : 0);

/** Components one after the other, and an instant at the begin if `executes`. */
const inTurn = (executes: boolean, parts: readonly Instants[]): Instants => {
  const first: Step = { time: 0, hit: executes, earlier: 0 };
  const steps = [first];
  let last = first;
  for (const part of parts) {
    last.hit ||= part.atBegin;
    if (part.length === 0) continue;
    last.part = part;
    if (part.length === Infinity) break;
    const earlier = last.earlier + (last.hit ? 1 : 0) + inside(part);
    last = { time: last.time + part.length, hit: part.atEnd, earlier };
    steps.push(last);
  }
  const endless = last.part !== undefined;
  return {
    length: endless ? Infinity : last.time,
    count: last.earlier + (last.hit ? 1 : 0) + (last.part ? inside(last.part) : 0),
    atBegin: first.hit,
    atEnd: !endless && last.hit,
    before: (time) => {
      if (time <= 0) return 0;
      const { time: begin, hit, earlier, part } = steps.findLast((step) => step.time < time) ?? first;
      const further = part ? part.before(time - begin) - (part.atBegin ? 1 : 0) : 0;
      return earlier + (hit ? 1 : 0) + further;
    },
    at: (number) => {
      const { time, hit, earlier, part } = steps.findLast((step) => step.earlier <= number) ?? first;
      const further = number - earlier - (hit ? 1 : 0);
      return further < 0 || !part ? time : time + part.at(further + (part.atBegin ? 1 : 0));
    },
  };
};

/** Only the instants before `time`. The length is another one. */
const upTo = (time: number, length: number, all: Instants): Instants => {
  const count = all.before(time);
  return {
    length,
    count,
    atBegin: count > 0 && all.atBegin,
    atEnd: all.atEnd && all.length < time && all.length === length,
    before: (other) => (other < time ? all.before(other) : count),
    at: all.at,
  };
};

/** A pass with components and a duration: it lasts that long, and has no instant then or later. */
const lasting = (pass: Instants, length: number): Instants => upTo(length, length, pass);

/** A node with an end. */
const endedBy = (node: Instants, end: number): Instants =>
  end === Infinity ? node : upTo(end, Math.min(node.length, end), node);

/** A node that begins later than it was reached. */
const delayed = (node: Instants, wait: number): Instants =>
  wait === 0
    ? node
    : {
        length: wait + node.length,
        count: node.count,
        atBegin: false,
        atEnd: node.atEnd,
        before: (time) => node.before(time - wait),
        at: (number) => wait + node.at(number),
      };

/** The instants of a node that is reached at `begin`, in epoch milliseconds. The tree must be free of faults. */
export const instantsOf = (node: Repetition, begin: number): Instants => {
  const start = node.start === undefined ? begin : Math.max(begin, Date.parse(node.start));
  const end = node.end === undefined ? Infinity : Date.parse(node.end);
  if (end <= begin) return none;
  const passes = repeated(passOf(node, start), node.type === 'repeating' ? Infinity : (node.count ?? 1));
  return endedBy(delayed(passes, start - begin), end - begin);
};

/** The instants of a node's first pass. */
const passOf = ({ action, duration, components = [] }: Repetition, begin: number): Instants => {
  const executes = action === 'execute';
  const length = duration && lengthOf(duration);
  if (components.length === 0) return single(executes, length ?? 0);
  const parts: Instants[] = [];
  let instant = begin;
  for (const component of components) {
    if (instant === Infinity) break;
    const part = instantsOf(component, instant);
    parts.push(part);
    instant += part.length;
  }
  const all = inTurn(executes, parts);
  return length === undefined ? all : lasting(all, length);
};
