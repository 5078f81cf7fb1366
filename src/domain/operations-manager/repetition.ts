import { type Static, type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { time } from '../engine/authors.ts';
import type { Fault } from '../engine/requestError.ts';

const units = ['second', 'minute', 'hour', 'day', 'week'] as const;
type Unit = (typeof units)[number];

/** Fixed lengths in milliseconds, in UTC: without daylight saving time. */
export const unitLength: Readonly<Record<Unit, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

/** The shortest and the longest interval, and duration other than 0, in milliseconds. */
export const shortest = unitLength.second;
export const longest = 5200 * unitLength.week;

/** The schema of `repeatUnit`, and of the unit of a duration. */
export const unit = Type.Enum([...units], { description: 'Unit of time' });

const maxDepth = 16;
const maxNodes = 1000;
const maxCount = 1_000_000;

// The limits that docs/schedules.md lists are not in this schema: `nodeFault` names the node, not the member.
const repetitionLevel = Type.Object(
  {
    type: Type.Optional(
      Type.Enum(['repeating', 'terminating'], {
        description: 'repeating makes passes without end, terminating one, or `count`',
      }),
    ),
    action: Type.Optional(
      Type.Enum(['execute', 'wait'], { description: 'execute fires at the begin of each pass, wait does not' }),
    ),
    duration: Type.Optional(
      Type.Object(
        { unit: Type.Any(), quantity: Type.Number({ minimum: 0 }) },
        {
          additionalProperties: false,
          description:
            'How long a pass lasts: 0, or from a second to 5,200 weeks. The unit is second, minute, hour, day or ' +
            'week; the quantity is whole, of seconds to three decimals',
        },
      ),
    ),
    count: Type.Optional(Type.Integer({ description: 'Number of passes, 1 to 1,000,000; not of a repeating node' })),
    start: Type.Optional(time('Not before; only together with components, without duration, count and action')),
    end: Type.Optional(time('Not after; as start')),
    components: Type.Optional(
      Type.Array(Type.Any(), { description: 'Nodes of the same form, at most 16 levels deep and 1,000 in all' }),
    ),
  },
  { additionalProperties: false, title: 'Repetition', description: 'Node of a repetition tree' },
);

/** A node of a repetition tree, in one of three forms. */
export type Repetition = Omit<Static<typeof repetitionLevel>, 'components'> & {
  readonly components?: readonly Repetition[];
};

/** This schema covers the root only. `formFault` checks the whole tree. */
export const repetitionSchema = Type.Unsafe<Repetition>(repetitionLevel);

const level = Compile(repetitionLevel);

/**
 * Describes the whole tree, to take it apart (domain/engine/lenientSchemas.ts). Too deep nodes are not described:
 * `formFault` names them.
 */
export const repetitionTree = Type.Unsafe<Repetition>(
  Array.from({ length: maxDepth }).reduce<TSchema>(
    (below) => ({
      ...repetitionLevel,
      properties: { ...repetitionLevel.properties, components: { type: 'array', items: below } },
    }),
    repetitionLevel,
  ),
);

/** The length of a duration in milliseconds. */
export const lengthOf = ({ unit, quantity }: NonNullable<Repetition['duration']>): number =>
  Math.round(quantity * unitLength[unit as Unit]);

/** True if the node makes more than one pass. */
export const repeats = ({ type, count = 1 }: Repetition): boolean => type === 'repeating' || count > 1;

/** A node and its place in the tree. */
type Placed = {
  readonly node: Repetition;
  readonly path: string;
  /** 1 for the root. */
  readonly depth: number;
};

/** All nodes, parents first. Reads the components of a node only when the next node is asked for. */
function* nodesIn(node: Repetition, path: string, depth = 1): Generator<Placed> {
  yield { node, path, depth };
  for (const [i, component] of (node.components ?? []).entries())
    yield* nodesIn(component, `${path}/components/${i}`, depth + 1);
}

/** The first node that has none of the forms, or a value beyond the limits. The same for a tree that is too large. */
export const formFault = (tree: Repetition, path: string): Fault | undefined => {
  let nodes = 0;
  for (const placed of nodesIn(tree, path)) {
    if (placed.depth > maxDepth)
      return { message: `A repetition tree may be ${maxDepth} levels deep`, path: placed.path };
    if (++nodes > maxNodes) return { message: `A repetition tree may have ${maxNodes} nodes`, path: placed.path };
    const fault = nodeFault(placed);
    if (fault) return fault;
  }
  return undefined;
};

const nodeFault = ({ node, path }: Placed): Fault | undefined => {
  const [fault] = level.Check(node) ? [] : level.Errors(node);
  if (fault) return { message: `A node of the repetition tree ${fault.message}`, path: path + fault.instancePath };
  const message = durationFault(node) ?? countFault(node);
  return message === undefined ? boundsFault(node, path) : { message, path };
};

const durationFault = ({ duration }: Repetition): string | undefined => {
  if (!duration) return undefined;
  const { unit, quantity } = duration;
  if (!units.includes(unit))
    return `A duration is in second, minute, hour, day or week, not in ${JSON.stringify(unit).slice(0, 40)}`;
  if (unit === 'second' && Math.round(quantity * 1000) / 1000 !== quantity)
    return 'A number of seconds has at most three decimals';
  if (unit !== 'second' && !Number.isInteger(quantity)) return `A number of ${unit}s must be whole`;
  const length = lengthOf(duration);
  if (length > 0 && length < shortest) return 'A duration is 0 or at least a second';
  return length > longest ? 'A duration is at most 5,200 weeks' : undefined;
};

const countFault = ({ type, count }: Repetition): string | undefined => {
  if (count === undefined) return undefined;
  if (type === 'repeating') return 'A repeating node has no count: it makes passes without end';
  return count < 1 || count > maxCount ? `A count is from 1 to ${maxCount.toLocaleString('en')}` : undefined;
};

const boundsFault = (node: Repetition, path: string): Fault | undefined => {
  const { start, end, components } = node;
  if (start === undefined && end === undefined) return undefined;
  const foreign = (['duration', 'count', 'action'] as const).find((member) => node[member] !== undefined);
  if (foreign) return { message: `A node with start or end has no ${foreign}`, path: `${path}/${foreign}` };
  if (!components) return { message: 'A node with start or end has components', path: `${path}/components` };
  if (start !== undefined && end !== undefined && Date.parse(end) <= Date.parse(start))
    return { message: 'The end must come after the start', path };
  return undefined;
};
